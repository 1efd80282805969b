"""The core commands: exit codes, JSON as promised, mistakes in one line, no traceback."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foldproof import __version__
from foldproof.cli.errors import Exit
from foldproof.cli.main import run
from foldproof.model.machines import MACHINES

ROOT = Path(__file__).resolve().parent.parent.parent


def invoke(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code, out, err = invoke(capsys, *arguments, "--json")
    assert err == ""
    return code, json.loads(out)


def test_check_holds(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "check", "--bound", "3")
    assert code == Exit.HOLDS
    promised = {
        "machine",
        "bound",
        "design",
        "engine",
        "states",
        "transitions",
        "depth",
        "seconds",
        "invariants",
    }
    assert promised <= value.keys()
    assert (value["states"], value["transitions"], value["depth"]) == (5_713, 45_977, 13)
    assert value["invariants"] == {name: {"verdict": "held"} for name in ("IDX", "CAL", "VIEW", "SYNC")}


@pytest.mark.parametrize("machine", ["budget", "async", "memories"])
def test_every_machine_has_a_default_bound_of_its_own(
    capsys: pytest.CaptureFixture[str], machine: str
) -> None:
    code, value = as_json(capsys, "check", "--machine", machine)
    assert (code, value["bound"]) == (Exit.HOLDS, MACHINES[machine].bounds.check)
    code, value = as_json(capsys, "check", "--machine", machine, "--bound", "1")
    assert (code, value["bound"]) == (Exit.HOLDS, 1)


def test_a_matrix_has_a_default_bound_and_an_explicit_one_wins(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        as_json(capsys, "matrix", "--machine", "memories")[1]["bound"] == MACHINES["memories"].bounds.matrix
    )
    assert as_json(capsys, "matrix", "--machine", "pass", "--bound", "1")[1]["bound"] == 1


def test_the_default_bounds_are_those_of_the_docs() -> None:
    rows = (ROOT / "docs" / "machines.md").read_text().splitlines()
    for command in ("check", "matrix"):
        [row] = [line for line in rows if line.startswith(f"| `foldproof {command}` |")]
        documented = [int(cell) for cell in row.strip("| ").split(" | ")[1:]]
        assert documented == [getattr(machine.bounds, command) for machine in MACHINES.values()]


def test_check_finds_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "check", "--bound", "3", "--fault", "P1")
    assert code == Exit.VIOLATED
    found = value["invariants"]["IDX"]
    assert found["trace"] == ["AppendUser", "Call(open)", "StepEnd", "Undo(0)"]
    assert (found["verdict"], found["at"]) == ("violated", 4)
    assert "nodes[0].opened_at = 1 against len(history) = 0" in found["why"]
    assert "D1a_undo" not in value["design"]


@pytest.mark.parametrize("engine", ["plain", "bulk"])
def test_engines_say_the_same(capsys: pytest.CaptureFixture[str], engine: str) -> None:
    _, value = as_json(capsys, "check", "-L", "4", "--without", "D7", "--engine", engine)
    assert value["engine"] == engine
    assert value["invariants"]["CAL"]["trace"] == ["Call(open)", "StepEnd", "Call(close)", "StepEnd"]


def test_a_chosen_invariant_leaves_the_others_unchecked(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "check", "-L", "2", "--fault", "P3", "--invariant", "INV-CAL")
    assert code == Exit.VIOLATED
    assert value["invariants"]["IDX"]["verdict"] == "unchecked"


def test_check_cut_off_is_not_a_pass(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "check", "-L", "4", "--max-states", "50")
    assert code == Exit.ERRORED
    assert value["complete"] is False
    assert {entry["verdict"] for entry in value["invariants"].values()} == {"unchecked"}


def test_several_counterexamples_and_their_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "traces"
    code, value = as_json(
        capsys,
        "check",
        "-L",
        "3",
        "--fault",
        "P3",
        "--all-violations",
        "--limit",
        "3",
        "--trace-dir",
        str(out),
    )
    assert code == Exit.VIOLATED
    assert len(value["invariants"]["IDX"]["others"]) == 2
    written = sorted(path.name for path in out.iterdir())
    assert {"IDX.json", "IDX.itf.json", "IDX-2.json", "IDX-3.itf.json"} <= set(written)
    for path in out.iterdir():
        code, replayed = as_json(capsys, "replay", str(path))
        assert code == Exit.VIOLATED
        invariant = re.match("[A-Z]+", path.name)
        assert invariant is not None
        assert replayed["verdicts"][invariant[0]] == "violated"


def test_past_violations_finds_consequences(capsys: pytest.CaptureFixture[str]) -> None:
    _, value = as_json(capsys, "check", "-L", "2", "--fault", "P2", "--past-violations", "5")
    assert value["invariants"]["SYNC"]["verdict"] == "violated"
    _, value = as_json(capsys, "check", "-L", "2", "--fault", "P2")
    assert value["invariants"]["SYNC"]["verdict"] == "held"


def test_literal_invariants_miss_repro_f(capsys: pytest.CaptureFixture[str]) -> None:
    _, value = as_json(capsys, "check", "-L", "2", "--fault", "P3", "--literal")
    assert value["invariants"]["VIEW"]["verdict"] == "held"


def test_witness_and_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "check", "--witness", "resume-commits")
    assert (code, value["trace"]) == (Exit.HOLDS, ["Call(open)", "Restore"])
    code, value = as_json(capsys, "check", "-L", "2", "--coverage")
    assert value["coverage"]["D8"] == ["Call(open)", "Restore"]
    assert value["coverage"]["D9"]


def test_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    code, value = as_json(capsys, "matrix", "-L", "2")
    assert code == Exit.HOLDS
    rows = {tuple(row["without"]): row["broken"] for row in value["rows"]}
    assert len(rows) == 14
    assert rows["D8",]["SYNC"]["trace"] == ["Call(open)", "Restore"]
    assert rows["D8",]["SYNC"]["bound"] == 2
    code, out, _ = invoke(capsys, "matrix", "-L", "1", "--pairs")
    assert "91 pairs searched" in out


def test_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("simulate", "--fault", "P8", "--runs", "30", "--seed", "5")
    code, value = as_json(capsys, *arguments)
    _, again = as_json(capsys, *arguments)
    assert code == Exit.VIOLATED
    assert value["runs"] == 30
    assert value["invariants"]["CAL"]["verdict"] == "violated"
    assert {**value, "seconds": 0} == {**again, "seconds": 0}
    code, value = as_json(capsys, "simulate", "--runs", "5")
    assert code == Exit.HOLDS


def test_human_output_is_a_table_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = invoke(capsys, "check", "-L", "3", "--fault", "P1")
    assert code == Exit.VIOLATED
    assert "every index lies in the history" in out
    assert "IDX VIOLATED" in out
    assert err == ""


MISTAKES = {
    "clause": (["check", "--without", "D77"], "the core machine has no clause 'D77'; it has D1a_undo"),
    "fault": (["check", "--fault", "P99"], "the core machine has no fault 'P99'; it has P1"),
    "a fault of another machine": (["check", "--fault", "P5"], "it belongs to --machine budget"),
    "machine": (["check", "--machine", "turing"], "there is no machine 'turing'; choose from core"),
    "invariant": (["check", "--invariant", "XYZ"], "no invariant 'XYZ'; it has IDX, CAL, VIEW, SYNC"),
    "engine": (["check", "--engine", "warp"], "there is no engine 'warp'; choose from auto, plain, bulk"),
    "bulk elsewhere": (["check", "--engine", "bulk", "--machine", "budget"], "use --engine plain"),
    "bound": (["check", "--bound", "65"], "from 0 to 64, not 65"),
    "no number": (["check", "--bound", "six"], "Invalid value for '--bound'"),
    "situation": (["check", "--witness", "nowhere"], "there is no situation 'nowhere'"),
    "limit": (
        ["check", "--fault", "P1", "--all-violations", "--limit", "0"],
        "--limit and --max-states count",
    ),
    "memory": (["check", "--memory", "nan"], "--memory is an amount in GiB"),
    "runs": (["simulate", "--runs", "0"], "1 or more, not 0 and 100"),
    "command": (["chekc"], "No such command 'chekc'"),
    "option": (["check", "--nope"], "No such option: --nope"),
    "directory": (["check", "-L", "1", "--trace-dir", "/dev/null/x"], "cannot write to /dev/null/x"),
    "literal": (["check", "--literal", "--machine", "budget"], "--literal is for the core machine"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_with_a_remedy(capsys: pytest.CaptureFixture[str], name: str) -> None:
    arguments, clue = MISTAKES[name]
    code, _, err = invoke(capsys, *arguments)
    assert code == Exit.USAGE
    assert clue in err
    assert err.startswith("foldproof: ")
    assert err.count("\n") == 1


def test_against_takes_a_recorded_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    invoke(capsys, "check", "-L", "2", "--fault", "P3", "--trace-dir", str(tmp_path), "--quiet")
    code, _, err = invoke(capsys, "replay", str(tmp_path / "IDX.json"), "--against", "--", "false")
    assert code == Exit.USAGE
    assert "a trace of the model; --against takes a recorded run (.jsonl)" in err


def test_a_broken_trace_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"\xff")
    code, out, err = invoke(capsys, "replay", str(path))
    assert (code, out) == (Exit.ERRORED, "")
    assert err == f"foldproof: {path}: line 1: not UTF-8 at byte 0\n"


@pytest.mark.parametrize("command", ["check", "matrix", "simulate", "replay"])
def test_help_has_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = invoke(capsys, command, "--help")
    assert code == Exit.HOLDS
    assert "Examples:" in out
    assert f"foldproof {command}" in out


def test_a_reader_that_goes_away_is_not_a_violation() -> None:
    for arguments in ("check -L 3", "validate examples/runs/design.jsonl", "--help"):
        line = f"{sys.executable} -m foldproof {arguments} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode in (Exit.HOLDS, Exit.ERRORED), done.stderr  # by who was faster
        assert "Traceback" not in done.stderr


def test_a_full_disk_is_one_line() -> None:
    line = f"{sys.executable} -m foldproof export quint > /dev/full"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == Exit.ERRORED
    assert "Traceback" not in done.stderr


def test_an_internal_error_is_one_line_and_no_violation(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("foldproof.explore.plain.search", fail)
    code, _, err = invoke(capsys, "check", "-L", "2")
    assert code == Exit.ERRORED
    assert err == (
        "foldproof: internal error: ZeroDivisionError: by nothing; FOLDPROOF_DEBUG=1 shows where\n"
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(capsys, "version")[:2] == (Exit.HOLDS, f"{__version__}\n")
    assert invoke(capsys, "--version")[:2] == (Exit.HOLDS, f"{__version__}\n")
    assert as_json(capsys, "version")[1]["version"] == __version__


def test_an_interrupt_while_the_program_is_still_loading_is_one_line() -> None:
    program = (
        "import builtins\n"
        "real = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name == 'foldproof.cli.main': raise KeyboardInterrupt\n"
        "    return real(name, *rest)\n"
        "builtins.__import__ = stop\n"
        "from foldproof.cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (Exit.ERRORED, "foldproof: interrupted\n")
