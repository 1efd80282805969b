"""The asynchronous machine: what interleavings and interruptions do, scenario by scenario."""

from __future__ import annotations

import pytest

from foldproof.explore import plain
from foldproof.explore.trace import record, run
from foldproof.model.asynchronous import ASYNC, AsyncState
from foldproof.model.core import CORE
from foldproof.model.fold import flatten, view
from foldproof.model.state import Gauge, ids
from foldproof.report.text import trace_lines

INTERRUPTED = "Call(open); StepEnd; Call(close); Abort; AppendUser; StepEnd"


def _final(trace: str, *without: str) -> AsyncState:
    events = [ASYNC.event_from_name(event) for event in trace.split(";")]
    return run(ASYNC, events, ASYNC.without(*without))[-1]


def _broken(state: AsyncState) -> set[str]:
    return {violation.invariant for violation in ASYNC.violations(state)}


def test_an_interrupted_step_swallows_the_next_prompt() -> None:
    """Accepted, receipt stored, step aborted, the next step begins: the prompt that began it is hidden."""
    state = _final(INTERRUPTED, "A2_settle", "A3_anchor")
    prompt = state.session.history[4]
    assert prompt.is_prompt
    assert prompt.id not in flatten(view(state.session))
    assert "VIEW" in _broken(state)


@pytest.mark.parametrize("kept", [("A2_settle",), ("A3_anchor",), ()])
def test_either_clause_saves_the_prompt(kept: tuple[str, ...]) -> None:
    state = _final(INTERRUPTED, *kept)
    assert flatten(view(state.session)) == ids(state.session.history)
    assert _broken(state) == set()


def test_a_compaction_that_lands_on_an_interrupted_step() -> None:
    """The issue's sequence: with a compaction landing between the abort and the next step."""
    landing = "Call(open); StepEnd; Call(close); Abort; Begin(4); Summarise; Land; AppendUser; StepEnd"
    assert _broken(_final(landing)) == set()
    lost = "Call(open); StepEnd; Call(close); Abort; Begin(2); Summarise; Land; AppendUser; StepEnd"
    assert "SYNC" in _broken(_final(lost, "A1_mutex", "A2_settle"))
    with pytest.raises(ValueError, match="a transition is pending"):
        _final(lost, "A2_settle")  # with the mutex it cannot land there
    moved = "Call(open); Abort; Begin(2); Summarise; Land; AppendUser; StepEnd"
    state = _final(moved, "A1_mutex", "A2_settle", "A3_anchor")
    assert state.session.tree.nodes[-1].opened_at == 2  # the span opens at the user's prompt
    assert "SYNC" in _broken(state)


def test_settling_and_anchoring_cover_each_other() -> None:
    """Without A3 alone nothing breaks: under A2 nothing is left over. Without both, SYNC breaks."""
    neither = ASYNC.without("A2_settle", "A3_anchor")
    result = plain.search(ASYNC, 3, neither, max_depth=4)
    assert "; ".join(map(str, result.counterexamples["SYNC"][0].events)) == "Call(open); Abort; StepEnd"


def test_a_crash_loses_the_compaction_and_settles_the_transition() -> None:
    state = _final("Call(open); Begin(2); Summarise; Restore")
    assert state.in_flight is None
    assert len(state.session.tree.nodes) == 1


def test_what_was_undone_meanwhile_does_not_land() -> None:
    state = _final("AppendUser; Begin(1); Undo(0); AppendUser; Summarise; Land")
    assert state.in_flight is None
    assert state.session.tree.state is None
    assert "VIEW" in _broken(_final("AppendUser; Begin(1); Undo(0); AppendUser; Summarise; Land", "A4_fresh"))


def test_compactions_begin_and_land_only_here() -> None:
    with pytest.raises(ValueError, match="begin and land here"):
        ASYNC.event_from_name("CommitState(1)")
    event = CORE.event_from_name("CommitState(1)")
    assert ASYNC.guard(AsyncState(), event, ASYNC.design, 3) == "compactions begin and land here"


def test_the_core_invariants_are_checked_of_the_session() -> None:
    session = _final("AppendUser").session
    assert _broken(AsyncState(session._replace(last_observed=7))) == {"IDX"}
    assert _broken(AsyncState(session._replace(gauge=Gauge(1, 7)))) == {"CAL"}


def test_a_trace_shows_the_session_as_the_core_does() -> None:
    events = [ASYNC.event_from_name(event) for event in ("AppendUser", "Begin(1)", "Summarise", "Land")]
    lines = "\n".join(trace_lines(record(ASYNC, events, ASYNC.design, 2)))
    assert "history U#0   view U#0" in lines
    assert "in_flight: none -> {k 1, covers [0], summarised false}" in lines
    assert "state memory: none -> [#0]" in lines
