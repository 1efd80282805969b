"""Shrinking: a shorter run that still violates the same invariant."""

from __future__ import annotations

from collections.abc import Sequence

from foldproof.model.machine import Clauses, EventT, Machine, StateT


def first_violation(
    machine: Machine[StateT, EventT],
    events: Sequence[EventT],
    invariant: str,
    design: Clauses,
) -> int | None:
    """The number of events after which the invariant is first violated; None if never, or not a run."""
    state = machine.initial
    for number, event in enumerate(events, 1):
        if machine.guard(state, event, design, None) is not None:
            return None
        state = machine.effect(state, event, design)
        if machine.violations(state, (invariant,)):
            return number
    return None


def shrink(
    machine: Machine[StateT, EventT],
    events: Sequence[EventT],
    invariant: str,
    design: Clauses,
) -> tuple[EventT, ...]:
    """Leave out events, longest stretches first, while the rest is a run that violates the invariant.

    The result is minimal in this sense: no single event of it can be left out. Raises ValueError when
    the events do not violate the invariant in the first place.
    """
    end = first_violation(machine, events, invariant, design)
    if end is None:
        raise ValueError(f"these {len(events)} events are not a run that violates {invariant}")
    kept = list(events[:end])
    size = len(kept)
    while size:
        start = 0
        while start < len(kept):
            candidate = kept[:start] + kept[start + size :]
            end = first_violation(machine, candidate, invariant, design)
            if end is None:
                start += size
            else:
                kept = candidate[:end]
                size = min(size, len(kept))
        size //= 2
    if any(
        first_violation(machine, kept[:i] + kept[i + 1 :], invariant, design) is not None
        for i in range(len(kept))
    ):
        return shrink(machine, kept, invariant, design)
    return tuple(kept)
