"""The table in docs/findings.md is what the search finds, row by row, and no row is empty."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from pathlib import Path

import pytest
from finding_rows import HARMLESS_ALONE, HORIZON, ROWS, Row, Shortest, shortest
from machine_pins import COUNTS, LARGE_COUNTS

from foldproof.explore import plain
from foldproof.explore.trace import run
from foldproof.model.machines import MACHINES
from foldproof.proofs.obligations import OBLIGATIONS

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "docs" / "findings.md"
PROOFS: dict[str | tuple[str, str], str] = {
    "core": "*/{}",
    "budget": "budget/*",
    ("pass", "LAYOUT"): "pass/*",
    ("pass", "FROZEN"): "pass/*",
}
"""The obligations that hold an invariant for histories of any length, by machine."""

SEED = {f"P{number}" for number in range(1, 13)} | {f"repro {letter}" for letter in "ABCDEFG"}


@cache
def _tables() -> dict[str, list[list[str]]]:
    """The cells of each section's table, without its two header lines."""
    sections = re.split(r"^## ", FINDINGS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        section.splitlines()[0]: [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in section.splitlines()
            if line.startswith("|")
        ][2:]
        for section in sections
        if section.strip()
    }


def _faults() -> list[list[str]]:
    return _tables()["Faults and rejected alternatives"]


def _others() -> list[list[str]]:
    return _tables()["What is no safety property"]


def _written(cells: list[str]) -> Shortest:
    least, _, other = cells[5].partition(" (this one ")
    return Shortest(cells[4].strip("`"), int(other.rstrip(")") or least), int(least))


def test_no_cell_is_empty() -> None:
    for cells in [*_faults(), *_others()]:
        assert all(cells), cells
        assert len(cells) in (3, 7)


def test_the_rows_are_the_findings() -> None:
    written = [(c[0].removesuffix(" *"), tuple(c[1].split(", ")), c[2], c[3]) for c in _faults()]
    assert written == [(row.finding, row.without, row.machine, row.invariant) for row in ROWS]
    assert [c[0].endswith(" *") for c in _faults()] == [row.consequence for row in ROWS]


def test_everything_that_the_seeds_name_has_a_row() -> None:
    findings = [cells[0] for cells in _faults()]
    assert [name for name in SEED if not any(f.startswith((f"{name}:", f"{name} ")) for f in findings)] == []


def test_every_clause_of_every_machine_has_a_row() -> None:
    named = {clause for row in ROWS for clause in row.without}
    every = {str(clause) for machine in MACHINES.values() for clause in machine.clauses}
    assert named | set(HARMLESS_ALONE) == every
    alone = {clause for row in ROWS if len(row.without) == 1 for clause in row.without}
    assert alone.isdisjoint(HARMLESS_ALONE)


@pytest.mark.parametrize(
    ("row", "cells"), list(zip(ROWS, _faults(), strict=True)), ids=[r.finding for r in ROWS]
)
def test_a_row_shows_what_it_says(row: Row, cells: list[str]) -> None:
    """Its trace breaks the invariant with its last event, and no run within its bound is shorter."""
    machine, written = MACHINES[row.machine], _written(cells)
    design = machine.without(*row.without)
    events = [machine.event_from_name(event) for event in written.trace.split(";")]
    states = run(machine, events, design, written.bound)
    if written.bound:
        with pytest.raises(ValueError, match=r"bound|room"):
            run(machine, events, design, written.bound - 1)
    assert row.invariant in {violation.invariant for violation in machine.violations(states[-1])}
    if not row.consequence:
        assert not any(machine.violations(state) for state in states[:-1])
    shorter = plain.search(
        machine, written.bound, design, max_depth=len(events) - 1, past_violations=row.consequence
    )
    assert not shorter.counterexamples[row.invariant]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("row", "cells"), list(zip(ROWS, _faults(), strict=True)), ids=[r.finding for r in ROWS]
)
def test_a_row_is_recomputed_up_to_the_horizon(row: Row, cells: list[str]) -> None:
    assert shortest(row) == _written(cells)


def test_what_holds_a_row_was_run() -> None:
    pinned = {
        name: max(b for m, b in [*COUNTS, *LARGE_COUNTS] if m == name) for name in MACHINES if name != "core"
    }
    pinned["core"] = HORIZON["core"]  # tests/explore/test_pins.py
    for cells in _faults():
        searched = re.search(r"search to L=(\d+)", cells[6])
        assert searched is not None, cells
        assert int(searched[1]) <= pinned[cells[2]], cells
        proof = re.match(r"`([^`]+)` for any length; ", cells[6])
        expected = PROOFS.get((cells[2], cells[3]), PROOFS.get(cells[2]))
        assert (proof[1] if proof else None) == (expected and expected.format(cells[3])), cells
        assert proof is None or fnmatch.filter(OBLIGATIONS, proof[1]), cells


@pytest.mark.parametrize("clause", HARMLESS_ALONE)
def test_a_clause_that_is_harmless_alone(clause: str) -> None:
    machine = next(m for m in MACHINES.values() if clause in map(str, m.clauses))
    bound = 3 if machine.name in ("core", "async") else HORIZON[machine.name]
    assert not plain.search(machine, bound, machine.without(clause)).violated


@pytest.mark.nightly
@pytest.mark.parametrize("clause", ["D4", "D6_settle"])
def test_a_core_clause_that_is_harmless_alone_at_a_larger_bound(clause: str) -> None:
    assert not plain.search(MACHINES["core"], 4, MACHINES["core"].without(clause)).violated


def test_what_is_checked_instead_exists() -> None:
    for finding, _, instead in _others():
        paths = re.findall(r"`((?:tests|benchmarks)/[^`]+)`", instead)
        assert paths, finding
        assert all((ROOT / path).is_file() for path in paths), finding
