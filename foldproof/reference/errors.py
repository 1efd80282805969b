"""Everything that the reference raises on purpose. Each message names what, where, and the remedy."""

from __future__ import annotations

from pathlib import Path


class FoldproofError(Exception):
    """The base of all errors of the reference."""


class LogError(FoldproofError):
    """A log that cannot be used as it is; ``line`` counts from 1."""

    def __init__(self, path: Path, what: str, line: int | None = None) -> None:
        super().__init__(f"{path}:{line}: {what}" if line is not None else f"{path}: {what}")
        self.path, self.line, self.what = path, line, what


class CorruptLogError(LogError):
    """A line that is not what was written: a bad checksum, a gap, no header. Nothing is guessed."""


class LockedLogError(LogError):
    """Another process has the log open for writing."""


class WriteError(LogError):
    """An append that the system refused. The log is as it was before, or closed to further appends."""


class TornLogWarning(UserWarning):
    """The last line was cut off by a crash during its write; the rest of it lies beside the log."""


class SettingsError(FoldproofError, ValueError):
    """A setting that breaks a rule: names the field, the value and the rule."""


class UndoRejectedError(FoldproofError):
    """An undo that was not done. ``reason``: empty, insufficient, epoch-boundary, unfinished-pass."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class TransitionRejectedError(FoldproofError):
    """A call or a message that the task tree does not take now.

    ``reason``: pending, fold-off, no-open-task.
    """

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class PassRefusedError(FoldproofError):
    """A pass that cannot run now: another one runs, or a crashed one has to be resumed first."""


class PassFailedError(FoldproofError):
    """The state could not be written, so the pass committed nothing."""


class RecallError(FoldproofError):
    """A recall tool was asked for something that it does not give."""


class UnknownCheckpointError(RecallError):
    """No such checkpoint is in the log, or a clear came after it."""


class OrphanedStartError(RecallError):
    """The id names the start of a pass that never committed anything."""


class OffsetError(RecallError):
    """An offset outside the span, or a limit that is no positive number."""


class NotAnAgentError(RecallError):
    """Recall is for the agent whose session it is."""
