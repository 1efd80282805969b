"""docs/library.md: every Python block runs, in order; what it quotes from the example is what that prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_python_blocks_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openai")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert len(BLOCKS) >= 8
    names: dict[str, object] = {"__name__": "library"}
    for number, block in enumerate(BLOCKS, 1):
        exec(compile(block, f"library.md, block {number}", "exec"), names)


def test_the_quoted_run_of_the_example_is_what_it_prints() -> None:
    [quoted] = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    example = ROOT / "examples" / "agent_loop.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=True)
    assert done.stdout == quoted
