"""What every importer returns: a conversation as plain messages, each with its place in the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from foldproof.reference.messages import ChatMessage, Role, ToolCall

MISSING_RESULT = "[no result was recorded for this call]"


class SessionFormatError(ValueError):
    """A session file that cannot be read. The message is one line: file, line, what is wrong there."""

    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(f"{file}:{line}: {what}")
        self.file, self.line, self.what = file, line, what


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """One message. A tool message answers the call ``result_of``; ``line`` is where it stands in the file.

    ``usage`` is what the provider reported for the request that this message answers, in tokens
    (prompt and completion together), none where nothing was reported. ``replaces`` marks a checkpoint
    that another compactor wrote: the earlier messages (indices into the session's list) that it
    stands for.
    """

    role: Role
    text: str
    line: int
    calls: tuple[ToolCall, ...] = ()
    result_of: str | None = None
    is_error: bool = False
    usage: int | None = None
    replaces: tuple[int, ...] = ()

    @property
    def message(self) -> ChatMessage:
        """The message alone, as a session stores it."""
        return ChatMessage(self.role, self.text, self.calls, self.result_of, self.is_error)


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A whole conversation: its format, system prompt, messages, and what was left out or mended."""

    file: str
    format: str
    system: str
    messages: tuple[ImportedMessage, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Collector:
    """Gathers messages and holds what every format must satisfy: calls and results paired, in order.

    A result without its call, or a call id used twice in one message, is a broken file. A call that was never
    answered is ordinary (the user interrupted it): chat APIs refuse such a history, so it is given a
    result that says that none was recorded, directly behind the results that there are.
    """

    file: str
    format: str
    system: str = ""
    messages: list[ImportedMessage] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    _open: dict[str, None] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def fail(self, line: int, what: str) -> SessionFormatError:
        return SessionFormatError(self.file, line, what)

    def note(self, what: str) -> None:
        self.notes[what] += 1

    def add(self, message: ImportedMessage) -> None:
        """Append a message; raises `SessionFormatError` where it cannot follow what is there."""
        if message.role == "tool":
            self._answer(message)
            return
        if not message.text.strip() and not message.calls:
            self.note(f"{message.role} messages without text or calls left out")
            return
        self._close(message.line)
        for call in message.calls:
            if call.id in self._open:  # of this message: those before it were closed
                raise self.fail(message.line, f"call id {call.id!r} is used a second time in the message")
            self._seen.add(call.id)
            self._open[call.id] = None
        self.messages.append(message)

    def _answer(self, message: ImportedMessage) -> None:
        if message.result_of not in self._open:
            why = "its call is answered already" if message.result_of in self._seen else "no such call"
            raise self.fail(message.line, f"tool result for {message.result_of!r}: {why}")
        del self._open[message.result_of]
        self.messages.append(message)

    def _close(self, line: int) -> None:
        for call in self._open:
            self.messages.append(ImportedMessage("tool", MISSING_RESULT, line, result_of=call, is_error=True))
            self.note("calls without a recorded result, given one that says so")
        self._open.clear()

    def finish(self) -> ImportedSession:
        """Return the session; a file without a single message is an error, never an empty success."""
        self._close(self.messages[-1].line if self.messages else 1)
        if not self.messages:
            raise self.fail(1, f"no messages in this {self.format} session")
        notes = tuple(f"{count} {what}" for what, count in self.notes.items())
        return ImportedSession(self.file, self.format, self.system, tuple(self.messages), notes)
