"""Every transition of the model within a bound, for the tests that hold the proofs' rules equal to it."""

from __future__ import annotations

from collections.abc import Iterator

from foldproof.model.core import CORE
from foldproof.model.events import Event
from foldproof.model.machine import Clauses
from foldproof.model.state import State
from foldproof.proofs.slots import Room

ROOM = Room(messages=5, nodes=3, frozen=5)


def transitions(bound: int, design: Clauses) -> Iterator[tuple[State, Event, State]]:
    """Every transition out of a state that violates nothing, the violating states after included."""
    seen, frontier = {CORE.initial}, [CORE.initial]
    while frontier:
        reached: list[State] = []
        for before in frontier:
            for event in CORE.enabled(before, bound, design):
                now = CORE.effect(before, event, design)
                yield before, event, now
                now = CORE.canonical(now)
                if now not in seen:
                    seen.add(now)
                    if not CORE.violations(now):
                        reached.append(now)
        frontier = reached
