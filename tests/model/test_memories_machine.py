"""The memories machine: citations and children's texts after undo, clear and compaction."""

from __future__ import annotations

from dataclasses import replace

from foldproof.explore import plain
from foldproof.explore.trace import run
from foldproof.model.memories import MEMORIES, Citation, MemoriesState, Telling


def _final(trace: str, *without: str) -> MemoriesState:
    events = [MEMORIES.event_from_name(event) for event in trace.split(";")]
    return run(MEMORIES, events, MEMORIES.without(*without))[-1]


def test_a_parent_tells_its_prompts_and_its_children() -> None:
    state = _final("Open; AppendUser; Open; AppendUser; Close; Close")
    parent, child = state.spans
    assert child.telling == Telling((Citation(2, 3),), ())
    assert parent.telling == Telling((Citation(1, 1), Citation(2, 3)), (4,))


def test_an_undo_takes_the_childs_text_back() -> None:
    state = _final("Open; Open; AppendUser; Close; Undo(2); Close; Close")
    parent = state.spans[0]
    assert parent.telling is not None
    assert parent.telling.children == (4,)  # the second close of the child; the first, 3, was taken back
    voided = _final("Open; Open; AppendUser; Close; Undo(2); Close; Close", "M4_notes")
    assert {violation.invariant for violation in MEMORIES.violations(voided)} == {"VOICE"}


def test_ordinals_survive_a_physical_replacement() -> None:
    state = _final("AppendUser; Open; AppendUser; Close; Compact(1)")
    assert state.ordinals == (0, 0, 2, 0)
    assert MEMORIES.violations(state) == []
    counted = _final("AppendUser; Open; AppendUser; Close; Compact(1)", "M1_ordinals")
    assert {violation.invariant for violation in MEMORIES.violations(counted)} == {"CITE"}


def test_reusing_ordinals_is_harmless_only_with_roll_back() -> None:
    """M2 alone breaks nothing within the bound; without M3 as well, a citation points at another prompt."""
    assert not plain.search(MEMORIES, 5, MEMORIES.without("M2_fresh")).violated
    neither = MEMORIES.without("M2_fresh", "M3_roll_back")
    alone = replace(MEMORIES, invariants={"CITE": MEMORIES.invariants["CITE"]})
    result = plain.search(alone, 4, neither)
    trace = "; ".join(map(str, result.counterexamples["CITE"][0].events))
    assert trace == "Open; AppendUser; Close; Undo(1); AppendUser"
    fresh = plain.search(alone, 4, MEMORIES.without("M3_roll_back"))
    assert not fresh.violated
