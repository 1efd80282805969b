"""The transition relation at index level is the model's step, seen by its indices: exhaustively."""

from __future__ import annotations

from dataclasses import replace

import pytest

from foldproof.model.core import CORE
from foldproof.model.design import DESIGN, Clause
from foldproof.model.events import Event
from foldproof.model.machine import Clauses
from foldproof.model.state import State
from foldproof.proofs.moves import move_of
from foldproof.proofs.slots import Room, abstract, after, normal

ROOM = Room(messages=5, nodes=3, frozen=5)


def transitions(bound: int, design: Clauses):  # type: ignore[no-untyped-def]
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


def check(before: State, event: Event, now: State, design: Clauses) -> None:
    moved, rebases, _ = after(abstract(before, ROOM), move_of(event), design)
    expected = normal(abstract(now, ROOM))
    assert replace(normal(moved), gauge=expected.gauge) == expected, (before, event)
    if not rebases:
        assert now.gauge.tokens == before.gauge.tokens


@pytest.mark.parametrize("missing", [None, *Clause])
def test_effects_agree(missing: Clause | None) -> None:
    design = DESIGN - ({missing} if missing else set())
    bound = 3 if missing is None else 2
    count = 0
    for before, event, now in transitions(bound, design):
        check(before, event, now, design)
        count += 1
    assert count > 900


@pytest.mark.nightly
@pytest.mark.parametrize("missing", [None, *Clause])
def test_effects_agree_deeper(missing: Clause | None) -> None:
    design = DESIGN - ({missing} if missing else set())
    for before, event, now in transitions(4 if missing is None else 3, design):
        check(before, event, now, design)
