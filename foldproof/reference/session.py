"""A session: the state that its log adds up to, and the events that change it.

Every change is an event that is written first and applied afterwards, by the same code that replays
it. So a replayed session is equal to the live one, and a change that could not be written did not
happen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from foldproof.model.design import Clause
from foldproof.reference.codec import message_to_data
from foldproof.reference.collector import collector_paused
from foldproof.reference.errors import (
    CorruptLogError,
    FoldproofError,
    PassRefusedError,
    SettingsError,
    TransitionRejectedError,
    UndoRejectedError,
)
from foldproof.reference.log import Event, LogWriter, MemoryLog, read_log
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.protocols import CharacterEstimator, TokenEstimator
from foldproof.reference.settings import Settings
from foldproof.reference.spine import CLOSES, OPENS, TransitionKind, covers
from foldproof.reference.state import PassRecord, SessionState, accepts
from foldproof.reference.surface import ItemClass

__all__ = ["PassRecord", "Session"]


class Session(SessionState):
    """An event-sourced session. Use `create`, `open` or `read`; close it, or use it in a ``with``."""

    def __init__(
        self,
        path: Path,
        session_id: str,
        writer: LogWriter | MemoryLog | None,
        settings: Settings,
        estimate: TokenEstimator,
    ) -> None:
        super().__init__(settings, estimate)
        self.path, self.id = path, session_id
        self._writer = writer
        self.pass_runs = False

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
            session._resume()
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
        if session.recalibrates:
            session.floor = None
        return session

    @classmethod
    def in_memory(
        cls,
        settings: Settings | None = None,
        estimate: TokenEstimator | None = None,
        log: MemoryLog | None = None,
    ) -> Self:
        """A session whose log is a list of lines: for tests, and for what need not last.

        With a ``log`` it goes on where that one stands, as `open` does with a file.
        """
        settings, log = settings or Settings(), log or MemoryLog()
        session = cls(log.path, log.session_id, log, settings, estimate or CharacterEstimator())
        session._replay(log.events())
        session._resume()
        return session

    @property
    def log_in_memory(self) -> MemoryLog | None:
        """The log of a session that has no file."""
        return self._writer if isinstance(self._writer, MemoryLog) else None

    def close(self) -> None:
        """Release the log. What was accepted and not settled stays so, and `open` settles it."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- what changes it -----------------------------------------------------------------------

    def append(self, message: ChatMessage) -> int:
        """Store a message and return its seq. ValueError where calls and results would not pair."""
        return self.append_all([message])

    def append_all(self, messages: Iterable[ChatMessage]) -> int:
        """Store messages in one write: all of them or, on an error, none. Returns the last seq."""
        batch = list(messages)
        self._refuse_while_pending("append")
        self._calls.check(batch)
        for message in batch:
            self.item_tokens(message)  # an estimator that fails must fail before anything is written
        self._record([("message", message_to_data(message)) for message in batch])
        if any(message.role == "user" or not message.calls for message in batch):
            self.sync()
        return self.last_seq

    def measure(self, tokens: int) -> None:
        """Note the size of the current view as the provider reported it, in tokens."""
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
            raise ValueError(f"tokens: a whole number of at least 0 is needed, not {tokens!r}")
        self._record([("measure", {"tokens": tokens})])

    def undo(self, count: int = 1) -> int:
        """Take back the last ``count`` user prompts and all that followed; returns how many messages went.

        Raises `UndoRejectedError`: nothing to undo, fewer prompts than asked for, prompts that a pass
        has compacted already, or a pass that a crash left unfinished.
        """
        if count < 1:
            raise ValueError(f"count: {count} is less than 1")
        prompts, boundary = self._undoable(count)
        if len(prompts) < count:
            if boundary:
                raise UndoRejectedError(
                    "epoch-boundary",
                    f"{len(prompts)} of {count} prompts can be undone; a pass compacted the rest",
                )
            if not prompts:
                raise UndoRejectedError("empty", "there is no prompt to undo")
            raise UndoRejectedError("insufficient", f"there are {len(prompts)} prompts, not {count}")
        cut = prompts[-1]
        if cut < self._unfinished_end():
            raise UndoRejectedError(
                "unfinished-pass",
                "these prompts lie in the range of a pass that was interrupted while it committed; "
                "resume it first",
            )
        gone = len(self._history) - cut
        self._record([("undo", {"cut": self._history[cut].seq})])
        self.sync()
        return gone

    def _undoable(self, count: int) -> tuple[list[int], bool]:
        """Indices of at most ``count`` prompts, the newest first; whether a boundary ended the look."""
        prompts: list[int] = []
        end = self._spine.epoch_start if Clause.D4 in self._design else 0
        position = len(self._history)
        while position > end and len(prompts) < count:
            position -= 1
            if self._history[position].kind is ItemClass.BASIC:
                return prompts, True
            if self._history[position].is_prompt:
                prompts.append(position)
        return prompts, end > 0

    def _unfinished_end(self) -> int:
        """Where the range of a pass ends that was interrupted while it committed; 0 without one."""
        record = self.unfinished_pass
        if record is None or not 0 < record.committed < len(record.regions):
            return 0
        last = self._surface.position(record.regions[-1][1])
        return len(self._history) if last is None else covers(self.view()[: last + 1])

    def clear(self) -> None:
        """Begin anew in the same log: nothing from before is shown or recalled again."""
        if not self._history:
            return
        self._record([("clear", {})])
        self.sync()

    def adopt(self, settings: Settings) -> None:
        """Go on with other settings, as when the agent's model is switched. Another window ends a pause.

        ``message_overhead_tokens`` and ``fsync`` are part of what is stored already and stay: SettingsError.
        """
        for name in ("message_overhead_tokens", "fsync"):
            old, new = getattr(self.settings, name), getattr(settings, name)
            if new != old:
                raise SettingsError(f"{name}: {new!r}: it is {old!r} as long as the session is open")
        before, self.settings = self.settings, settings
        try:
            self._recalibrate()
        except BaseException:
            self.settings = before
            raise

    def _recalibrate(self) -> None:
        """A window of another size, larger or smaller, ends the pause after a futile pass, for good."""
        if self.recalibrates:
            self._record([("window", {"tokens": self.settings.window_tokens})])
            self.sync()

    # --- the task tree ---------------------------------------------------------------------------

    def call(self, kind: TransitionKind, memory: str = "", message: ChatMessage | None = None) -> int:
        """Accept a call that opens a task, closes the innermost one, or does both; returns its seq.

        Stores the assistant's message that carries the call (``message``, which makes exactly one call;
        one is composed without it) and the tool result that accepts it, in one write. The tree changes
        when the step ends; until then nothing else may be stored. A close leaves ``memory`` in place of
        the task's messages. Raises `TransitionRejectedError`; ValueError for a message that does not fit.
        """
        if kind not in OPENS | CLOSES:
            raise ValueError(f"kind: {kind!r} is none of open, close, next")
        if not self.fold_enabled:
            raise TransitionRejectedError("fold-off", f"{kind}: the fold is off; switch it on first")
        self._refuse_while_pending(kind)
        if kind in CLOSES and self._spine.cursor is None:
            raise TransitionRejectedError("no-open-task", f"{kind}: the current epoch has no open task")
        if message is None:
            arguments = json.dumps({"memory": memory}) if memory else "{}"
            call = ToolCall(f"task-{self.last_seq + 1}", f"task_{kind}", arguments)
            message = ChatMessage("assistant", calls=(call,))
        if len(message.calls) != 1:
            raise ValueError(f"message: exactly one call is needed, not {len(message.calls)}")
        receipt = ChatMessage("tool", "accepted", result_of=message.calls[0].id)
        self._calls.check([message, receipt])
        self.item_tokens(message)
        carrier = message_to_data(message) | {"transition": {"kind": kind, "memory": memory}}
        self._record([("message", carrier), ("message", message_to_data(receipt))])
        return self.last_seq - 1

    def step_end(self) -> bool:
        """End a step: commit the pending transition to the tree. Whether there was one that it found."""
        if not self.fold_enabled:
            return False
        settled = self._settle()
        self.sync()
        return settled

    def toggle(self, enabled: bool) -> None:
        """Switch the fold. Off, the view is the whole history; a pending transition is settled first."""
        if enabled == self.fold_enabled:
            return
        if not enabled and self._pending is not None and Clause.D6_SETTLE in self._design:
            self._settle()
        self._record([("toggle", {"enabled": enabled})])
        self.sync()

    def _settle(self) -> bool:
        pending, found = self._pending, False
        if pending is not None:
            start = self._last_observed
            if Clause.D1C in self._design:
                start = min(start, len(self._history))
            if self._index(pending.carrier) >= start:
                self._commit(pending.carrier, pending.transition.kind)
                found = True
        self._pending = None
        self._last_observed = len(self._history)
        return found

    def _commit(self, carrier: int, kind: TransitionKind) -> None:
        if kind not in CLOSES or self._spine.cursor is not None:
            self._record([(f"transition/{kind}", {"carrier": carrier})])

    def _resume(self) -> None:
        """After a crash: what lived in memory only is gone, what was accepted and stored is committed."""
        self._pending = None
        if Clause.D8 in self._design:
            for number in range(self._spine.epoch_start, len(self._history) - 1):
                carrier, receipt = self._history[number : number + 2]
                asked = carrier.transition
                if (
                    asked is not None
                    and accepts(carrier, receipt)
                    and not self._spine.records(number, asked.kind)
                ):
                    self._commit(carrier.seq, asked.kind)
        self._last_observed = len(self._history)
        self._rebase(raw=Clause.D2_RESUME not in self._design)
        self._recalibrate()

    def _refuse_while_pending(self, what: str) -> None:
        if self._pending is not None:
            raise TransitionRejectedError("pending", f"{what}: a transition is pending; end the step first")

    # --- writing -------------------------------------------------------------------------------

    def sync(self) -> None:
        """Put what was written onto the disk, as the ``fsync`` policy says."""
        if self._writer is not None:
            self._writer.sync()

    def record(self, kind: str, data: dict[str, Any]) -> int:
        """Write one event of a compactor and apply it; returns its seq.

        Raises `PassRefusedError` for a region that cannot land now.
        """
        if kind == "compaction/summary":
            refused = self.landing_refused(ItemClass(data["kind"]))
            if refused is not None:
                raise PassRefusedError(f"nothing can be committed now: {refused}")
        self._record([(kind, data)])
        return self.last_seq

    # --- events --------------------------------------------------------------------------------

    def _record(self, items: list[tuple[str, dict[str, Any]]]) -> None:
        if self._writer is None:
            raise FoldproofError(f"{self.path}: opened for reading only")
        with self._writer.turn:
            for event in self._writer.append(items):
                self.apply(event)

    @collector_paused()
    def _replay(self, events: Iterable[Event]) -> None:
        for event in events:
            try:
                self.apply(event)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                what = f"a {event.type} event that cannot be applied ({type(error).__name__}: {error})"
                raise CorruptLogError(self.path, what, event.seq + 1) from error
