"""Coverage: which events and clauses a run exercised, and a witness for each that it did not.

A clause is exercised where it matters: in a state in which taking it away would change which events
are enabled, or what the run's next event does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from foldproof.explore.plain import transitions_breadth_first
from foldproof.explore.trace import run
from foldproof.model.machine import Clauses, EventT, Machine, StateT


@dataclass(frozen=True)
class Coverage:
    """What runs exercised. ``witnesses`` gives, for the rest, a shortest run (None: none in the bound)."""

    events: dict[str, int]
    clauses: dict[str, int]
    witnesses: dict[str, tuple[Any, ...] | None]


def exercised(
    machine: Machine[StateT, EventT], state: StateT, event: EventT, bound: int, design: Clauses
) -> set[StrEnum]:
    """The clauses that matter to this transition, as a guard of its state or in its effect."""
    after = machine.effect(state, event, design)
    choices = list(machine.enabled(state, bound, design))
    return {
        clause
        for clause in design
        if list(machine.enabled(state, bound, design - {clause})) != choices
        or machine.effect(state, event, design - {clause}) != after
    }


def coverage(
    machine: Machine[StateT, EventT],
    runs: Iterable[Sequence[EventT]],
    event_names: Sequence[str],
    bound: int,
    design: Clauses | None = None,
) -> Coverage:
    """Count what the runs exercised and find, within ``bound``, a witness for each thing they did not."""
    design = machine.design if design is None else design
    events = dict.fromkeys(event_names, 0)
    clauses = {str(clause): 0 for clause in machine.clauses if clause in design}
    for events_of_run in runs:
        states = run(machine, events_of_run, design)
        for state, event in zip(states, events_of_run, strict=False):
            events[type(event).__name__] += 1
            for clause in exercised(machine, state, event, bound, design):
                clauses[str(clause)] += 1
    missing = {name for counted in (events, clauses) for name, count in counted.items() if count == 0}
    return Coverage(events, clauses, _witnesses(machine, missing, bound, design))


def _witnesses(
    machine: Machine[StateT, EventT], missing: set[str], bound: int, design: Clauses
) -> dict[str, tuple[Any, ...] | None]:
    found: dict[str, tuple[Any, ...] | None] = {}
    for before, event, _, run_of in transitions_breadth_first(machine, bound, design):
        if len(found) == len(missing):
            break
        shown = {type(event).__name__}
        if any(str(clause) in missing and str(clause) not in found for clause in design):
            shown |= {str(clause) for clause in exercised(machine, before, event, bound, design)}
        for name in shown & missing - found.keys():
            found[name] = tuple(run_of())
    return {name: found.get(name) for name in sorted(missing)}
