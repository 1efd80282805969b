"""The budget controller: whether a pass starts. One for every compactor; it looks and changes nothing.

Source: the kernel's budget machine (`foldproof.model.budget`), which it refines.
"""

from __future__ import annotations

from enum import StrEnum

from foldproof.reference.session import Session


class Verdict(StrEnum):
    """Why a pass starts, or why none does."""

    DUE = "due"
    BELOW = "the view is below the threshold"
    RUNNING = "a pass runs already"
    FUTILE = "the last pass left a view that reaches the threshold, and nothing has changed that"
    SPENT = "the turn has started all the passes that an overflow may start"

    @property
    def is_overflow(self) -> bool:
        """The view reaches the threshold: a request that was rejected was too long."""
        return self is not Verdict.BELOW


def verdict(session: Session, *, overflow: bool) -> Verdict:
    """What the budget says before a request, or (``overflow``) after a provider called one too long.

    Both go by the size of the view, never of the stored history.
    """
    if session.trigger < session.settings.threshold_tokens:
        return Verdict.BELOW
    if session.pass_runs:
        return Verdict.RUNNING
    if session.futile:
        return Verdict.FUTILE
    if overflow and session.overflow_passes >= session.settings.overflow_passes:
        return Verdict.SPENT
    return Verdict.DUE
