"""The session refines the model: exhaustively within bounds, and every clause taken out is caught."""

from __future__ import annotations

import pytest

from foldproof.model.design import Clause, without
from foldproof.reference.session import Session
from foldproof.stateful_tests.exhaustive import every_sequence, every_transition
from foldproof.stateful_tests.refinement import NotRefinedError


def lacking(clause: Clause) -> type[Session]:
    """A session without one clause of the design."""
    return type(f"Without{clause.name}", (Session,), {"_design": without(clause)})


def test_every_sequence_of_four_events() -> None:
    assert every_sequence(4, bound=6).states == 4_180


def test_every_transition_of_the_model_with_three_messages() -> None:
    """The model's own pins: so no state and no transition was left out."""
    extent = every_transition(3)
    assert (extent.states, extent.transitions) == (5_713, 45_977)
    assert extent.refusals > extent.states


@pytest.mark.nightly
def test_every_transition_of_the_model_with_four_messages() -> None:
    extent = every_transition(4)
    assert (extent.states, extent.transitions) == (34_220, 304_509)


@pytest.mark.nightly
def test_every_sequence_of_six_events() -> None:
    assert every_sequence(6, bound=8).states > 300_000


@pytest.mark.parametrize("clause", list(Clause))
def test_a_session_without_the_clause_does_not_refine(clause: Clause) -> None:
    with pytest.raises((NotRefinedError, LookupError, ValueError)):
        every_transition(4, lacking(clause))
