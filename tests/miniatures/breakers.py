"""Those that do not keep the protocol: crashes, silence, noise, broken lines, answers that differ."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from miniature import Miniature


class CrashOnClear(Miniature):
    """The process dies."""

    def clear(self) -> None:
        print("clear: segmentation fault (not really)", file=sys.stderr)
        os._exit(7)


class KilledOnUndo(Miniature):
    """The process is killed."""

    def undo(self, count: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class ErrorOnCompact(Miniature):
    """An exception that the adapter reports."""

    def compact(self, summary: str, keep: int | None) -> None:
        raise KeyError("messages")


class SlowCompact(Miniature):
    """A reply that comes too late."""

    def compact(self, summary: str, keep: int | None) -> None:
        time.sleep(30)


class Raw(Miniature):
    """Something else than a reply stands on stdout when the session is cleared."""

    line = b""

    def clear(self) -> None:
        super().clear()
        os.write(1, self.line)


class BrokenJson(Raw):
    """Half an object."""

    line = b'{"seq": 4, "status"\n'


class WrongSeq(Raw):
    """Another step's reply."""

    line = b'{"seq": 99, "status": "applied", "observation": {}}\n'


class MegabyteLine(Raw):
    """Megabytes in one line."""

    line = b"x" * (5 * 2**20)


class NaNReply(Raw):
    """A number that is none."""

    line = b'{"seq": 4, "status": "applied", "observation": {"trigger": NaN}}\n'


class ExtraLine(Miniature):
    """A debugging line on stdout."""

    def observe(self) -> dict[str, Any]:
        if len(self.history) == 2:
            os.write(1, b"debug: two messages\n")
        return super().observe()


class LessThanDeclared(Miniature):
    """An observation without what the handshake declares."""

    def observe(self) -> dict[str, Any]:
        seen = super().observe()
        return {name: value for name, value in seen.items() if name != "trigger"}


class Unsteady(Miniature):
    """Every other session keeps what an undo takes back."""

    sessions = 0

    def reset(self, config: dict[str, Any]) -> None:
        super().reset(config)
        self.sessions += 1

    def undo(self, count: int) -> None:
        if self.sessions % 2:
            super().undo(count)
        else:
            self.undo_cut(count)


def before_serving(name: str) -> None:
    """The faults that show before the first reply."""
    match name:
        case "noise-first":
            print("Loading plugins...", flush=True)
        case "exits-at-once":
            sys.exit("cannot find my configuration")
        case "says-nothing":
            time.sleep(30)
        case "keeps-a-child":
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(300)
                os._exit(0)
