"""The memories machine: memories that outlive what they tell.

The memory of a closed span may carry the text of its children's memories, and cite prompts by their
ordinals, ``[U1]``. After an undo no citation may point at another prompt than it did, and no text of a
child whose close was taken back may come back. Spans are opened and closed by one message each, committed
at once: receipts and pending transitions are the core's subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from foldproof.model import index
from foldproof.model.alphabet import Alphabet, NamedEvent
from foldproof.model.fold import CORE_COSTS
from foldproof.model.machine import Bounds, Clauses, Machine, Violation
from foldproof.model.state import GONE, Kind, Message, MessageId, Origin, Role

UNDONE: MessageId = -2
"""What stands, in a memory, for a message that an undo or a clear took back after it was told."""


class Clause(StrEnum):
    """What keeps a memory true to what it tells."""

    M1_ORDINALS = "M1_ordinals"
    M2_FRESH = "M2_fresh"
    M3_ROLL_BACK = "M3_roll_back"
    M4_NOTES = "M4_notes"
    M5_CLEAR = "M5_clear"

    @property
    def says(self) -> str:
        """The rule, in one sentence."""
        return _SAYS[self]


_SAYS = {
    Clause.M1_ORDINALS: "a prompt's ordinal is given once and stored, not counted anew",
    Clause.M2_FRESH: "the ordinal of a prompt that was taken back is never given again",
    Clause.M3_ROLL_BACK: "a memory goes with the message that closed its span",
    Clause.M4_NOTES: "a child's text leaves its parent's notes with the message that closed the child",
    Clause.M5_CLEAR: "a clear empties the notes",
}

FAULTS: dict[str, Clauses] = {
    "voided-child": frozenset({Clause.M4_NOTES}),
    "ordinals-counted": frozenset({Clause.M1_ORDINALS}),
    "ordinals-reused": frozenset({Clause.M2_FRESH, Clause.M3_ROLL_BACK}),
}


class Citation(NamedTuple):
    """``[U<ordinal>]`` in a memory's text, and the prompt that it meant when it was written."""

    ordinal: int
    prompt: MessageId


class Telling(NamedTuple):
    """What a memory's text holds: citations, and the children it tells of, each by its closing message."""

    citations: tuple[Citation, ...] = ()
    children: tuple[MessageId, ...] = ()


class Span(NamedTuple):
    """A span of the tree and, when it is closed, what its memory tells."""

    opened_at: int
    closed_at: int | None = None
    telling: Telling | None = None


class Note(NamedTuple):
    """A child's text, kept for the parent that will close: where the child opened, what closed it."""

    opened_at: int
    child: MessageId


class MemoriesState(NamedTuple):
    """``ordinals`` stand beside the history, 0 for what is no prompt; ``summary`` tells what was replaced."""

    history: tuple[Message, ...] = ()
    ordinals: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()
    notes: tuple[Note, ...] = ()
    summary: Telling | None = None
    next_ordinal: int = 1
    next_id: MessageId = 0

    @property
    def cursor(self) -> int | None:
        """Position of the innermost open span."""
        return max((i for i, span in enumerate(self.spans) if span.closed_at is None), default=None)

    @property
    def tellings(self) -> Iterator[Telling]:
        """Everything that a memory tells now."""
        if self.summary is not None:
            yield self.summary
        yield from (span.telling for span in self.spans if span.telling is not None)


@dataclass(frozen=True, slots=True)
class AppendUser(NamedEvent):
    """The user sends a prompt; it is given an ordinal."""


@dataclass(frozen=True, slots=True)
class Open(NamedEvent):
    """A span opens."""


@dataclass(frozen=True, slots=True)
class Close(NamedEvent):
    """The innermost span closes: its memory cites its prompts and carries its children's texts."""


@dataclass(frozen=True, slots=True)
class Undo(NamedEvent):
    """The prompt at index ``cut`` and everything after it is taken back."""

    cut: int


@dataclass(frozen=True, slots=True)
class Clear(NamedEvent):
    """The session is emptied."""


@dataclass(frozen=True, slots=True)
class Compact(NamedEvent):
    """``history[:k]`` is physically replaced by one summary, which cites the prompts that it replaces."""

    k: int


Event: TypeAlias = AppendUser | Open | Close | Undo | Clear | Compact

ALPHABET: Alphabet[Event] = Alphabet(AppendUser, Open, Close, Undo, Clear, Compact)


def enabled(s: MemoriesState, bound: int, design: Clauses) -> Iterator[Event]:
    """The events that a state can take, in order: at most ``bound`` messages, and as many ordinals."""
    length = len(s.history)
    cuts, edges = map(Undo, range(length)), map(Compact, range(1, length + 1))
    candidates: tuple[Event, ...] = (AppendUser(), Open(), Close(), *cuts, Clear(), *edges)
    yield from (event for event in candidates if guard(s, event, design, bound) is None)


