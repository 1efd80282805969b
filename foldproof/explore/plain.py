"""The plain engine: breadth-first search over canonical states, in as few lines as it takes.

It is the definition of what a search finds; faster engines must agree with it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple

from foldproof.explore.result import Counterexample, OnProgress, Progress, SearchResult
from foldproof.model.machine import Clauses, EventT, Machine, StateT

PROGRESS_EVERY = 2_000
"""Expanded states between two progress reports."""


class _Arrival(NamedTuple, Generic[StateT, EventT]):
    """How a state was first reached."""

    before: StateT
    event: EventT


def search(
    machine: Machine[StateT, EventT],
    bound: int,
    design: Clauses | None = None,
    *,
    invariants: tuple[str, ...] | None = None,
    limit: int = 1,
    max_states: int | None = None,
    max_depth: int | None = None,
    past_violations: bool = False,
    stop_when_found: bool = False,
    on_progress: OnProgress | None = None,
) -> SearchResult:
    """Visit every state that the machine reaches within its bound, layer by layer.

    A state that violates any invariant of the machine is counted but not expanded, so that a
    counterexample shows the first violation of its run, and so that the search ends: broken states
    breed. ``invariants`` chooses which violations are reported. With ``past_violations`` violating
    states are expanded, so that what breaks only in consequence is found too (give a ``max_depth``
    then). ``limit`` bounds the counterexamples kept for each invariant. ``stop_when_found`` ends the
    search when each reported invariant has as many. The search is complete unless ``max_states`` or
    ``max_depth`` stopped it.
    """
    design = machine.design if design is None else design
    checked = tuple(map(str, machine.invariants)) if invariants is None else invariants
    started = time.perf_counter()
    arrivals: dict[StateT, _Arrival[StateT, EventT] | None] = {machine.initial: None}
    found: dict[str, list[Counterexample]] = {name: [] for name in checked}
    taken: Counter[str] = Counter()
    transitions = expanded = 0
    complete = True

    def examine(state: StateT) -> bool:
        """Record what the state violates; true when it is to be expanded."""
        violations = machine.violations(state)
        for violation in violations:
            if violation.invariant in found and len(found[violation.invariant]) < limit:
                run = tuple(_run_to(state, arrivals))
                found[violation.invariant].append(Counterexample(violation.invariant, violation, run))
        return past_violations or not violations

    frontier = [machine.initial] if examine(machine.initial) else []
    depth = 0
    while frontier and complete:
        if max_depth is not None and depth >= max_depth:
            complete = False
            break
        reached: list[StateT] = []
        for state in frontier:
            for event in machine.enabled(state, bound, design):
                after = machine.canonical(machine.effect(state, event, design))
                transitions += 1
                taken[type(event).__name__] += 1
                if after not in arrivals:
                    arrivals[after] = _Arrival(state, event)
                    if examine(after):
                        reached.append(after)
            expanded += 1
            if on_progress is not None and expanded % PROGRESS_EVERY == 0:
                elapsed = time.perf_counter() - started
                on_progress(Progress(depth, len(frontier), len(arrivals), transitions, elapsed))
            if max_states is not None and len(arrivals) > max_states:
                complete = False
                break
        frontier = reached
        depth += 1
        if stop_when_found and all(len(kept) >= limit for kept in found.values()):
            break
    return SearchResult(
        machine=machine.name,
        bound=bound,
        without=tuple(str(clause) for clause in machine.clauses if clause not in design),
        engine="plain",
        states=len(arrivals),
        transitions=transitions,
        depth=depth,
        seconds=time.perf_counter() - started,
        invariants=checked,
        events=dict(sorted(taken.items())),
        complete=complete,
        counterexamples={name: tuple(kept) for name, kept in found.items()},
    )


def _run_to(state: StateT, arrivals: dict[StateT, _Arrival[StateT, EventT] | None]) -> list[EventT]:
    """The events by which breadth-first search first reached a state."""
    run: list[EventT] = []
    arrival = arrivals[state]
    while arrival is not None:
        run.append(arrival.event)
        arrival = arrivals[arrival.before]
    return run[::-1]


def transitions_breadth_first(
    machine: Machine[StateT, EventT], bound: int, design: Clauses
) -> Iterator[tuple[StateT, EventT, StateT, Callable[[], list[EventT]]]]:
    """Every transition in breadth-first order, with a way to ask for the run that ends in it."""
    arrivals: dict[StateT, _Arrival[StateT, EventT] | None] = {machine.initial: None}
    frontier = [machine.initial]
    while frontier:
        reached: list[StateT] = []
        for before in frontier:
            for event in machine.enabled(before, bound, design):
                after = machine.canonical(machine.effect(before, event, design))
                yield before, event, after, lambda b=before, e=event: [*_run_to(b, arrivals), e]  # type: ignore[misc]
                if after not in arrivals:
                    arrivals[after] = _Arrival(before, event)
                    reached.append(after)
        frontier = reached
