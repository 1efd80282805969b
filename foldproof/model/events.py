"""The core alphabet: the twelve events that move a session, and their names in traces."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias

from foldproof.model.alphabet import NamedEvent
from foldproof.model.state import Kind


@dataclass(frozen=True, slots=True)
class AppendUser(NamedEvent):
    """The user sends a prompt."""


@dataclass(frozen=True, slots=True)
class AppendReply(NamedEvent):
    """The model replies without a transition."""


@dataclass(frozen=True, slots=True)
class Call(NamedEvent):
    """The model calls open, close or next, and the call is accepted: carrier and receipt are stored."""

    transition: Kind


@dataclass(frozen=True, slots=True)
class StepEnd(NamedEvent):
    """The step ends: a pending transition whose receipt is found is committed to the tree."""


@dataclass(frozen=True, slots=True)
class Measure(NamedEvent):
    """A provider reports the size of the view that it was sent."""


@dataclass(frozen=True, slots=True)
class Undo(NamedEvent):
    """The user takes back the prompt at index ``cut`` and everything after it."""

    cut: int


@dataclass(frozen=True, slots=True)
class Clear(NamedEvent):
    """The user empties the session."""


@dataclass(frozen=True, slots=True)
class CommitState(NamedEvent):
    """A compaction writes the state memory up to edge ``k`` (the seed's ``RootCompact``)."""

    k: int


@dataclass(frozen=True, slots=True)
class CommitIndex(NamedEvent):
    """A compaction freezes an index memory up to edge ``k``; a state memory is folded into it."""

    k: int


@dataclass(frozen=True, slots=True)
class ApplyCompaction(NamedEvent):
    """With the fold off, ``history[:k]`` is physically replaced by one summary message."""

    k: int


@dataclass(frozen=True, slots=True)
class Restore(NamedEvent):
    """A crash and a resume: what lives only in memory is lost and rebuilt from what is stored."""


@dataclass(frozen=True, slots=True)
class FlagFlip(NamedEvent):
    """The fold is switched on or off while the session runs."""


Event: TypeAlias = (
    AppendUser
    | AppendReply
    | Call
    | StepEnd
    | Measure
    | Undo
    | Clear
    | CommitState
    | CommitIndex
    | ApplyCompaction
    | Restore
    | FlagFlip
)


EVENT_TYPES: tuple[type[Event], ...] = (
    AppendUser,
    AppendReply,
    Call,
    StepEnd,
    Measure,
    Undo,
    Clear,
    CommitState,
    CommitIndex,
    ApplyCompaction,
    Restore,
    FlagFlip,
)

_PLAIN: dict[str, Callable[[], Event]] = {
    event_type.__name__: event_type
    for event_type in (AppendUser, AppendReply, StepEnd, Measure, Clear, Restore, FlagFlip)
}
_INDEXED: dict[str, Callable[[int], Event]] = {
    event_type.__name__: event_type for event_type in (Undo, CommitState, CommitIndex, ApplyCompaction)
}
_SPELLING = re.compile(r"(?P<name>[A-Za-z]+)(?:\((?P<argument>[a-z]+|-?[0-9]{1,9})\))?")


def event_from_name(text: str) -> Event:
    """The event that a trace spells this way: the inverse of ``str(event)``.

    Raises ValueError, naming the text and the events that exist, for anything else.
    """
    match = _SPELLING.fullmatch(text.replace(" ", ""))
    if match is not None:
        name, argument = match["name"], match["argument"]
        if argument is None and name in _PLAIN:
            return _PLAIN[name]()
        if name == Call.__name__ and argument in tuple(Kind):
            return Call(Kind(argument))
        if name in _INDEXED and argument is not None and not argument.isalpha():
            return _INDEXED[name](int(argument))
    raise ValueError(f"unknown event {text[:60]!r}; events are {', '.join(SPELLINGS)}")


SPELLINGS: tuple[str, ...] = tuple(
    event_type.__name__
    if not fields(event_type)
    else f"Call({'|'.join(Kind)})"
    if event_type is Call
    else f"{event_type.__name__}({fields(event_type)[0].name})"
    for event_type in EVENT_TYPES
)
"""How each event is spelled, for messages: ``AppendUser``, ``Call(open|close|next)``, ``Undo(cut)``."""