def guard(s: MemoriesState, event: Event, design: Clauses, bound: int | None = None) -> str | None:
    """Why an event is not enabled, or None when it is."""
    length = len(s.history)
    match event:
        case Close() if s.cursor is None:
            return "no span is open"
        case AppendUser() if bound is not None and s.next_ordinal > bound:
            return "the ordinals have reached their bound"
        case AppendUser() | Open() | Close():
            return "the history has reached its bound" if bound is not None and length >= bound else None
        case Undo(cut):
            if not 0 <= cut < length or not s.history[cut].is_prompt:
                return f"history[{cut}] is not a prompt"
            return f"{cut} lies before a summary" if any(m.is_summary for m in s.history[cut:]) else None
        case Clear():
            return None if length else "the history is empty"
        case Compact(k):
            if not 1 <= k <= length:
                return f"{k} lies past the history"
            return f"{k} parts a span" if any(index.parts(_indices(span), k) for span in s.spans) else None


def effect(s: MemoriesState, event: Event, design: Clauses) -> MemoriesState:
    """The state after an event whose guard holds."""
    match event:
        case AppendUser():
            s = _appended(s, Role.USER, Origin.USER)
            ordinals = (*s.ordinals[:-1], s.next_ordinal)
            return s._replace(ordinals=ordinals, next_ordinal=s.next_ordinal + 1)
        case Open():
            s = _appended(s, Role.ASSISTANT, Origin.MODEL, Kind.OPEN)
            return s._replace(spans=(*s.spans, Span(len(s.history) - 1)))
        case Close():
            return _closed(s)
        case Undo(cut):
            return _truncated(s, cut, design)
        case Clear():
            notes = () if Clause.M5_CLEAR in design else _mark(s.notes, s.history)
            return MemoriesState(next_id=s.next_id, notes=notes)
        case Compact(k):
            return _compacted(s, k, design)


def _appended(s: MemoriesState, role: Role, origin: Origin, kind: Kind | None = None) -> MemoriesState:
    message = Message(s.next_id, role, origin, CORE_COSTS.message, None, kind)
    return s._replace(history=(*s.history, message), ordinals=(*s.ordinals, 0), next_id=s.next_id + 1)


def _closed(s: MemoriesState) -> MemoriesState:
    """The span's memory cites the prompts in it and carries the notes taken since it opened."""
    cursor = s.cursor
    assert cursor is not None  # the guard of Close
    opened_at, carrier = s.spans[cursor].opened_at, len(s.history)
    children = tuple(note.child for note in s.notes if note.opened_at > opened_at)
    span = Span(
        opened_at, index.carrier_closes_at(carrier), Telling(_citations(s, opened_at, carrier), children)
    )
    s = _appended(s, Role.ASSISTANT, Origin.MODEL, Kind.CLOSE)
    taken = tuple(note for note in s.notes if note.opened_at <= opened_at)
    return s._replace(
        spans=(*s.spans[:cursor], span, *s.spans[cursor + 1 :]),
        notes=(*taken, Note(opened_at, s.history[carrier].id)),
    )


def _citations(s: MemoriesState, start: int, end: int) -> tuple[Citation, ...]:
    return tuple(
        Citation(s.ordinals[i], s.history[i].id) for i in range(start, end) if s.history[i].is_prompt
    )


def _truncated(s: MemoriesState, cut: int, design: Clauses) -> MemoriesState:
    removed, notes, reused = s.history[cut:], s.notes, s.ordinals[cut]
    s = s._replace(history=s.history[:cut], ordinals=s.ordinals[:cut])
    spans = tuple(
        span._replace(closed_at=span.closed_at if kept else None, telling=span.telling if kept else None)
        for span in s.spans
        if span.opened_at < cut
        for kept in (span.closed_at is not None and span.closed_at + 1 < cut,)
    )
    if Clause.M3_ROLL_BACK not in design:  # the snapshot's clamping: the span is cut short, its memory stays
        spans = tuple(
            span if span.closed_at is None else span._replace(closed_at=min(span.closed_at, cut - 1))
            for span in s.spans
            if span.opened_at < cut
        )
    if Clause.M4_NOTES in design:
        gone = {m.id for m in removed}
        notes = tuple(note for note in notes if note.child not in gone)
    if Clause.M2_FRESH not in design:
        s = s._replace(next_ordinal=reused)
    spans = tuple(span._replace(telling=_undone(span.telling, removed)) for span in spans)
    return s._replace(spans=spans, notes=_mark(notes, removed))


