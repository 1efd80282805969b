"""The toy of the examples, in a scaffold as a newcomer has it: its fault is found, the mended one holds."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from foldproof.cli.main import run as cli

TOY = Path(__file__).resolve().parents[2] / "examples" / "toy"


@pytest.fixture
def adapter(tmp_path: Path) -> str:
    """A scaffold in which the adapter was replaced by the toy's."""
    assert cli(["scaffold", "python", str(tmp_path), "--quiet"]) == 0
    for name in ("adapter.py", "notebook_agent.py"):
        shutil.copy(TOY / name, tmp_path)
    return str(tmp_path / "adapter.py")


def test_the_toy_is_of_the_size_that_is_said() -> None:
    lines = (TOY / "notebook_agent.py").read_text(encoding="utf-8").splitlines()
    assert 80 <= len(lines) <= 120
    assert "foldproof" not in "".join(lines)


def test_its_fault_is_found_from_three_sides(adapter: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["smoke", "--quiet", "--", sys.executable, adapter]) == 0
    options = ["--exhaustive", "3", "--examples", "0", "--json"]
    assert cli(["conform", *options, "--", sys.executable, adapter]) == 1
    report = json.loads(capsys.readouterr().out)
    kinds = {(f["kind"], f["event"], f["clause"]) for f in report["findings"]}
    assert kinds == {
        (k, e, "D1a_undo") for k, e in (("anchor", "undo"), ("resurrected", "undo"), ("hidden", "append"))
    }
    shortest = {f["kind"]: len(f["trace"]) for f in report["findings"]}
    assert shortest["resurrected"] <= 5
    assert report["invariants"] | {"IDX": "violated", "VIEW": "violated"} == report["invariants"]


def test_mended_it_holds(adapter: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--exhaustive", "4", "--examples", "40", "--json"]
    assert cli(["conform", *options, "--", sys.executable, adapter, "mended"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["invariants"]["IDX"], report["invariants"]["VIEW"]) == ("held", "held")
