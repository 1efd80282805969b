"""Recorded runs: the protocol's lines, requests and replies interleaved, read strictly and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldproof.conformance.checker import Checker, Exchange
from foldproof.conformance.protocol import (
    EventRequest,
    Handshake,
    ProtocolError,
    Reply,
    ResetRequest,
    StartRequest,
    StopRequest,
    read_handshake,
    read_reply,
    read_request,
)
from foldproof.explore.strict_json import StrictJsonError, parse

MAX_LINE = 16 * 2**20
"""Bytes in one line beyond which a file is taken to be broken rather than long."""


class RunError(ValueError):
    """A file is not a complete recorded run. ``line`` counts from 1; 0 when the file as a whole is meant."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}" if line else f"{path}: {what}")
        self.line = line
        self.what = what


@dataclass(frozen=True)
class Run:
    """A complete run: who answered, and every exchange after the handshake."""

    handshake: Handshake
    exchanges: tuple[Exchange, ...]


def validate_file(path: Path) -> tuple[Run, Checker]:
    """Read a recorded run and check it. Raises `RunError`, naming file and line, for whatever is not one."""
    run = read_run(path)
    checker = Checker(run.handshake)
    for exchange in run.exchanges:
        try:
            checker.observe(exchange)
        except ProtocolError as error:
            raise RunError(path, exchange.line, str(error)) from error
        if exchange.reply.status == "errored":
            reason = exchange.reply.reason or "no reason given"
            what = f"the implementation errored at step {exchange.request.seq}: {reason[:200]}"
            raise RunError(path, exchange.line + 1, what)
    if not checker.applied:
        raise RunError(path, 0, "an empty run: no event was applied, so nothing was checked")
    if all(verdict == "unchecked" for verdict in checker.verdicts().values()):
        raise RunError(path, 2, "the run observes nothing that any invariant needs, so nothing was checked")
    return run, checker


def read_run(path: Path) -> Run:
    """The run in a file. Raises `RunError` for anything malformed and for a run that does not end."""
    lines = _values(path)
    line, value = next(lines, (0, None))
    if not line:
        raise RunError(path, 0, "empty: a run begins with a start request")
    try:
        if not isinstance(read_request(value), StartRequest):
            raise ProtocolError("a run begins with a start request")
        line, value = next(lines, (line, None))
        if value is None:
            raise RunError(path, line, "cut off: the start request has no reply")
        handshake = read_handshake(value)
        exchanges: list[Exchange] = []
        last_seq = -1
        while (following := next(lines, None)) is not None:
            line, value = following
            request = read_request(value)
            if isinstance(request, StopRequest):
                return _ended(path, Run(handshake, tuple(exchanges)), lines)
            if isinstance(request, StartRequest):
                raise ProtocolError("a second start request")
            last_seq = _sound(request, exchanges, last_seq, handshake)
            asked_at = line
            line, value = next(lines, (line, None))
            if value is None:
                raise RunError(path, line, f"cut off: step {request.seq} has no reply")
            exchanges.append(Exchange(request, read_reply(value, handshake, request.seq), asked_at))
    except ProtocolError as error:
        raise RunError(path, line, str(error)) from error
    raise RunError(path, line, "cut off: the run does not end with a stop request")


def _sound(
    request: ResetRequest | EventRequest,
    exchanges: Sequence[Exchange],
    last_seq: int,
    handshake: Handshake,
) -> int:
    """The request's seq. Raises `ProtocolError` where it cannot stand at this place of a run."""
    if request.seq <= last_seq:
        raise ProtocolError(f"seq {request.seq} does not come after seq {last_seq}")
    if isinstance(request, EventRequest):
        if not exchanges:
            raise ProtocolError("an event before the first reset")
        if request.event.type not in handshake.events:
            raise ProtocolError(f"the event {request.event.type} is not among those that the handshake lists")
    return request.seq


def _ended(path: Path, run: Run, lines: Iterator[tuple[int, Any]]) -> Run:
    extra = next(lines, None)
    if extra is not None:
        raise RunError(path, extra[0], "the run goes on after its stop request")
    if not any(isinstance(exchange.request, EventRequest) for exchange in run.exchanges):
        raise RunError(path, 0, "an empty run: it has no events, so nothing was checked")
    return run


def _values(path: Path) -> Iterator[tuple[int, Any]]:
    """The lines of a file as JSON objects, each with its number."""
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise RunError(path, number, f"a line of more than {MAX_LINE // 2**20} MiB")
                if not data.endswith(b"\n") and not data.strip():
                    continue
                yield number, _object(path, number, data)
    except OSError as error:
        raise RunError(path, 0, f"cannot be read: {error.strerror}") from error


def _object(path: Path, number: int, data: bytes) -> dict[str, Any]:
    if not data.strip():
        raise RunError(path, number, "an empty line")
    try:
        value = parse(data, number)
        if b"\\ud" in data.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise RunError(path, number, "a string holds half of a surrogate pair") from error
    except StrictJsonError as error:
        raise RunError(path, number, error.what) from error
    if not isinstance(value, dict):
        raise RunError(path, number, f"a {type(value).__name__}, not an object")
    return value


def request_json(request: Any) -> dict[str, Any]:
    """A request as it goes over the wire: what is None stays out."""
    return dict(request.model_dump(mode="json", exclude_none=True))


def reply_json(reply: Reply | Handshake) -> dict[str, Any]:
    """A reply as it came over the wire."""
    return dict(reply.model_dump(mode="json", exclude_unset=True))


def run_lines(handshake: Handshake, exchanges: Sequence[Exchange]) -> Iterator[str]:
    """A run as the lines of a recorded file."""
    yield json.dumps({"cmd": "start", "version": 1})
    yield json.dumps(reply_json(handshake), ensure_ascii=False)
    for request, reply, _ in exchanges:
        yield json.dumps(request_json(request), ensure_ascii=False)
        yield json.dumps(reply_json(reply), ensure_ascii=False)
    yield json.dumps({"cmd": "stop"})
