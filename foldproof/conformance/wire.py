"""One implementation in a process of its own: JSON lines over pipes, with a clock on every reply.

Whatever goes wrong is one `WireError` that says what, with the tail of stderr; the process group is always
ended. POSIX only, as process groups are.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from foldproof.conformance.protocol import (
    EventRequest,
    Handshake,
    ProtocolError,
    Reply,
    ResetRequest,
    read_handshake,
    read_reply,
)
from foldproof.conformance.runfile import request_json
from foldproof.explore.strict_json import StrictJsonError, parse

MAX_REPLY = 4 * 2**20
"""Bytes in one reply beyond which an implementation is taken to be broken."""
STDERR_TAIL = 2_000
GRACE = 1.0
"""Seconds that a process has to leave after ``stop``, and again after SIGTERM."""


class WireError(Exception):
    """The process did not answer as the protocol says. ``stderr`` is the tail of what it wrote there."""

    def __init__(self, what: str, stderr: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.stderr = stderr


class Wire:
    """A started process. Use it as a context manager: leaving it ends the process group."""

    def __init__(self, command: Sequence[str], timeout: float = 10.0) -> None:
        self.timeout = timeout
        self._out = bytearray()
        self._err = bytearray()
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise WireError(f"cannot start {command[0]}: {error.strerror}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = (
            self._process.stdin.fileno(),
            self._process.stdout.fileno(),
            self._process.stderr.fileno(),
        )
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        try:
            self.handshake = self._handshake()
        except BaseException:
            self.close()
            raise

    def _handshake(self) -> Handshake:
        line = self._exchange({"cmd": "start", "version": 1}, "start")
        try:
            value = parse(line)
        except StrictJsonError as error:
            noise = line[:80].decode(errors="replace").strip()
            what = f"noise on stdout before the handshake: {noise!r}"
            raise WireError(what, self._tail()) from error
        try:
            return read_handshake(value)
        except ProtocolError as error:
            raise WireError(f"start: {error}", self._tail()) from error

    def ask(self, request: ResetRequest | EventRequest) -> Reply:
        """Send one request and read its reply. Raises `WireError`, naming the step."""
        step = "reset" if isinstance(request, ResetRequest) else f"step {request.seq} ({request.event.type})"
        line = self._exchange(request_json(request), step)
        try:
            return read_reply(parse(line), self.handshake, request.seq)
        except StrictJsonError as error:
            begins = line[:60].decode(errors="replace")
            raise WireError(f"{step}: the reply is {error.what}: {begins!r}", self._tail()) from error
        except ProtocolError as error:
            raise WireError(f"{step}: {error}", self._tail()) from error

    def _exchange(self, request: dict[str, Any], step: str) -> bytes:
        if self._out:
            extra = bytes(self._out[:80]).decode(errors="replace").strip()
            raise WireError(
                f"{step}: something stands on stdout that nobody asked for: {extra!r}", self._tail()
            )
        waiting = memoryview(json.dumps(request, ensure_ascii=False).encode() + b"\n")
        self._selector.register(self._stdin, selectors.EVENT_WRITE)
        deadline = time.monotonic() + self.timeout
        try:
            while (end := self._out.find(b"\n")) < 0:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise WireError(f"{step}: no reply within {self.timeout:g} s", self._tail())
                for key, _ in self._selector.select(left):
                    if key.fd == self._stdin:
                        waiting = self._write(waiting, step)
                    elif not self._read(key.fd):
                        raise WireError(f"{step}: {self._ending()}", self._tail())
                if len(self._out) > MAX_REPLY:
                    raise WireError(f"{step}: a reply of more than {MAX_REPLY // 2**20} MiB", self._tail())
        finally:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(self._stdin)
        line = bytes(self._out[:end])
        del self._out[: end + 1]
        return line

    def _write(self, waiting: memoryview, step: str) -> memoryview:
        try:
            waiting = waiting[os.write(self._stdin, waiting) :]
        except BlockingIOError:
            return waiting
        except BrokenPipeError:
            raise WireError(f"{step}: {self._ending()}", self._tail()) from None
        if not waiting:
            self._selector.unregister(self._stdin)
        return waiting

    def _read(self, descriptor: int) -> bool:
        """Take what is there; False when stdout has ended."""
        data = os.read(descriptor, 65_536)
        if descriptor == self._stdout:
            self._out += data
            return bool(data)
        self._err = (self._err + data)[-STDERR_TAIL:]
        if not data:
            self._selector.unregister(descriptor)
        return True

    def _ending(self) -> str:
        """How the process ended."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "the process closed its stdout"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"the process was ended by {signal.Signals(-code).name}"
        return f"the process ended with exit code {code}"

    def _tail(self) -> str:
        with contextlib.suppress(OSError):
            while data := os.read(self._stderr, 65_536):
                self._err = (self._err + data)[-STDERR_TAIL:]
        return bytes(self._err).decode(errors="replace").strip()

    def close(self) -> None:
        """Ask the process to stop, then end its whole group."""
        with contextlib.suppress(OSError):
            os.write(self._stdin, b'{"cmd": "stop"}\n')
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._selector.close()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
