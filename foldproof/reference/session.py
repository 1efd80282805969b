"""A session: the state that its log adds up to, and the events that change it.

Every change is an event that is written first and applied afterwards, by the same code that replays
it. So a replayed session is equal to the live one, and a change that could not be written did not
happen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from foldproof.reference.checkpoints import Checkpoint
from foldproof.reference.codec import message_from_data, message_to_data
from foldproof.reference.errors import CorruptLogError, FoldproofError, UndoRejectedError
from foldproof.reference.log import Event, LogWriter, read_log
from foldproof.reference.messages import ChatMessage
from foldproof.reference.protocols import CharacterEstimator, TokenEstimator
from foldproof.reference.settings import Settings
from foldproof.reference.surface import Item, ItemClass, Surface, SurfaceView

MESSAGE_OVERHEAD = 4
"""Tokens that a chat API adds to every message for its frame."""


@dataclass(slots=True)
class PassRecord:
    """A pass as the log tells it: ``regions`` are pairs of boundary seqs, left to right."""

    number: int
    seq: int
    compactor: str
    trigger: str
    regions: list[tuple[int, int]]
    committed: int = 0
    ended: bool = False
    error: str | None = None
    stale_tokens: int = 0


@dataclass(slots=True)
class _Calls:
    """Which calls wait for a result; ``known`` refuses an id that is used twice."""

    known: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)


class Session:
    """An event-sourced session. Use `create`, `open` or `read`; close it, or use it in a ``with``."""

    def __init__(
        self,
        path: Path,
        session_id: str,
        writer: LogWriter | None,
        settings: Settings,
        estimate: TokenEstimator,
    ) -> None:
        self.path, self.id, self.settings = path, session_id, settings
        self._writer, self._estimate = writer, estimate
        self._surface = Surface()
        self._calls = _Calls()
        self._gauge_offset = 0
        self.items: dict[int, Item] = {}
        self.checkpoints: dict[int, Checkpoint] = {}
        self.passes: list[PassRecord] = []
        # The latest text of the class state, committed or not: what a resumed pass merges into.
        self.state_text = ""
        self._summary: Checkpoint | None = None
        self.pass_runs = False
        self.last_seq = 0

    @classmethod
    def create(
        cls,
        path: Path | str,
        settings: Settings | None = None,
        estimate: TokenEstimator | None = None,
        session_id: str | None = None,
    ) -> Self:
        """Begin a session with a new log at ``path``. Raises `LogError` if there is one."""
        settings = settings or Settings()
        writer = LogWriter.create(Path(path), session_id, settings.fsync)
        return cls(Path(path), writer.session_id, writer, settings, estimate or CharacterEstimator())

    @classmethod
    def open(
        cls, path: Path | str, settings: Settings | None = None, estimate: TokenEstimator | None = None
    ) -> Self:
        """Go on with the session in ``path``. Raises `CorruptLogError`, `LockedLogError`, OSError."""
        settings = settings or Settings()
        writer, events = LogWriter.open(Path(path), settings.fsync)
        session = cls(Path(path), writer.session_id, writer, settings, estimate or CharacterEstimator())
        try:
            session._replay(events)
        except BaseException:
            writer.close()
            raise
        return session

    @classmethod
    def read(
        cls, path: Path | str, settings: Settings | None = None, estimate: TokenEstimator | None = None
    ) -> Self:
        """Read the session in ``path`` as it is now; another process may write it, this one may not."""
        content = read_log(Path(path))
        session = cls(
            Path(path), content.session_id, None, settings or Settings(), estimate or CharacterEstimator()
        )
        session._replay(content.events)
        return session

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- what it shows -------------------------------------------------------------------------

    def view(self) -> SurfaceView:
        """What the model would be sent now: a snapshot, in constant time, that never changes."""
        return self._surface.view()

    @property
    def tokens(self) -> int:
        """The estimate of the view."""
        return self._surface.tokens

    @property
    def trigger(self) -> int:
        """What is compared with the threshold: the size last measured, and the estimate since then."""
        return self._surface.tokens + self._gauge_offset

    @property
    def unfinished_pass(self) -> PassRecord | None:
        """A pass that was started and not ended: it runs now, or a crash interrupted it."""
        return self.passes[-1] if self.passes and not self.passes[-1].ended else None

    def item_tokens(self, message: ChatMessage) -> int:
        """The estimate of one message in a request."""
        calls = sum(self._estimate(f"{call.id}{call.name}{call.arguments}") for call in message.calls)
        return MESSAGE_OVERHEAD + self._estimate(message.text) + calls

    def estimate(self, text: str) -> int:
        return self._estimate(text)

    # --- what changes it -----------------------------------------------------------------------

    def append(self, message: ChatMessage) -> int:
        """Store a message and return its seq. ValueError where calls and results would not pair."""
        return self.append_all([message])

    def append_all(self, messages: Iterable[ChatMessage]) -> int:
        """Store messages in one write: all of them or, on an error, none. Returns the last seq."""
        batch = list(messages)
        self._check_calls(batch)
        self._record([("message", message_to_data(message)) for message in batch])
        if any(message.role == "user" or not message.calls for message in batch):
            self.sync()
        return self.last_seq

    def measure(self, tokens: int) -> None:
        """Note the size of the current view as the provider reported it, in tokens."""
        if tokens < 0:
            raise ValueError(f"tokens: {tokens} is less than 0")
        self._record([("measure", {"tokens": tokens})])

    def undo(self, count: int = 1) -> int:
        """Take back the last ``count`` user prompts and all that followed; returns how many items went.

        Raises `UndoRejectedError`: nothing to undo, fewer prompts than asked for, prompts that a pass
        has compacted already, or a pass that a crash left unfinished.
        """
        if count < 1:
            raise ValueError(f"count: {count} is less than 1")
        if self.unfinished_pass is not None and self.unfinished_pass.committed:
            raise UndoRejectedError(
                "unfinished-pass", "a pass was interrupted while it committed; resume it first"
            )
        view = self.view()
        prompts = [n for n in range(len(view)) if view[n].is_prompt]
        if len(prompts) < count:
            if any(item.kind is not ItemClass.MESSAGE for item in view):
                raise UndoRejectedError(
                    "epoch-boundary",
                    f"{len(prompts)} of {count} prompts can be undone; a pass compacted the rest",
                )
            if not prompts:
                raise UndoRejectedError("empty", "there is no prompt to undo")
            raise UndoRejectedError("insufficient", f"there are {len(prompts)} prompts, not {count}")
        cut = prompts[-count]
        self._record([("undo", {"cut": view[cut].seq})])
        self.sync()
        return len(view) - cut

    def clear(self) -> None:
        """Begin anew in the same log: nothing from before is shown or recalled again."""
        self._record([("clear", {})])
        self.sync()

    def sync(self) -> None:
        if self._writer is not None:
            self._writer.sync()

    def record(self, kind: str, data: dict[str, Any]) -> int:
        """Write one event of a compactor and apply it; returns its seq."""
        self._record([(kind, data)])
        return self.last_seq

    # --- events --------------------------------------------------------------------------------

    def _record(self, items: list[tuple[str, dict[str, Any]]]) -> None:
        if self._writer is None:
            raise FoldproofError(f"{self.path}: opened for reading only")
        for event in self._writer.append(items):
            self._apply(event)

    def _replay(self, events: Iterable[Event]) -> None:
        for event in events:
            try:
                self._apply(event)
            except (KeyError, TypeError, ValueError) as error:
                what = f"a {event.type} event that cannot be applied ({type(error).__name__}: {error})"
                raise CorruptLogError(self.path, what, event.seq + 1) from error

    def _apply(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "message":
                self._put_message(event.seq, message_from_data(data))
            case "measure":
                self._gauge_offset = data["tokens"] - self._surface.tokens
            case "undo":
                self._cut(data["cut"])
            case "clear":
                self._reset()
            case "compaction/start":
                regions = [(first, last) for first, last in data["regions"]]
                self.passes.append(
                    PassRecord(len(self.passes) + 1, event.seq, data["compactor"], data["trigger"], regions)
                )
            case "compaction/summary":
                self._summary = Checkpoint.from_data(event.seq, data)
                if self._summary.kind is not ItemClass.INDEX:
                    self.state_text = self._summary.body
            case "checkpoint":
                self._put_checkpoint(event.seq, data["summary"])
            case "compaction/end":
                record = self.passes[-1]
                record.ended, record.error = True, data.get("error")
                record.stale_tokens = data.get("stale_tokens", 0)
            case other:
                raise ValueError(f"unknown type {other!r}")
        self.last_seq = event.seq

    def _put_message(self, seq: int, message: ChatMessage) -> None:
        item = Item(seq, message, self.item_tokens(message))
        self.items[seq] = item
        self._surface.append(item)
        for call in message.calls:
            self._calls.known.add(call.id)
            self._calls.waiting.add(call.id)
        if message.result_of is not None:
            self._calls.waiting.discard(message.result_of)

    def _put_checkpoint(self, seq: int, summary: int) -> None:
        checkpoint = self._summary
        if checkpoint is None or checkpoint.seq != summary:
            raise ValueError(f"seq {summary} is not the summary before it")
        start = self._surface.position(checkpoint.shadowed[0])
        if start is None:
            raise ValueError(f"seq {checkpoint.shadowed[0]} is not on the surface")
        end = start + len(checkpoint.shadowed)
        gone = self.view()[start:end]
        if [item.seq for item in gone] != list(checkpoint.shadowed):
            raise ValueError("the shadowed seqs are no span of the surface")
        message = ChatMessage("user", checkpoint.text)
        item = Item(seq, message, self.item_tokens(message), checkpoint.kind, checkpoint.seq)
        self.items[seq] = item
        self.checkpoints[checkpoint.seq] = checkpoint
        self._surface.replace(start, end, item)
        # A result that comes later for a call that is no longer shown could not be paired.
        self._calls.waiting -= {call.id for old in gone for call in old.message.calls}
        self._gauge_offset = 0
        if self.unfinished_pass is not None:
            self.unfinished_pass.committed += 1

    def _cut(self, seq: int) -> None:
        position = self._surface.position(seq)
        if position is None:
            raise ValueError(f"seq {seq} is not on the surface")
        gone = self.view()[position:]
        self._surface.truncate(position)
        for item in gone:
            del self.items[item.seq]
            ids = {call.id for call in item.message.calls}
            self._calls.known -= ids
            self._calls.waiting -= ids
            if item.message.result_of is not None and item.message.result_of in self._calls.known:
                self._calls.waiting.add(item.message.result_of)
        self._gauge_offset = 0

    def _reset(self) -> None:
        self._surface = Surface()
        self._calls = _Calls()
        self._gauge_offset = 0
        self.items.clear()
        self.checkpoints.clear()
        self._summary, self.state_text = None, ""
        if self.unfinished_pass is not None:
            self.unfinished_pass.ended, self.unfinished_pass.error = True, "cleared"

    def _check_calls(self, batch: list[ChatMessage]) -> None:
        made: set[str] = set()
        answered: set[str] = set()
        for message in batch:
            for call in message.calls:
                if call.id in made or call.id in self._calls.known:
                    raise ValueError(f"call id {call.id!r} is used a second time")
                made.add(call.id)
            wanted = message.result_of
            if wanted is not None:
                if wanted in answered or not (wanted in made or wanted in self._calls.waiting):
                    raise ValueError(f"result of {wanted!r}: no call of that id waits for one")
                answered.add(wanted)
