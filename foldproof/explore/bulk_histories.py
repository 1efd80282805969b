"""Histories as bytes, one for each message, and what each event makes of them.

What the messages of a canonical history have in common is their *class*: everything but the id, which is
the position, and the call, which counts from there. So a history is a string of classes, and an event's
effect on it a *template*: new classes, a stretch of the old ones, new classes.

A template is what the model makes of a representative: the history in which all messages but summaries,
and the one at the event's own index, are prompts. That an event's effect on the history looks at nothing
else is an assumption on the model, one of those that the audit watches over
(`foldproof.explore.bulk_tables`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

from foldproof.explore.bulk_low import UnsupportedError
from foldproof.explore.bulk_memo import ClauseMemo
from foldproof.model.events import Event
from foldproof.model.machine import Clauses, Machine
from foldproof.model.state import GONE, Message, MessageId, Node, Origin, Role, State, Tree

Messages: TypeAlias = tuple[Message, ...]

MOST = 32
"""Messages of the longest history: a bound's and those that one event appends."""

_CALLS_NONE_STORED = 1 << 20
"""The call of a class whose carrier is no longer stored: no distance."""

FORBIDS_NOTHING = Tree(nodes=(Node(0),))
"""A tree with one open node: every call may be made, no boundary is in the way."""


def prompt(position: int, tokens: int) -> Message:
    """A prompt of this many tokens, at its place."""
    return Message(position, Role.USER, Origin.USER, tokens)


class Classes:
    """The classes of messages met so far, numbered, and the way between messages and classes."""

    def __init__(self) -> None:
        self._number: dict[Message, int] = {}
        self._at: list[list[Message]] = []  # by class: the message at each position
        self._tables: dict[Callable[[Message], bool], bytes] = {}

    def encode(self, messages: Messages) -> bytes:
        """The classes of a canonical history."""
        return bytes([self._of(message, position) for position, message in enumerate(messages)])

    def decode(self, code: bytes) -> Messages:
        """The inverse of `encode`."""
        at = self._at
        return tuple([at[number][position] for position, number in enumerate(code)])

    def representative(self, number: int) -> Message:
        """The message of a class that stands at position 0."""
        return self._at[number][0]

    def plain(self, code: bytes, kept: Callable[[Message], bool]) -> bytes:
        """A history in which all messages but those ``kept`` are prompts of their size."""
        return code.translate(self._tables.get(kept) or self._table(kept))

    def _table(self, kept: Callable[[Message], bool]) -> bytes:
        for at in list(self._at):
            self._of(prompt(0, at[0].tokens), 0)
        flat = [n if kept(at[0]) else self._of(prompt(0, at[0].tokens), 0) for n, at in enumerate(self._at)]
        table = self._tables[kept] = bytes(flat).ljust(256, b"\0")
        return table

    def _of(self, message: Message, position: int) -> int:
        call = message.call
        if message.id != position:
            raise ValueError(f"the history is not canonical: {message} stands at {position}")
        if call is not None:
            call = _CALLS_NONE_STORED if call == GONE else call - position
        bare = message._replace(id=0, call=call)
        known = self._number.get(bare)
        if known is None:
            known = self._number[bare] = len(self._at)
            if known > 255:
                raise UnsupportedError("histories have more than 256 kinds of messages: use the plain engine")
            self._at.append([_placed(bare, place) for place in range(MOST)])
            self._tables.clear()
        return known


def _placed(bare: Message, position: int) -> Message:
    call: MessageId | None = bare.call
    if call is not None:
        call = GONE if call == _CALLS_NONE_STORED else call + position
    return bare._replace(id=position, call=call)


def is_summary(message: Message) -> bool:
    """What an event may look at wherever it stands in the history: a summary."""
    return message.is_summary


def is_call(message: Message) -> bool:
    """What a commit looks at: carriers and receipts."""
    return message.is_carrier or message.is_receipt


def is_no_talk(message: Message) -> bool:
    """Both."""
    return is_summary(message) or is_call(message)


class Template(NamedTuple):
    """A history after an event: ``before``, then the stretch ``[first, last)`` of the old one, ``after``."""

    before: bytes
    first: int
    last: int
    after: bytes

    def __call__(self, code: bytes) -> bytes:
        return self.before + code[self.first : self.last] + self.after


class HistoryEvents:
    """What the events of one search make of histories."""

    def __init__(
        self,
        machine: Machine[State, Event],
        classes: Classes,
        events: list[Event],
        bound: int,
        design: Clauses,
        memo: ClauseMemo[Template | None],
    ) -> None:
        self._machine, self._classes, self._memo = machine, classes, memo
        self._bound, self._design = bound, design
        self._numbers: dict[int | None, list[tuple[int, Event]]] = {}
        for number, event in enumerate(events):
            self._numbers.setdefault(index_of(event), []).append((number, event))
        self._templates: dict[tuple[int | None, bytes], list[tuple[int, Template]]] = {}

    def after(self, code: bytes) -> list[tuple[int, bytes]]:
        """The events that a history allows, by number, and the history after each."""
        flat = self._classes.plain(code, is_summary)
        found: list[tuple[int, bytes]] = []
        for index in self._numbers:
            if index is None or index >= len(code):
                key = index, flat
            else:
                key = index, flat[:index] + code[index : index + 1] + flat[index + 1 :]
            templates = self._templates.get(key)
            if templates is None:
                templates = self._templates[key] = self._allowed(*key)
            found.extend([(number, template(code)) for number, template in templates])
        return found

    def _allowed(self, index: int | None, code: bytes) -> list[tuple[int, Template]]:
        found: list[tuple[int, Template]] = []
        for number, event in self._numbers[index]:

            def compute(design: Clauses, event: Event = event) -> Template | None:
                return self._template(code, event, design)

            template = self._memo.get((self._bound, event, code), self._design, compute)
            if template is not None:
                found.append((number, template))
        return found

    def _template(self, code: bytes, event: Event, design: Clauses) -> Template | None:
        """The template of an event on a representative, None where that does not allow the event."""
        machine, length = self._machine, len(code)
        for enabled in (True, False):
            s = State(self._classes.decode(code), FORBIDS_NOTHING, enabled=enabled, next_id=length)
            if machine.guard(s, event, design, self._bound) is None:
                reached = machine.effect(s, event, design)
                after = self._classes.encode(machine.canonical(reached).history)
                ids = [message.id for message in reached.history]
                kept = [message_id for message_id in ids if message_id < length]
                first, last = (kept[0], kept[-1] + 1) if kept else (0, 0)
                start = ids.index(first) if kept else 0
                end = start + len(kept)
                in_order = kept == list(range(first, last)) and ids[start:end] == kept
                if not in_order or after[start:end] != code[first:last] or first not in (0, index_of(event)):
                    raise UnsupportedError(
                        f"{event} does more to a history than to cut out one stretch and put new messages "
                        "around it, which the bulk engine does not tabulate; search with the plain engine"
                    )
                return Template(after[:start], first, last, after[end:])
        return None


def index_of(event: Event) -> int | None:
    """The index into the history that an event names, if it names one."""
    made: Any = event
    values = [getattr(made, field.name) for field in fields(made)]
    return next((value for value in values if type(value) is int), None)
