"""Every extended machine alike: pinned counts, what each clause prevents, and the laws of a machine."""

from __future__ import annotations

import pytest
from machine_pins import COUNTS, LARGE_COUNTS, NECESSITY, Broken

from foldproof.explore import plain
from foldproof.explore.simulate import simulate
from foldproof.explore.trace import encode, record, run
from foldproof.model.machine import Machine
from foldproof.model.machines import MACHINES

EXTENDED = [name for name in MACHINES if name != "core"]
UNNEEDED_ALONE = {"A3_anchor", "M2_fresh"}
"""Clauses that a second one covers: their pairs are tested with their machines."""


def _traces(result: plain.SearchResult) -> dict[str, str]:
    return {
        name: "; ".join(map(str, kept[0].events)) for name, kept in result.counterexamples.items() if kept
    }


@pytest.mark.parametrize(("name", "bound"), COUNTS)
def test_counts_under_the_design(name: str, bound: int) -> None:
    result = plain.search(MACHINES[name], bound)
    assert _traces(result) == {}
    assert (result.states, result.transitions, result.depth) == COUNTS[name, bound]


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "bound"), LARGE_COUNTS)
def test_counts_at_a_larger_bound(name: str, bound: int) -> None:
    result = plain.search(MACHINES[name], bound)
    assert _traces(result) == {}
    assert (result.states, result.transitions, result.depth) == LARGE_COUNTS[name, bound]


def test_every_clause_is_pinned() -> None:
    assert {name: set(NECESSITY[name]) for name in EXTENDED} == {
        name: {str(clause) for clause in MACHINES[name].clauses} for name in EXTENDED
    }


@pytest.mark.parametrize(
    ("name", "clause", "pin"),
    [(name, clause, pin) for name, pins in NECESSITY.items() for clause, pin in pins.items()],
)
def test_what_breaks_without_a_clause(name: str, clause: str, pin: Broken | None) -> None:
    machine = MACHINES[name]
    design = machine.without(clause)
    if pin is None:
        assert clause in UNNEEDED_ALONE
        assert _traces(plain.search(machine, 3, design)) == {}
        return
    if pin.bound > 0:
        assert _traces(plain.search(machine, pin.bound - 1, design)) == {}, "a smaller bound suffices"
    longest = max(trace.count(";") for trace in pin.traces.values()) + 1
    assert _traces(plain.search(machine, pin.bound, design, max_depth=longest)) == pin.traces
    for invariant, trace in pin.traces.items():
        events = [machine.event_from_name(event) for event in trace.split(";")]
        *before, last = run(machine, events, design)
        assert all(not machine.violations(state) for state in before)
        assert invariant in {violation.invariant for violation in machine.violations(last)}


@pytest.mark.parametrize("name", EXTENDED)
def test_every_invariant_has_a_clause_that_it_needs(name: str) -> None:
    """A check that cannot fail is none: each invariant breaks without some clause, or by a named test."""
    broken = {inv for pin in NECESSITY[name].values() if pin is not None for inv in pin.traces}
    elsewhere = {
        "pass": set(),
        "async": {"IDX", "CAL"},  # test_asynchronous_machine
        "memories": set(),
        "budget": set(),
    }[name]
    assert broken | elsewhere == set(map(str, MACHINES[name].invariants))


@pytest.mark.parametrize("name", EXTENDED)
def test_faults_are_sets_of_clauses_that_break_something(name: str) -> None:
    machine = MACHINES[name]
    for fault, clauses in machine.faults.items():
        assert clauses, fault
        assert clauses <= machine.design, fault
        if len(clauses) == 1:
            assert NECESSITY[name][str(*clauses)] is not None, fault  # pinned above
        else:
            assert plain.search(machine, 3, machine.design - clauses, max_depth=4).violated, fault


@pytest.mark.parametrize("name", EXTENDED)
def test_laws_of_a_machine(name: str) -> None:
    """Guards and `enabled` agree; names are read back; canonical is idempotent and commutes with events."""
    machine = MACHINES[name]
    seen, frontier = {machine.initial}, [machine.initial]
    while frontier and len(seen) < 1_500:
        reached = []
        for state in frontier:
            assert machine.canonical(state) == state
            for event in machine.enabled(state, 3, machine.design):
                assert machine.guard(state, event, machine.design, 3) is None
                assert machine.event_from_name(str(event)) == event
                raw = machine.effect(state, event, machine.design)
                after = machine.canonical(raw)
                assert machine.canonical(after) == after
                _commutes(machine, raw, after)
                if after not in seen:
                    seen.add(after)
                    reached.append(after)
        frontier = reached


def _commutes(machine: Machine, raw: object, after: object) -> None:  # type: ignore[type-arg]
    offered = list(machine.enabled(raw, 3, machine.design))
    assert offered == list(machine.enabled(after, 3, machine.design))
    for event in offered:
        left = machine.canonical(machine.effect(raw, event, machine.design))
        assert left == machine.canonical(machine.effect(after, event, machine.design))


@pytest.mark.parametrize("name", EXTENDED)
@pytest.mark.parametrize(
    "text", ["", "Nonsense", "Undo(", "Undo(x)", "Undo(1,2)", "Clear(1)", "Undo(9999999999)"]
)
def test_unknown_events_are_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"events are .*|begin and land"):
        MACHINES[name].event_from_name(text)


@pytest.mark.parametrize("name", EXTENDED)
def test_an_event_that_is_not_enabled_has_a_reason(name: str) -> None:
    machine = MACHINES[name]
    event = machine.event_from_name("Clear")
    assert machine.guard(machine.initial, event, machine.design, 3) == "the history is empty"
    with pytest.raises(ValueError, match="step 1: Clear is not enabled: the history is empty"):
        run(machine, [event], machine.design)


@pytest.mark.parametrize("name", EXTENDED)
def test_random_simulation_beyond_exhaustion(name: str) -> None:
    result = simulate(MACHINES[name], 8, runs=60, depth=60, seed=1)
    assert _traces(result) == {}
    assert result.transitions > 1_000


@pytest.mark.parametrize("name", EXTENDED)
def test_every_state_can_be_written_down(name: str) -> None:
    machine = MACHINES[name]
    for clause, pin in NECESSITY[name].items():
        for trace in pin.traces.values() if pin else ():
            events = [machine.event_from_name(event) for event in trace.split(";")]
            written = record(machine, events, machine.without(clause), 5)
            assert written.without == (clause,)
            assert len(written.states) == len(events) + 1
            assert encode(machine.initial) == written.states[0]
