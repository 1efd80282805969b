"""The bulk engine against the plain one: the same states, counts, verdicts and counterexamples."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from foldproof.explore import bulk, plain
from foldproof.explore.bulk_audit import AuditError
from foldproof.explore.bulk_low import UnsupportedError
from foldproof.explore.bulk_run import Run
from foldproof.explore.bulk_tables import Shared, Tables
from foldproof.model.budget import BUDGET
from foldproof.model.core import CORE
from foldproof.model.events import AppendReply, Event, Measure, StepEnd
from foldproof.model.machine import Clauses, Machine
from foldproof.model.state import State

SINGLES = [(), *((str(clause),) for clause in CORE.clauses)]
PAIRS = list(combinations(map(str, CORE.clauses), 2))
NAMES = tuple(map(str, CORE.invariants))
SHARED = Shared(CORE)
"""All designs share their tables here, so that the tests cover the sharing as well."""


def states_of_plain(bound: int, design: Clauses, checked: tuple[str, ...] = NAMES) -> set[State]:
    seen = {CORE.initial}
    frontier = [CORE.initial]
    while frontier:
        reached = []
        for state in frontier:
            if CORE.violations(state, checked):
                continue
            for event in CORE.enabled(state, bound, design):
                after = CORE.canonical(CORE.effect(state, event, design))
                if after not in seen:
                    seen.add(after)
                    reached.append(after)
        frontier = reached
    return seen


def states_of_bulk(bound: int, design: Clauses, checked: tuple[str, ...] = NAMES) -> list[State]:
    run = Run(Tables(SHARED, bound, design, checked), checked, limit=1, audited=0, keep=False)
    for _ in run.layers():
        pass
    return list(run.stored_states())


def assert_same_result(bound: int, without: tuple[str, ...], **options: Any) -> None:
    design = CORE.without(*without)
    expected = plain.search(CORE, bound, design, **options)
    found = bulk.search(CORE, bound, design, shared=SHARED, **options)
    assert found == replace(expected, engine="bulk", seconds=found.seconds)


def assert_same_states(bound: int, without: tuple[str, ...]) -> None:
    design = CORE.without(*without)
    found = states_of_bulk(bound, design)
    assert len(found) == len(set(found))
    assert set(found) == states_of_plain(bound, design)


@pytest.mark.parametrize("without", SINGLES, ids="+".join)
def test_same_result_for_every_single_fault(without: tuple[str, ...]) -> None:
    assert_same_result(3, without)


@pytest.mark.parametrize("without", SINGLES, ids="+".join)
def test_same_states_for_every_single_fault(without: tuple[str, ...]) -> None:
    assert_same_states(2, without)


@pytest.mark.parametrize("without", [(), ("D1a_undo",), ("D9",), ("D5", "D1a_compact")], ids="+".join)
def test_same_states_at_three(without: tuple[str, ...]) -> None:
    assert_same_states(3, without)


@pytest.mark.parametrize("without", PAIRS, ids="+".join)
def test_same_result_for_every_pair(without: tuple[str, ...]) -> None:
    assert_same_result(2, without)


@pytest.mark.parametrize("without", [(), ("D1a_undo", "D7")], ids=["design", "faulty"])
@pytest.mark.parametrize("checked", [("VIEW",), ("IDX", "SYNC"), ("CAL", "VIEW", "SYNC")], ids="+".join)
def test_same_result_with_fewer_invariants(without: tuple[str, ...], checked: tuple[str, ...]) -> None:
    """What is not reported is checked all the same: the same states are expanded."""
    assert_same_result(2, without, invariants=checked)


@pytest.mark.parametrize("limit", [3, 50])
def test_several_counterexamples_in_the_same_order(limit: int) -> None:
    assert_same_result(3, ("D1a_undo", "D7"), limit=limit)


def test_design_at_four() -> None:
    found = bulk.search(CORE, 4)
    assert (found.states, found.transitions, found.depth) == (34_220, 304_509, 15)
    assert not found.violated


def test_design_at_six() -> None:
    """The counts that the SPIN and C twins of benchmarks/bulk report too."""
    found = bulk.search(CORE, 6)
    assert (found.states, found.transitions, found.depth) == (979_558, 10_049_525, 19)
    assert not found.violated


@pytest.mark.nightly
@pytest.mark.parametrize("without", SINGLES, ids="+".join)
def test_same_at_four(without: tuple[str, ...]) -> None:
    assert_same_result(4, without)
    assert_same_states(4, without)


@pytest.mark.nightly
@pytest.mark.parametrize("without", PAIRS, ids="+".join)
def test_same_pairs_at_three(without: tuple[str, ...]) -> None:
    assert_same_result(3, without)
    assert_same_states(3, without)


@pytest.mark.nightly
@pytest.mark.parametrize("without", SINGLES, ids="+".join)
def test_same_at_five(without: tuple[str, ...]) -> None:
    assert_same_result(5, without)


def changed_effect(change: Any) -> Machine[Any, Any]:
    """The core machine with an effect that does something that the tables do not expect."""

    def effect(state: State, event: Event, design: Clauses) -> State:
        return change(state, event, CORE.effect(state, event, design))

    return replace(CORE, effect=effect)


def test_a_rule_that_joins_history_and_tree_is_noticed() -> None:
    def observe_replies_at_once(state: State, event: Event, after: State) -> State:
        if isinstance(event, StepEnd) and any(m.letter == "R" for m in state.history):
            return after._replace(enabled=False)
        return after

    with pytest.raises(AuditError, match="StepEnd"):
        bulk.search(changed_effect(observe_replies_at_once), 3)


def test_a_rule_that_reads_the_gauge_is_refused() -> None:
    def keep_large_gauges(state: State, event: Event, after: State) -> State:
        return state if isinstance(event, Measure) and state.gauge.tokens > 3 else after

    with pytest.raises(UnsupportedError, match="plain engine"):
        bulk.search(changed_effect(keep_large_gauges), 3)


def test_a_changed_rule_reaches_the_engine() -> None:
    """No second definition: a rule changed in the model alone changes what the engine finds."""

    def reply_ends_the_step(state: State, event: Event, after: State) -> State:
        return after._replace(last_observed=len(after.history)) if isinstance(event, AppendReply) else after

    machine = changed_effect(reply_ends_the_step)
    expected, found = plain.search(machine, 3), bulk.search(machine, 3)
    assert found == replace(expected, engine="bulk", seconds=found.seconds)
    assert found.states != plain.search(CORE, 3).states


def test_a_rule_on_a_live_index_reaches_the_engine() -> None:
    def measure_only_what_was_observed(state: State, event: Event, after: State) -> State:
        return state if isinstance(event, Measure) and state.last_observed < 2 else after

    machine = changed_effect(measure_only_what_was_observed)
    expected, found = plain.search(machine, 3), bulk.search(machine, 3)
    assert found == replace(expected, engine="bulk", seconds=found.seconds)


def test_other_machines_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="plain engine"):
        bulk.search(BUDGET, 3)


@pytest.mark.parametrize("bound", [0, 16])
def test_bounds_out_of_reach_are_refused(bound: int) -> None:
    with pytest.raises(UnsupportedError, match="from 1 to 15"):
        bulk.search(CORE, bound)
