"""The log: one append-only JSONL file a session, the only thing that is stored.

Line 1 is a header. Every later line is ``{"seq":n,"type":…,"data":{…},"sum":"xxxxxxxx"}``, where the sum is
the CRC-32 of the line without it. A crash during a write can only tear the last line: the torn rest
is moved aside. Anything else that does not check is an error that names the line.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
import warnings
import zlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from filelock import FileLock, Timeout

from foldproof.reference.collector import collector_paused
from foldproof.reference.errors import CorruptLogError, LockedLogError, LogError, TornLogWarning, WriteError

FORMAT: Final = "foldproof-log"
VERSION: Final = 1
_SUM: Final = len(',"sum":"00000000"}')

Fsync = Literal["always", "turn", "never"]


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log: ``seq`` counts from 1 without gaps; ``data`` belongs to the type."""

    seq: int
    type: str
    data: dict[str, Any]


def encode_line(body: dict[str, Any]) -> bytes:
    """One line with its checksum and its line end."""
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # a lone surrogate, as some models produce: JSON can escape it, UTF-8 cannot
        text = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    return b'%s,"sum":"%08x"}\n' % (text[:-1], zlib.crc32(text))


def decode_line(line: bytes) -> dict[str, Any]:
    """The content of one line, without its line end. ValueError says what does not check."""
    body, tail = line[:-_SUM] + b"}", line[-_SUM:]
    if tail != b',"sum":"%08x"}' % zlib.crc32(body):
        raise ValueError("the checksum does not fit the line")
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError("a JSON object is expected")
    return value


@dataclass(frozen=True, slots=True)
class LogContent:
    """What a file holds: the session's id, its events, and how many bytes at the end are torn."""

    session_id: str
    events: list[Event]
    size: int
    torn: bytes


@collector_paused()
def read_log(path: Path) -> LogContent:
    """Read and check a whole log without changing it. Raises `CorruptLogError`, OSError."""
    data = path.read_bytes()
    lines = data.split(b"\n")
    torn = lines.pop()  # what stands behind the last line end: nothing, unless a write was cut off
    if not lines:
        raise CorruptLogError(path, "no complete header: not a foldproof log", 1)
    session_id = _header(path, lines[0])
    events: list[Event] = []
    for number, line in enumerate(lines[1:], 2):
        try:
            value = decode_line(line)
        except ValueError as error:
            raise CorruptLogError(path, f"{error}; restore the file from a copy", number) from None
        if value.get("seq") != number - 1:
            raise CorruptLogError(path, f"seq {value.get('seq')!r} where {number - 1} is due", number)
        if not isinstance(value.get("type"), str) or not isinstance(value.get("data"), dict):
            raise CorruptLogError(path, "an event needs a type and data", number)
        events.append(Event(number - 1, value["type"], value["data"]))
    return LogContent(session_id, events, len(data) - len(torn), torn)


def _header(path: Path, line: bytes) -> str:
    try:
        header = decode_line(line)
    except ValueError:
        raise CorruptLogError(path, "no valid header: not a foldproof log", 1) from None
    if header.get("format") != FORMAT or not isinstance(header.get("session"), str):
        raise CorruptLogError(path, "no valid header: not a foldproof log", 1)
    if header.get("version") != VERSION:
        raise LogError(path, f"version {header.get('version')!r}; this release reads version {VERSION}", 1)
    return str(header["session"])


