"""The example of an agent loop runs as it stands, and answers from what it recalled."""

from __future__ import annotations

import asyncio
import runpy
import subprocess
import sys
from pathlib import Path

from foldproof.reference.session import Session

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent_loop.py"


def test_the_example_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("model: The pass phrase is heron under ice.\n")
    assert "the request holds the phrase: False" in done.stdout
    assert 'history_search {"query": "staging pass phrase"}' in done.stdout


def test_recalled_words_are_ordinary_tool_results_in_the_log(tmp_path: Path) -> None:
    example = runpy.run_path(str(EXAMPLE))
    answer = asyncio.run(example["main"](tmp_path / "log"))
    assert answer == "The pass phrase is heron under ice."
    session = Session.read(tmp_path / "log")
    messages = [item.message for item in session.items.values() if item.kind == "message"]
    calls = {call.id: call.name for message in messages for call in message.calls}
    assert sorted(calls.values()) == ["history_read", "history_search"]
    assert {m.result_of for m in messages if m.role == "tool"} == set(calls)
    assert any("heron under ice" in m.text for m in messages if m.role == "tool")
