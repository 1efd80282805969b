"""What each event needs: its guard, stated once, and the events that a state can take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from foldproof.model import index
from foldproof.model.design import DESIGN, Clause
from foldproof.model.events import (
    AppendReply,
    AppendUser,
    ApplyCompaction,
    Call,
    Clear,
    CommitIndex,
    CommitState,
    Event,
    FlagFlip,
    Measure,
    Restore,
    StepEnd,
    Undo,
)
from foldproof.model.machine import Clauses
from foldproof.model.state import Kind, State
from foldproof.model.tree import is_edge


class NotEnabledError(ValueError):
    """An event was applied to a state in which its guard does not hold."""


def enabled(s: State, bound: int, design: Clauses = DESIGN) -> Iterator[Event]:
    """The events that a state whose history may hold at most ``bound`` messages can take, in order."""
    for event in _candidates(s):
        if guard(s, event, design, bound) is None:
            yield event


def _candidates(s: State) -> Iterator[Event]:
    length = len(s.history)
    yield AppendUser()
    yield AppendReply()
    yield from map(Call, Kind)
    yield StepEnd()
    yield Measure()
    yield from map(Undo, range(length))
    yield Clear()
    yield from map(CommitState, range(length + 1))
    yield from map(CommitIndex, range(length + 1))
    yield from map(ApplyCompaction, range(length + 1))
    yield Restore()
    yield FlagFlip()


def guard(s: State, event: Event, design: Clauses = DESIGN, bound: int | None = None) -> str | None:
    """Why an event is not enabled, or None when it is. ``bound`` limits the length of the history."""
    length = len(s.history)
    room = None if bound is None else bound - length
    match event:
        case AppendUser() | AppendReply():
            if s.pending is not None:
                return "a transition is pending"
            if room is not None and room < 1:
                return "the history has reached its bound"
        case Call(transition):
            if not s.enabled:
                return "the fold is off"
            if s.pending is not None:
                return "a transition is pending"
            if room is not None and room < 2:
                return "the history has no room for a carrier and its receipt"
            if transition.closes and s.cursor is None:
                return "the current epoch has no open node"
        case StepEnd():
            if not s.enabled:
                return "the fold is off"
        case Undo(cut):
            return _guard_undo(s, cut, design)
        case Clear():
            if not s.history:
                return "the history is empty"
        case CommitState(k) | CommitIndex(k):
            if not s.enabled:
                return "the fold is off"
            strictly = isinstance(event, CommitState)
            if not index.is_past(k, s.tree.epoch_start_at, s.tree.frozen_end, strictly):
                return f"{k} is not past what is already folded"
            return _guard_compaction(s, k, design)
        case ApplyCompaction(k):
            if s.enabled:
                return "the fold is on"
            if k < 1:
                return "there is no prefix to replace"
            return _guard_compaction(s, k, design)
        case Measure() | Restore() | FlagFlip():
            return None
        case _:
            assert_never(event)
    return None


def _guard_undo(s: State, cut: int, design: Clauses) -> str | None:
    if not 0 <= cut < len(s.history) or not s.history[cut].is_prompt:
        return f"history[{cut}] is not a prompt"
    if Clause.D4 in design and cut < s.tree.epoch_start_at:
        return f"{cut} lies before the epoch boundary {s.tree.epoch_start_at}"
    if any(message.is_summary for message in s.history[cut:]):
        return f"{cut} lies before a summary"
    return None


def _guard_compaction(s: State, k: int, design: Clauses) -> str | None:
    if Clause.D5 in design and s.pending is not None:
        return "a transition is pending"
    if k > len(s.history):
        return f"{k} lies past the history"
    if not is_edge(s, k):
        return f"{k} is not an edge"
    return None