def _compacted(s: MemoriesState, k: int, design: Clauses) -> MemoriesState:
    earlier = s.summary.citations if s.summary is not None else ()
    summary = Message(s.next_id, Role.USER, Origin.SUMMARY, CORE_COSTS.summary)
    moved = tuple(
        span._replace(
            opened_at=index.translate(span.opened_at, k),
            closed_at=None if span.closed_at is None else index.translate(span.closed_at, k),
        )
        for span in s.spans
        if span.opened_at >= k
    )
    notes = tuple(n._replace(opened_at=index.translate(n.opened_at, k)) for n in s.notes if n.opened_at >= k)
    ordinals = (0, *s.ordinals[k:])
    if Clause.M1_ORDINALS not in design:  # counted anew over the prompts that are stored
        counted = iter(range(1, len(ordinals) + 1))
        ordinals = tuple(next(counted) if ordinal else 0 for ordinal in ordinals)
    return s._replace(
        history=(summary, *s.history[k:]),
        ordinals=ordinals,
        spans=moved,
        notes=notes,
        summary=Telling((*earlier, *_citations(s, 0, k))),
        next_id=s.next_id + 1,
    )


def _undone(telling: Telling | None, removed: tuple[Message, ...]) -> Telling | None:
    """Mark what a surviving memory tells although it was taken back."""
    if telling is None:
        return None
    gone = {m.id for m in removed}
    return Telling(
        tuple(c._replace(prompt=UNDONE if c.prompt in gone else c.prompt) for c in telling.citations),
        tuple(UNDONE if child in gone else child for child in telling.children),
    )


def _mark(notes: tuple[Note, ...], removed: tuple[Message, ...]) -> tuple[Note, ...]:
    gone = {m.id for m in removed}
    return tuple(note._replace(child=UNDONE) if note.child in gone else note for note in notes)


def _indices(span: Span) -> index.Span:
    closed_at = span.closed_at
    return index.Span(True, span.opened_at, closed_at is not None, 0 if closed_at is None else closed_at)


def inv_cite(s: MemoriesState) -> Violation | None:
    """CITE: the prompt that bears a cited ordinal is the one that the memory meant."""
    bearers = {ordinal: m.id for ordinal, m in zip(s.ordinals, s.history, strict=True) if ordinal}
    ordinals = {m.id: ordinal for ordinal, m in zip(s.ordinals, s.history, strict=True)}
    for telling in s.tellings:
        for ordinal, prompt in telling.citations:
            bearer = bearers.get(ordinal, prompt)
            if bearer != prompt or ordinals.get(prompt, ordinal) != ordinal:
                return Violation(
                    "CITE", f"[U{ordinal}] == what it meant", f"{bearer}", f"{prompt}", "a citation"
                )
    return None


def inv_voice(s: MemoriesState) -> Violation | None:
    """VOICE: no memory tells what was taken back: neither a prompt, nor a child whose close is undone."""
    for telling in s.tellings:
        if UNDONE in telling.children or any(c.prompt == UNDONE for c in telling.citations):
            return Violation("VOICE", "told => not taken back", f"{telling}", "taken back", "a memory")
    return None


def canonical(s: MemoriesState) -> MemoriesState:
    """The representative of a state: ids are renamed by position; those no longer stored are alike."""
    names = {m.id: position for position, m in enumerate(s.history)} | {UNDONE: UNDONE}

    def rename(telling: Telling | None) -> Telling | None:
        if telling is None:
            return None
        cited = tuple(c._replace(prompt=names.get(c.prompt, GONE)) for c in telling.citations)
        return Telling(cited, tuple(names.get(child, GONE) for child in telling.children))

    return s._replace(
        history=tuple(m._replace(id=position) for position, m in enumerate(s.history)),
        spans=tuple(span._replace(telling=rename(span.telling)) for span in s.spans),
        notes=tuple(dict.fromkeys(note._replace(child=names.get(note.child, GONE)) for note in s.notes)),
        summary=rename(s.summary),
        next_id=len(s.history),
    )


INVARIANTS: dict[str, Callable[[MemoriesState], Violation | None]] = {"CITE": inv_cite, "VOICE": inv_voice}

MEMORIES: Machine[MemoriesState, Event] = Machine(
    name="memories",
    initial=MemoriesState(),
    clauses=tuple(Clause),
    faults=FAULTS,
    invariants=INVARIANTS,
    enabled=enabled,
    guard=guard,
    effect=effect,
    canonical=canonical,
    event_from_name=ALPHABET.read,
    bounds=Bounds(check=4, matrix=4),
)
