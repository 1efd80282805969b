"""Bounded model checking against the search, and countermodels made concrete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldproof.cli.main import run as foldproof
from foldproof.explore.plain import search
from foldproof.explore.trace import run
from foldproof.explore.tracefile import read_trace, replay
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN, Clause, without
from foldproof.proofs.bounded import Unrolling, shortest_violation
from foldproof.proofs.countermodel import countermodel
from foldproof.proofs.invariant import Group
from foldproof.proofs.obligations import CLAUSES_THAT_RULE
from foldproof.proofs.solve import ask_z3

UNBROKEN = {Clause.D4, Clause.D6_SETTLE}
"""Clauses without which the four invariants hold all the same."""


def shortest_by_search(missing: Clause, bound: int, depth: int) -> int | None:
    found = search(CORE, bound, without(missing), max_depth=depth).counterexamples.values()
    return min((len(runs[0].events) for runs in found if runs), default=None)


def agree(missing: Clause, bound: int, depth: int) -> None:
    """Solver and search find a counterexample of the same length, or none; the model replays it."""
    events = shortest_violation(bound, depth, without(missing))
    expected = shortest_by_search(missing, bound, depth)
    assert (None if events is None else len(events)) == expected
    if events is not None:
        states = run(CORE, events, without(missing), bound)
        assert CORE.violations(states[-1])
        assert not any(CORE.violations(state) for state in states[:-1])


@pytest.mark.parametrize(
    "missing",
    [Clause.D1A_CLEAR, Clause.D1B, Clause.D1C, Clause.D2_RESUME, Clause.D6_REBASE, Clause.D8, Clause.D9],
)
def test_finds_what_the_search_finds(missing: Clause) -> None:
    agree(missing, bound=3, depth=4)


@pytest.mark.nightly
@pytest.mark.parametrize("missing", list(Clause))
def test_finds_what_the_search_finds_for_every_clause(missing: Clause) -> None:
    bound = 4 if missing in (Clause.D5, Clause.D7) else 3
    agree(missing, bound=bound, depth=5)
    if missing not in UNBROKEN:
        assert shortest_by_search(missing, bound, 5) is not None


def test_unrolling_is_not_empty() -> None:
    """Three steps are possible at all, and take each of these events."""
    unrolled = Unrolling(2, 3)
    for event in ("AppendUser", "Call", "StepEnd", "Undo", "CommitIndex", "ApplyCompaction", "FlagFlip"):
        taken = [step.takes(event) for step in unrolled.steps]
        assert any(ask_z3([*unrolled.facts, here]) == "sat" for here in taken), event


def test_repro_f_is_found_from_the_proof() -> None:
    """The seed's repro F, from the inductive step that fails without D1a_undo."""
    found = countermodel("Undo", Group.VIEW, Clause.D1A_UNDO)
    assert found is not None
    assert found.label == "reachable"
    assert "VIEW" in found.broken
    assert str(found.event) == "Undo(2)"
    assert len(found.run or ()) == 5


@pytest.mark.parametrize(
    ("event", "group", "missing"),
    [("Clear", Group.SYNC, Clause.D9), ("StepEnd", Group.CAL, Clause.D7), ("Restore", Group.SYNC, Clause.D8)],
)
def test_countermodel_replays(event: str, group: Group, missing: Clause, tmp_path: Path) -> None:
    found = countermodel(event, group, missing)
    assert found is not None
    assert found.label == "reachable"
    assert str(group) in found.broken
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(found.trace().model_dump(mode="json")))
    assert replay(read_trace(path))[-1] != found.before


def test_the_design_has_no_countermodel(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the clause in place nothing is found: the search for countermodels does not make them up."""
    monkeypatch.setattr("foldproof.proofs.countermodel.without", lambda _: DESIGN)
    monkeypatch.setattr("foldproof.proofs.countermodel.GREATEST_BOUND", 3)
    assert countermodel("Undo", Group.IDX, Clause.D1A_UNDO) is None


@pytest.mark.nightly
def test_every_clause_has_a_concrete_countermodel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert foldproof(["prove", "--countermodels", str(tmp_path), "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["countermodels"]
    assert len(entries) == sum(map(len, CLAUSES_THAT_RULE.values()))
    for entry in entries:
        trace = read_trace(tmp_path / entry["file"])
        assert trace.without == (entry["without"],)
        if entry["label"] == "reachable":
            replay(trace)
        else:
            assert entry["run"] is None


def test_cli_json_and_smt2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "prove",
        "--obligation",
        "index/refine-*",
        "--json",
        "--workers",
        "1",
        "--smt2",
        str(tmp_path),
    ]
    assert foldproof(arguments) == 0
    entries = json.loads(capsys.readouterr().out)["obligations"]
    assert [entry["name"] for entry in entries] == [
        "index/refine-close",
        "index/refine-open",
        "index/refine-rest",
    ]
    for entry in entries:
        assert (entry["z3"], entry["cvc5"], entry["failures"]) == ("proved", "proved", [])
        assert entry["mutant"]
    assert "(check-sat)" in (tmp_path / "index-refine-open.smt2").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--obligation", "Undo/XYZ"], "there is no obligation 'Undo/XYZ'"),
        (["--solver", "yices"], "there is no solver 'yices'"),
        (["--timeout", "0"], "--timeout is in seconds"),
        (["--timeout", "inf"], "--timeout is in seconds"),
        (["--timeout", "nan"], "--timeout is in seconds"),
        (["--workers", "-1"], "--workers counts processes"),
        (["--obligation", "index/*", "--countermodels", "nowhere"], "no clause rules over these"),
    ],
)
def test_cli_mistakes(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert foldproof(["prove", *arguments]) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""


def test_cli_timeout_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("foldproof.proofs.solve.ask_z3", lambda *_: "unknown")
    assert foldproof(["prove", "--obligation", "index/clamp-range"]) == 3
    assert "index/clamp-range: z3 says unknown" in capsys.readouterr().out
