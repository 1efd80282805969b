"""docs/compaction.md: its figures of real sessions are what the commands print, where those files are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foldproof.cli.main import run

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "data" / "sessions"
PAGE = (ROOT / "docs" / "compaction.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real sessions (../shared/data) is not here")
@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_figures_of_the_real_sessions(
    block: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in REAL.iterdir():
        (tmp_path / file.name).symlink_to(file)
    parts = re.split(r"^\$ foldproof (.*)$", block, flags=re.MULTILINE)
    assert len(parts) >= 3
    for command, expected in zip(parts[1::2], parts[2::2], strict=True):
        assert run(command.split()) == 0
        assert capsys.readouterr().out.strip() == expected.strip(), command
