"""The strengthened invariant against the model: every reachable state has it; whatever has it holds."""

from __future__ import annotations

import pytest

from foldproof.model.core import CORE
from foldproof.model.design import DESIGN, Clause
from foldproof.model.events import Event
from foldproof.model.state import State
from foldproof.proofs.invariant import INVARIANT, PARTITION
from foldproof.proofs.moves import move_of
from foldproof.proofs.premise import all_instances, guard
from foldproof.proofs.slots import Slots, abstract

from .agreement import ROOM, transitions


def reached(bound: int, missing: set[Clause]) -> list[State]:
    states = {CORE.canonical(now) for _, _, now in transitions(bound, DESIGN - missing)}
    return [CORE.initial, *states]


def broken(s: Slots) -> list[str]:
    return [c.name for c in (*INVARIANT, PARTITION) if not all(all_instances(s, (c,), s.named))]


def test_every_reachable_state_has_it() -> None:
    for state in reached(2, set()):
        assert not broken(abstract(state, ROOM)), state


def violating_states(bound: int, missing: Clause) -> int:
    """States of a fault that violate INV-IDX, INV-VIEW or INV-SYNC; each must break the invariant."""
    violating = 0
    for state in reached(bound, {missing}):
        if {v.invariant for v in CORE.violations(state)} - {"CAL"}:
            violating += 1
            assert broken(abstract(state, ROOM)), state
    return violating


@pytest.mark.parametrize(("missing", "bound"), [(Clause.D8, 2), (Clause.D9, 2), (Clause.D6_REPAIR, 2)])
def test_whatever_has_it_holds(missing: Clause, bound: int) -> None:
    assert violating_states(bound, missing)


@pytest.mark.nightly
@pytest.mark.parametrize("missing", list(Clause))
def test_whatever_has_it_holds_under_every_fault(missing: Clause) -> None:
    quiet = {Clause.D1B, Clause.D2_RESUME, Clause.D4, Clause.D6_SETTLE, Clause.D6_REBASE, Clause.D7}
    assert bool(violating_states(3, missing)) == (missing not in quiet)


def test_guards_agree() -> None:
    bound = 3
    for state in reached(2, set()):
        s = abstract(state, ROOM)
        for event in every_event(bound):
            allowed = CORE.guard(state, event, DESIGN, None) is None
            assert guard(s, move_of(event), DESIGN, s.named) == allowed, (state, event)


def every_event(bound: int) -> list[Event]:
    names = ["AppendUser", "AppendReply", "StepEnd", "Measure", "Clear", "Restore", "FlagFlip"]
    names += [f"Call({kind})" for kind in ("open", "close", "next")]
    indexed = ("Undo", "CommitState", "CommitIndex", "ApplyCompaction")
    names += [f"{name}({k})" for name in indexed for k in range(bound + 1)]
    return [CORE.event_from_name(name) for name in names]
