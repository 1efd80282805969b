"""The budget machine: the seed's findings, scenario by scenario."""

from __future__ import annotations

import pytest

from foldproof.explore import plain
from foldproof.explore.trace import run
from foldproof.model.budget import BUDGET
from foldproof.model.budget_state import BudgetState, Sizes, Window

USELESS = "AppendUser; AppendUser; BeforeStep; Land(1)"


def _final(trace: str, *without: str) -> BudgetState:
    events = [BUDGET.event_from_name(event) for event in trace.split(";")]
    return run(BUDGET, events, BUDGET.without(*without))[-1]


def _starts(trace: str, *without: str) -> bool:
    decision = _final(trace, *without).decision
    assert decision is not None
    return decision.starts


def test_windows_have_the_thresholds_that_their_page_says() -> None:
    assert (Window.SMALL.limit, Window.LARGE.limit) == (4, 6)


def test_a_crossed_threshold_starts_one_compaction() -> None:
    assert not _starts("AppendUser; BeforeStep")
    assert _starts("AppendUser; AppendUser; BeforeStep")
    assert not _starts("AppendUser; AppendUser; BeforeStep; BeforeStep")


@pytest.mark.parametrize(
    ("then", "starts"),
    [
        ("BeforeStep", False),
        ("AppendUser; BeforeStep", False),
        ("Restore; BeforeStep", False),
        ("Rejected", False),
        ("SwitchModel; SwitchModel; BeforeStep", True),
        ("Undo(1); AppendUser; BeforeStep", True),
        ("Clear; AppendUser; AppendUser; BeforeStep", True),
    ],
)
def test_a_useless_compaction_pauses_until_history_or_window_change(then: str, starts: bool) -> None:
    assert _starts(f"{USELESS}; {then}") is starts


def test_a_413_is_an_overflow_by_the_view() -> None:
    """Repro C of the seed: a small view over a large history."""
    folded = "AppendUser; AppendUser; AppendUser; Fold; Rejected"
    assert not _starts(folded)
    assert _starts(folded, "B2_rejected")


def test_a_summary_is_given_the_epoch_and_the_previous_memory() -> None:
    """Repro A of the seed: the input grows with the session only without B3."""
    twice = "AppendUser; AppendUser; BeforeStep; Land(0); AppendUser; AppendUser; BeforeStep"
    for without, tokens in (((), 5), (("B3_input",), 9)):
        decision = _final(twice, *without).decision
        assert decision is not None
        assert decision.given == tokens


def test_the_status_line_shows_both_sizes_of_the_same_moment() -> None:
    state = _final("AppendUser; AppendUser; Fold; AppendUser")
    assert state.published == Sizes(projected=3, raw=6)
    stale = _final("AppendUser; AppendUser; Measure; Undo(2)", "B11_history")
    assert (stale.stored, stale.published) == (0, Sizes(projected=4, raw=4))


def test_an_upshift_that_keeps_the_pause_never_compacts_again() -> None:
    """v0.2.1, F2: PAUSED breaks; or DUE, where what the compaction left reaches the larger threshold too."""
    result = plain.search(BUDGET, 4, BUDGET.without("B7_up"))
    assert len(result.counterexamples["PAUSED"][0].events) == 5
    assert len(result.counterexamples["DUE"][0].events) == 7
