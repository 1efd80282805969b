"""Hypothesis strategies over any machine: runs that its guards allow."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from foldproof.model.machine import Clauses, EventT, Machine, StateT


@st.composite
def runs(
    draw: st.DrawFn,
    machine: Machine[StateT, EventT],
    bound: int,
    *,
    design: Clauses | None = None,
    max_events: int = 20,
) -> list[EventT]:
    """A list of up to ``max_events`` events, each enabled where it stands, for histories up to ``bound``."""
    chosen = machine.design if design is None else design
    state, events = machine.initial, []
    for _ in range(draw(st.integers(0, max_events), label="length")):
        choices = list(machine.enabled(state, bound, chosen))
        event = draw(st.sampled_from(choices))
        state = machine.effect(state, event, chosen)
        events.append(event)
    return events


def reachable(machine: Machine[StateT, EventT], bound: int, **options: Any) -> st.SearchStrategy[StateT]:
    """A state that some run leads to (not canonical: ids are those of the run)."""
    design = options.get("design") or machine.design

    def last(events: list[EventT]) -> StateT:
        state = machine.initial
        for event in events:
            state = machine.effect(state, event, design)
        return state

    return runs(machine, bound, **options).map(last)
