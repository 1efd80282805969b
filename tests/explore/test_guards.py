"""Each guard has a mutant: dropped, it changes the pinned counts or breaks an invariant or the model."""

from dataclasses import replace

import pytest

from foldproof.explore.plain import search, transitions_breadth_first
from foldproof.model.core import CORE
from foldproof.model.guards import _candidates
from foldproof.model.machine import Clauses
from foldproof.model.state import State

BOUND, STATES, TRANSITIONS = 3, 5_713, 45_977

REASONS = (
    "a transition is pending",
    "the history has reached its bound",
    "the fold is off",
    "the fold is on",
    "the history has no room for a carrier and its receipt",
    "the current epoch has no open node",
    "the history is empty",
    "is not past what is already folded",
    "there is no prefix to replace",
    "is not a prompt",
    "lies before the epoch boundary",
    "is not an edge",
)
"""Why an event may be refused.

Two more reasons never come up in a search and are tested apart: a candidate never lies past the
history, and a summary only ever stands first, where no prompt can be (docs/findings.md).
"""


def without_guard(reason: str) -> object:
    def enabled(s: State, bound: int, design: Clauses) -> list[object]:
        refusals = ((event, CORE.guard(s, event, design, bound)) for event in _candidates(s))
        return [event for event, why in refusals if why is None or reason in why]

    return replace(CORE, enabled=enabled)


@pytest.mark.parametrize("reason", REASONS)
def test_a_dropped_guard_is_noticed(reason: str) -> None:
    try:
        result = search(without_guard(reason), BOUND, max_states=4 * STATES)  # type: ignore[arg-type]
    except (IndexError, TypeError, ValueError):
        return  # an effect that is not defined there says so itself
    assert (result.states, result.transitions) != (STATES, TRANSITIONS) or result.violated


def test_every_reason_is_given_by_some_state() -> None:
    given: set[str] = set()
    result = search(CORE, 2)
    assert result.complete
    seen, frontier = {CORE.initial}, [CORE.initial]
    while frontier:
        reached = []
        for state in frontier:
            for event in _candidates(state):
                why = CORE.guard(state, event, CORE.design, 2)
                if why is not None:
                    given |= {reason for reason in REASONS if reason in why}
                    assert any(reason in why for reason in REASONS), why
                    continue
                after = CORE.canonical(CORE.effect(state, event, CORE.design))
                if after not in seen:
                    seen.add(after)
                    reached.append(after)
        frontier = reached
    assert given == set(REASONS)


def test_a_boundary_past_the_history_is_refused() -> None:
    state = CORE.effect(CORE.initial, CORE.event_from_name("AppendUser"), CORE.design)
    why = CORE.guard(state, CORE.event_from_name("CommitState(2)"), CORE.design, None)
    assert why == "2 lies past the history"


def test_an_undo_does_not_reach_behind_a_summary() -> None:
    state = CORE.initial
    for name in ("AppendUser", "AppendUser", "FlagFlip", "ApplyCompaction(1)"):
        state = CORE.effect(state, CORE.event_from_name(name), CORE.design)
    summary, prompt = state.history
    turned = state._replace(history=(prompt, summary))
    assert CORE.guard(turned, CORE.event_from_name("Undo(0)"), CORE.design, None) == "0 lies before a summary"


def test_a_summary_only_ever_stands_first() -> None:
    for _, _, after, _ in transitions_breadth_first(CORE, BOUND, CORE.design):
        assert not any(message.is_summary for message in after.history[1:])
