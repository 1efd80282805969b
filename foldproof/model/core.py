"""The core kernel as a machine: the state, events, clauses and invariants of one session."""

from __future__ import annotations

from foldproof.model.canonical import canonical
from foldproof.model.design import FAULTS, Clause
from foldproof.model.events import Event, event_from_name
from foldproof.model.guards import enabled, guard
from foldproof.model.invariants import INVARIANTS
from foldproof.model.machine import Bounds, Machine
from foldproof.model.state import INITIAL, State
from foldproof.model.step import effect

CORE: Machine[State, Event] = Machine(
    name="core",
    initial=INITIAL,
    clauses=tuple(Clause),
    faults=FAULTS,
    invariants=INVARIANTS,
    enabled=enabled,
    guard=guard,
    effect=effect,
    canonical=canonical,
    event_from_name=event_from_name,
    bounds=Bounds(check=6, matrix=4),
)
