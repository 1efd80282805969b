"""What a tester knows without looking inside: which messages are live, and which calls were accepted.

The ledger follows the requests that an implementation says it applied. It knows nothing of trees or
indices: appended messages are live until an undo or a clear takes them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from foldproof.conformance.events import (
    Append,
    Branch,
    CallEvent,
    Clear,
    Compact,
    Regenerate,
    Remove,
    Restore,
    StepEnd,
    Switch,
    Toggle,
    Undo,
)
from foldproof.conformance.protocol import EventRequest, ProtocolError, Reply


@dataclass(frozen=True)
class Entry:
    """A live message, or a live carrier together with its receipt (then ``kind`` is set).

    ``moved`` says that its place is the implementation's affair: its answer was replaced.
    """

    id: str
    text: str = ""
    prompt: bool = False
    kind: str | None = None
    moved: bool = False


@dataclass
class Ledger:
    """One session from outside.

    ``live`` is in the order of the history; ``gone`` holds the ids that were undone or cleared;
    ``boundary`` is the length of ``live`` at the last compaction; ``settled`` says that no call waits
    for the end of its step; ``enabled`` is the fold's switch. ``line`` names the line that the session is on,
    ``lines`` has the others as they were left, the last one left at its end: live entries and boundary.
    """

    live: list[Entry] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    boundary: int = 0
    unsettled: set[str] = field(default_factory=set)
    enabled: bool = True
    line: str = "main"
    lines: dict[str, tuple[tuple[Entry, ...], int]] = field(default_factory=dict)

    def check(self, request: EventRequest) -> None:
        """Raises `ProtocolError` where a request uses an id twice or a text lacks its marker."""
        match request.event:
            case Append(message=message):
                self._new(message.id)
                if f"[[{message.id}]]" not in message.text:
                    raise ProtocolError(f"the text of message {message.id} lacks its marker [[{message.id}]]")
            case CallEvent(call=call):
                self._new(call)
            case Regenerate(message=message):
                self._new(message.id)

    def _is_prompt(self, identifier: str) -> bool:
        return any(entry.id == identifier and entry.prompt for entry in self.live)

    def _new(self, identifier: str) -> None:
        if identifier in self.texts:
            raise ProtocolError(f"the id {identifier} is used twice")

    def apply(self, request: EventRequest, reply: Reply) -> None:
        """Follow one event. An event that was not applied leaves nothing behind but its id.

        Raises `ProtocolError` where what cannot be done is said to be applied: a line that is there already
        is begun or one that is not there is switched to, or a prompt that is not live is spoken of.
        """
        match request.event:
            case Append(message=m):
                self.texts[m.id] = m.text
                if reply.status == "applied":
                    self.live.append(Entry(m.id, m.text, prompt=m.origin == "user"))
            case CallEvent(call=call, kind=kind):
                self.texts[call] = ""
                if reply.status == "applied":
                    self.live.append(Entry(call, kind=kind))
                    self.unsettled.add(call)
            case Regenerate(message=m) if reply.status != "applied":
                self.texts[m.id] = m.text
            case event if reply.status == "applied":
                self._applied(event)

    def _applied(self, event: object) -> None:
        match event:
            case Branch(name=name) if name == self.line or name in self.lines:
                raise ProtocolError(f"the line {name} is there already")
            case Switch(name=name) if name not in self.lines:
                raise ProtocolError(f"there is no line {name} to switch to")
            case Remove(prompt=prompt) | Regenerate(prompt=prompt) if not self._is_prompt(prompt):
                raise ProtocolError(f"{prompt} is no prompt that is live")
            case Branch(name=name, count=count):
                self._leave(name)
                if count:
                    self._applied(Undo(type="undo", count=count))
            case Switch(name=name):
                entries, boundary = self.lines[name]
                self._leave(name)
                self.gone.update(entry.id for entry in self.live)
                self.live, self.boundary = list(entries), boundary
                self.gone.difference_update(entry.id for entry in self.live)
            case Remove(prompt=prompt):
                self._replace(*self._exchange(prompt))
            case Regenerate(prompt=prompt, message=m):
                self.texts[m.id] = m.text
                start, end = self._exchange(prompt)
                older = end < len(self.live)
                self._replace(start + 1, end, Entry(m.id, m.text, moved=older))
                self.live[start] = replace(self.live[start], moved=older)
            case StepEnd() | Restore():
                self.unsettled.clear()
            case Toggle(enabled=enabled):
                self.enabled = enabled
                self.unsettled.clear()
            case Undo(count=count):
                prompts = [i for i, entry in enumerate(self.live) if entry.prompt]
                self._cut(prompts[-min(count, len(prompts))] if prompts else len(self.live))
            case Clear():
                self._cut(0)
                for entries, _ in self.lines.values():
                    self.gone.update(entry.id for entry in entries)
                self.lines.clear()
            case Compact(keep=keep):
                self.boundary = max(self.boundary, self.kept_from(keep))

    def _leave(self, name: str) -> None:
        """Keep the present line as the last one left, and be on another."""
        self.lines.pop(name, None)
        self.lines[self.line] = (tuple(self.live), self.boundary)
        self.line = name
        self.unsettled.clear()

    def _exchange(self, prompt: str) -> tuple[int, int]:
        """Where an exchange begins, and where the next one does."""
        start = next(place for place, entry in enumerate(self.live) if entry.id == prompt)
        following = (place for place in range(start + 1, len(self.live)) if self.live[place].prompt)
        return start, next(following, len(self.live))

    def _replace(self, start: int, end: int, *entries: Entry) -> None:
        self.gone.update(entry.id for entry in self.live[start:end])
        self.live[start:end] = entries
        self.unsettled &= {entry.id for entry in self.live}
        self.boundary = min(self.boundary, start)

    def _cut(self, length: int) -> None:
        self.gone.update(entry.id for entry in self.live[length:])
        del self.live[length:]
        self.unsettled &= {entry.id for entry in self.live}
        self.boundary = min(self.boundary, length)

    def kept_from(self, keep: int) -> int:
        """The place in ``live`` before which a compaction that keeps ``keep`` stored messages covers all."""
        place = len(self.live)
        while place and keep >= self.width(self.live[place - 1]):
            place -= 1
            keep -= self.width(self.live[place])
        return place

    @staticmethod
    def width(entry: Entry) -> int:
        """How many stored messages an entry stands for."""
        return 2 if entry.kind else 1

    def positions(self) -> dict[str, int]:
        """The place of each live id."""
        return {entry.id: i for i, entry in enumerate(self.live)}

    def current_calls(self) -> Iterator[str]:
        """The accepted calls since the last compaction, in order."""
        return (entry.id for entry in self.live[self.boundary :] if entry.kind)

    def first_is_answered(self) -> bool:
        """Whether something follows the first prompt before the next one."""
        flags = [entry.prompt for entry in self.live]
        place = flags.index(True) + 1 if True in flags else len(flags)
        return place < len(flags) and not flags[place]

    def open_spans(self) -> list[int]:
        """The places of the calls that opened a span which is still open, since the last compaction."""
        stack: list[int] = []
        for place, entry in enumerate(self.live):
            if place < self.boundary or not entry.kind or entry.id in self.unsettled:
                continue
            if entry.kind != "open" and stack:
                stack.pop()
            if entry.kind != "close":
                stack.append(place)
        return stack
