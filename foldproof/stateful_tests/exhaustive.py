"""Exhaustive refinement: every event sequence up to a length, every transition within a bound.

``python -m foldproof.stateful_tests.exhaustive BOUND`` compares the reference with the model over every
transition, and prints one JSON object that ``foldproof gallery --results`` takes.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from dataclasses import asdict, dataclass

from foldproof.model.canonical import canonical
from foldproof.model.design import DESIGN
from foldproof.model.events import Event
from foldproof.model.fold import CORE_COSTS
from foldproof.model.guards import enabled
from foldproof.model.state import INITIAL, State
from foldproof.model.step import effect
from foldproof.reference.session import Session
from foldproof.stateful_tests.refinement import SETTINGS, apply, check, check_refusals, core_costs, fork


@dataclass(frozen=True, slots=True)
class Extent:
    """How much was compared: sequences or states, transitions taken, events refused on both sides."""

    states: int
    transitions: int
    refusals: int


def every_sequence(length: int, bound: int, session_type: type[Session] = Session) -> Extent:
    """Drive session and model through all sequences of at most ``length`` events, and compare after each.

    ``bound`` limits the history. Raises `NotRefinedError` with the sequence at the first difference;
    the sequences come shortest first.
    """
    return _walk(length, bound, session_type, merge=False)


def every_transition(bound: int, session_type: type[Session] = Session) -> Extent:
    """Drive a session through every transition between reachable states of the model, and compare.

    A state is entered once, by a shortest sequence. Raises as `every_sequence` does.
    """
    return _walk(None, bound, session_type, merge=True)


def _walk(length: int | None, bound: int, session_type: type[Session], *, merge: bool) -> Extent:
    first = session_type.in_memory(SETTINGS, core_costs)
    check(first, INITIAL)
    waiting: deque[tuple[State, Session, tuple[Event, ...]]] = deque([(INITIAL, first, ())])
    seen = {INITIAL}
    states = transitions = refusals = 0
    while waiting:
        state, session, events = waiting.popleft()
        states += 1
        if length is None or len(events) < length:
            for event in enabled(state, bound):
                transitions += 1
                trace = (*events, event)
                after = effect(state, event, DESIGN, CORE_COSTS)
                twin = apply(fork(session), event)
                check(twin, after, trace)
                name = canonical(after)
                if not merge or name not in seen:
                    seen.add(name)
                    waiting.append((after, twin, trace))
        refusals += check_refusals(session, state, events)
    return Extent(states, transitions, refusals)


def as_json(bound: int) -> str:
    """What `every_transition` compared, as one JSON object. Raises as it does."""
    extent = every_transition(bound)
    return json.dumps(
        {"refinement": {"implementation": "foldproof reference", "bound": bound, **asdict(extent)}}
    )


if __name__ == "__main__":
    print(as_json(int(sys.argv[1])))
