"""The pass machine: shapes, crashes and resumes, scenario by scenario."""

from __future__ import annotations

import pytest

from foldproof.explore import plain
from foldproof.explore.trace import record, run
from foldproof.model.passes import PASS
from foldproof.model.passes_state import Checkpoint, Class, PassState, Phase, flatten
from foldproof.report.text import trace_lines

FIRST_PASS = "AppendUser; AppendUser; Begin(2); StubDone(0); StateDone; Guard; Commit"


def _final(trace: str, *without: str) -> PassState:
    events = [PASS.event_from_name(event) for event in trace.split(";")]
    return run(PASS, events, PASS.without(*without))[-1]


def _kinds(state: PassState) -> list[str]:
    return [item.kind if isinstance(item, Checkpoint) else item.letter for item in state.surface]


def test_a_pass_leaves_stubs_state_and_tail() -> None:
    state = _final(FIRST_PASS + "; Commit; AppendUser")
    assert _kinds(state) == [Class.STUB, Class.STATE, "U"]


def test_the_superseded_state_folds_into_the_first_chunk() -> None:
    second = "; Commit; AppendUser; AppendUser; Begin(2); StubDone(0); StateDone; Guard; Commit; Commit"
    state = _final(FIRST_PASS + second)
    assert _kinds(state) == [Class.STUB, Class.STUB, Class.STATE]
    folded = state.surface[1]
    assert isinstance(folded, Checkpoint)
    inner = folded.covers[0]
    assert isinstance(inner, Checkpoint)
    assert inner.kind is Class.STATE
    assert tuple(flatten([inner])) == (1,)
    assert folded.told == (2,)  # the stub's text leaves the folded state out


def test_a_crash_while_summarising_leaves_nothing() -> None:
    state = _final("AppendUser; AppendUser; Begin(2); StubDone(0); Crash")
    assert (state.phase, _kinds(state)) == (Phase.IDLE, ["U", "U"])


def test_a_crash_while_committing_is_resumed_whatever_the_size() -> None:
    torn = _final(FIRST_PASS + "; Crash")
    assert (torn.phase, _kinds(torn)) == (Phase.TORN, [Class.STUB, "U"])
    resumed = _final(FIRST_PASS + "; Crash; AppendUser; Resume; StateInflates; Guard; Commit")
    assert _kinds(resumed) == [Class.STUB, Class.STATE, "U"]
    state = resumed.surface[1]
    assert isinstance(state, Checkpoint)
    assert state.told == (0, 1)  # the chunk that had committed before the crash included


def test_a_failed_stub_call_becomes_a_pointer() -> None:
    state = _final("AppendUser; AppendUser; Begin(2); StubFails(0); StateDone; Guard; Commit; Commit")
    stub = state.surface[0]
    assert isinstance(stub, Checkpoint)
    assert (stub.told, stub.footer) == ((), (0, 0))
    assert PASS.violations(state) == []


def test_a_failed_state_call_fails_the_pass() -> None:
    state = _final("AppendUser; AppendUser; Begin(2); StateFails")
    assert (state.phase, _kinds(state), state.late) == (Phase.IDLE, ["U", "U"], (0, (0,)))


def test_the_guard_refuses_and_defers() -> None:
    refused = _final("AppendUser; Begin(1); StateInflates; Guard")
    assert (refused.phase, refused.refused) == (Phase.IDLE, 1)
    begin = PASS.event_from_name("Begin(1)")
    assert PASS.guard(refused, begin, PASS.design, 3) == "the guard refused, and no more history is stale"
    with_more = _final("AppendUser; Begin(1); StateInflates; Guard; AppendUser; Begin(2)")
    assert with_more.phase is Phase.SUMMARISING


def test_a_second_pass_is_refused_while_one_runs() -> None:
    with pytest.raises(ValueError, match="a pass is running"):
        _final("AppendUser; AppendUser; Begin(1); Begin(2)")


def test_a_torn_pass_keeps_its_boundary() -> None:
    with pytest.raises(ValueError, match="lies before the retain boundary"):
        _final(FIRST_PASS + "; Crash; Undo(1)")
    assert {
        v.invariant for v in PASS.violations(_final(FIRST_PASS + "; Crash; Undo(1); Resume", "R17_boundary"))
    } == {"LAYOUT"}


def test_consolidating_stubs_breaks_frozen() -> None:
    """The rejected alternative: a stub lies in a later region."""
    result = plain.search(PASS, 3, PASS.without("R2_frozen"))
    trace = "; ".join(map(str, result.counterexamples["FROZEN"][0].events))
    first = "AppendUser; AppendUser; LegacyHead(1); Begin(1); StateDone; Guard; Commit"
    assert trace == first + "; Crash; Resume; StateDone; Guard; Commit"
    state = _final(
        FIRST_PASS + "; Commit; AppendUser; AppendUser; Begin(2); StubDone(0); StateDone; Guard; Commit",
        "R2_frozen",
    )
    assert "FROZEN" in {violation.invariant for violation in PASS.violations(state)}


def test_a_trace_of_a_pass_reads_as_one() -> None:
    events = [PASS.event_from_name(event) for event in (FIRST_PASS + "; Commit").split(";")]
    lines = "\n".join(trace_lines(record(PASS, events, PASS.design, 2)))
    assert "surface: [U#0 U#1] -> [stub(U#0) U#1]" in lines
    assert (
        "regions: [stub(U#0) answered state(U#1) asked] -> [stub(U#0) answered state(U#1) answered]" in lines
    )
    assert "surface: [stub(U#0) U#1] -> [stub(U#0) state(U#1)]" in lines