class LogWriter:
    """Appends events to a log that no other process may write at the same time.

    An append is done when it returns: its bytes are with the operating system, and on the disk too
    where the policy says so (``always``: every append; ``turn``: at `sync`, which the session calls at
    the end of a turn; ``never``). A refused append leaves the file as it was.
    """

    def __init__(self, path: Path, content: LogContent, lock: FileLock, fsync: Fsync) -> None:
        self.path, self.session_id, self.fsync = path, content.session_id, fsync
        self._lock = lock
        self._next = len(content.events) + 1
        self._size = content.size
        self._broken = False
        self._owner = os.getpid()
        self.turn = threading.RLock()  # threads may share a session: one change at a time, in the log's order
        self._file: BinaryIO = path.open("r+b", buffering=0)
        self._file.seek(self._size)

    @classmethod
    def create(cls, path: Path, session_id: str | None = None, fsync: Fsync = "turn") -> LogWriter:
        """Begin a new log. Raises `LogError` when the file exists already."""
        lock = _locked(path)
        session_id = session_id or str(uuid.uuid4())
        header = encode_line({"format": FORMAT, "version": VERSION, "session": session_id})
        # Written under another name first: a crash leaves no log without a complete header.
        draft = path.with_name(f"{path.name}.new")
        try:
            if path.exists():
                raise LogError(path, "exists already; open it, or name another file")
            with draft.open("wb") as file:
                file.write(header)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(path)
            return cls(path, LogContent(session_id, [], len(header), b""), lock, fsync)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, path: Path, fsync: Fsync = "turn") -> tuple[LogWriter, list[Event]]:
        """Open an existing log for appending; a torn last line is moved to ``<log>.torn`` with a warning."""
        lock = _locked(path)
        try:
            content = read_log(path)
            if content.torn:
                beside = path.with_name(f"{path.name}.torn")
                with beside.open("ab") as file:
                    file.write(content.torn + b"\n")
                os.truncate(path, content.size)
                size = len(content.torn)
                warnings.warn(
                    f"{path}: the last line was torn by a crash; its {size} bytes are kept in {beside}",
                    TornLogWarning,
                    stacklevel=3,
                )
            return cls(path, content, lock, fsync), content.events
        except BaseException:
            lock.release()
            raise

    def append(self, items: Iterable[tuple[str, dict[str, Any]]]) -> Sequence[Event]:
        """Append events in one write and return them. Raises `WriteError`; then none of them is there."""
        if self._broken:
            raise WriteError(self.path, "an earlier write failed half-way; open the log again")
        if self._file.closed:
            raise WriteError(self.path, "the session was closed; open the log again")
        if os.getpid() != self._owner:
            raise WriteError(self.path, "a forked process does not own the log; only its parent may write")
        events = [Event(self._next + n, kind, data) for n, (kind, data) in enumerate(items)]
        data = b"".join(
            encode_line({"seq": event.seq, "type": event.type, "data": event.data}) for event in events
        )
        try:
            self._write(data)
            if self.fsync == "always":
                os.fsync(self._file.fileno())
        except OSError as error:
            self._take_back()
            raise WriteError(self.path, f"not written ({error.strerror or error})") from error
        self._size += len(data)
        self._next += len(events)
        return events

    def sync(self) -> None:
        """Force what was appended onto the disk, unless the policy is ``never``."""
        if self.fsync == "turn":
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                raise WriteError(self.path, f"not on the disk ({error.strerror or error})") from error

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._lock.release()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._file.fileno(), self._size)
            self._file.seek(self._size)
        except OSError:
            self._broken = True  # the next open finds a torn line and moves it aside


class MemoryLog:
    """A log that lives in memory: the same lines, checked the same way, without a file."""

    path: Final = Path("memory")

    def __init__(self) -> None:
        self.session_id = str(uuid.uuid4())
        self.turn: AbstractContextManager[None] = nullcontext()  # for one thread, and to be copied
        self._lines: list[bytes] = []

    def events(self) -> list[Event]:
        """Every event, read from its line."""
        values = (decode_line(line[:-1]) for line in self._lines)
        return [Event(value["seq"], value["type"], value["data"]) for value in values]

    def append(self, items: Iterable[tuple[str, dict[str, Any]]]) -> Sequence[Event]:
        first = len(self._lines) + 1
        events = [Event(first + n, kind, data) for n, (kind, data) in enumerate(items)]
        self._lines += [encode_line({"seq": e.seq, "type": e.type, "data": e.data}) for e in events]
        return events

    def until(self, seq: int) -> MemoryLog:
        """Another log that ends with event ``seq``: what a crash right after it would have left."""
        earlier = MemoryLog()
        earlier.session_id, earlier._lines = self.session_id, self._lines[:seq]
        return earlier

    def sync(self) -> None:
        """Nothing outlives the process, so nothing is forced anywhere."""

    def close(self) -> None:
        """A log in memory holds no lock."""


def _locked(path: Path) -> FileLock:
    # One lock, by whichever name the log is opened; and whichever thread opens it, another may close it.
    lock = FileLock(f"{os.path.realpath(path)}.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise LockedLogError(path, "another process writes this log; end it first, or read only") from None
    return lock
