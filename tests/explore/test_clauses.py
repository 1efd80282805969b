"""Without each clause the search finds what the specification names, by a run as short."""

from functools import cache

import pytest

from foldproof.explore.coverage import coverage, exercised
from foldproof.explore.matrix import Row, necessity
from foldproof.explore.plain import search
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN, FAULTS, RESERVED_FAULTS, Clause, without
from foldproof.model.events import EVENT_TYPES, Restore, event_from_name


@cache
def rows(bound: int) -> dict[str, Row]:
    return {row.without[0]: row for row in necessity(CORE, bound).rows}


SHORTEST_AT_3 = {
    "D1a_undo": {"IDX": 4, "SYNC": 4, "VIEW": 6},
    "D1a_clear": {"IDX": 3, "CAL": 3, "VIEW": 3, "SYNC": 3},
    "D1a_compact": {"IDX": 4, "VIEW": 5, "SYNC": 3, "CAL": 7},
    "D1b": {"CAL": 4},
    "D1c": {"IDX": 3, "SYNC": 5},
    "D2_resume": {"CAL": 3},
    "D4": {},
    "D5": {"SYNC": 6},
    "D6_settle": {},
    "D6_rebase": {"CAL": 3},
    "D6_repair": {"IDX": 3, "SYNC": 3, "CAL": 6, "VIEW": 5},
    "D7": {},
    "D8": {"SYNC": 2},
    "D9": {"IDX": 3, "SYNC": 3},
}
"""Events of the shortest counterexamples in histories of up to 3 messages."""


@pytest.mark.parametrize("clause", [str(clause) for clause in Clause])
def test_what_breaks_without_a_clause(clause: str) -> None:
    broken = rows(3)[clause].broken
    assert {name: len(found.shortest.events) for name, found in broken.items()} == SHORTEST_AT_3[clause]


@pytest.mark.parametrize(
    ("clause", "bound", "invariants", "trace"),
    [
        (Clause.D1A_UNDO, 3, {"IDX", "SYNC"}, "AppendUser; Call(open); StepEnd; Undo(0)"),
        (Clause.D7, 4, {"CAL"}, "Call(open); StepEnd; Call(close); StepEnd"),
        (Clause.D8, 2, {"SYNC"}, "Call(open); Restore"),
        (Clause.D5, 4, {"SYNC"}, "Call(open); StepEnd; Call(close); CommitState(2); StepEnd"),
        (Clause.D9, 2, {"IDX", "SYNC"}, "Call(open); StepEnd; Clear"),
    ],
)
def test_the_counterexamples_that_the_specification_names(
    clause: Clause, bound: int, invariants: set[str], trace: str
) -> None:
    result = search(CORE, bound, without(clause), stop_when_found=True)
    named = trace.split("; ")
    for invariant in invariants:
        assert len(result.counterexamples[invariant][0].events) == len(named)
    state = CORE.initial
    for name in named:
        assert not CORE.violations(state)
        event = event_from_name(name)
        assert CORE.guard(state, event, without(clause), bound) is None
        state = CORE.effect(state, event, without(clause))
    assert invariants <= {violation.invariant for violation in CORE.violations(state)}


def test_repro_f_breaks_the_view() -> None:
    names = ["Call(open)", "StepEnd", "AppendUser", "Call(close)", "StepEnd", "Undo(2)"]
    state = CORE.initial
    for name in names:
        state = CORE.effect(state, event_from_name(name), without(Clause.D1A_UNDO))
    assert "VIEW" in {violation.invariant for violation in CORE.violations(state)}


def test_the_faults_of_the_seed_are_all_named() -> None:
    core = set(FAULTS) | set(RESERVED_FAULTS)
    assert core == {f"P{number}" for number in range(1, 13)}
    assert all(missing <= DESIGN for missing in FAULTS.values())


def test_d4_and_d6_settle_break_nothing_by_themselves() -> None:
    for clause in (Clause.D4, Clause.D6_SETTLE):
        assert not search(CORE, 4, without(clause)).violated


def test_every_clause_matters_somewhere() -> None:
    """Guards and effects: each clause changes what is enabled, or what is done, in some reachable state."""
    found = coverage(CORE, [], [event_type.__name__ for event_type in EVENT_TYPES], 4)
    assert set(found.witnesses) == {str(clause) for clause in Clause} | {t.__name__ for t in EVENT_TYPES}
    assert all(found.witnesses.values()), found.witnesses


def test_coverage_counts_what_a_run_exercised() -> None:
    run = [event_from_name(name) for name in ("Call(open)", "Restore")]
    found = coverage(CORE, [run], ["Call", "Restore", "Undo"], 4)
    assert found.events == {"Call": 1, "Restore": 1, "Undo": 0}
    assert found.clauses["D8"] == 1
    assert found.clauses["D7"] == 0
    assert found.witnesses["Undo"] is not None
    assert "D8" not in found.witnesses


def test_exercised_names_the_clause_that_matters() -> None:
    pending = CORE.effect(CORE.initial, event_from_name("Call(open)"), DESIGN)
    assert Clause.D8 in exercised(CORE, pending, Restore(), 4, DESIGN)
    assert Clause.D8 not in exercised(CORE, CORE.initial, Restore(), 4, DESIGN)
