"""The transition relation and the literal invariants over slots are the model's, exhaustively."""

from __future__ import annotations

import pytest

from foldproof.model.core import CORE
from foldproof.model.design import DESIGN, Clause
from foldproof.proofs.countermodel import state_of
from foldproof.proofs.literal import LITERAL, stepped
from foldproof.proofs.moves import move_of
from foldproof.proofs.slots import abstract, normal

from .agreement import ROOM, transitions


def compare(bound: int, missing: set[Clause]) -> set[str]:
    """Hold every transition's last state equal to the model's; what was violated is returned."""
    design = DESIGN - missing
    seen: set[str] = set()
    for before, event, now in transitions(bound, design):
        moved = stepped(abstract(before, ROOM), move_of(event), design)
        assert normal(moved) == normal(abstract(now, ROOM)), (before, event)
        violated = {violation.invariant for violation in CORE.violations(now)}
        assert {str(name) for name, holds in LITERAL.items() if not holds(moved)} == violated, (before, event)
        seen |= violated
    return seen


VIOLATED_WITHIN_TWO = {
    Clause.D1A_CLEAR: {"IDX", "CAL", "VIEW", "SYNC"},
    Clause.D1A_COMPACT: {"IDX", "SYNC"},
    Clause.D1B: {"CAL"},
    Clause.D1C: {"IDX"},
    Clause.D2_RESUME: {"CAL"},
    Clause.D6_REBASE: {"CAL"},
    Clause.D8: {"SYNC"},
    Clause.D9: {"IDX", "SYNC"},
}


@pytest.mark.parametrize("missing", VIOLATED_WITHIN_TWO)
def test_steps_and_invariants_agree(missing: Clause) -> None:
    assert compare(2, {missing}) >= VIOLATED_WITHIN_TWO[missing] - {"VIEW"}


@pytest.mark.nightly
@pytest.mark.parametrize("missing", [None, *Clause])
def test_steps_and_invariants_agree_deeper(missing: Clause | None) -> None:
    compare(3, {missing} if missing else set())


def test_a_wrong_step_would_be_seen() -> None:
    """The comparison can fail: a step of another design does not agree."""
    differences = 0
    for before, event, now in transitions(2, DESIGN - {Clause.D9}):
        moved = stepped(abstract(before, ROOM), move_of(event), DESIGN)
        differences += normal(moved) != normal(abstract(now, ROOM))
    assert differences


def test_a_state_comes_back_from_its_index_level() -> None:
    for _, _, now in transitions(2, DESIGN):
        slots = normal(abstract(now, ROOM))
        assert normal(abstract(state_of(slots), ROOM)) == slots
