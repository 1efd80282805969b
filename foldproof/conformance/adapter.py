"""Write an adapter in Python: subclass `Adapter`, call `serve`. Standard library only: it can be copied.

    class Mine(Adapter):
        implementation = {"name": "mine", "language": "python"}
        observes = ("view", "history_length")

        def reset(self, config): self.session = Session()
        def append(self, message): self.session.add(message["role"], message["text"])
        def undo(self, count): self.session.undo(count)
        def observe(self): return {"view": [...], "history_length": len(self.session)}

    if __name__ == "__main__":
        serve(Mine())

The events that an adapter supports are the methods that it defines. A method returns None when the event was
applied; it raises `Rejected` when the implementation refuses it and `Skipped` when the adapter cannot do it.
Anything else that it raises is reported as ``errored``, with the traceback on stderr.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import traceback
from collections.abc import Iterable
from typing import Any, BinaryIO, ClassVar

VERSION = 1
EVENTS: dict[str, tuple[str, ...]] = {
    "append": ("message",),
    "call": ("kind", "call", "summary", "memory"),
    "step_end": (),
    "measure": ("tokens",),
    "undo": ("count",),
    "clear": (),
    "compact": ("summary", "keep", "frozen"),
    "restore": (),
    "toggle": ("enabled",),
    "branch": ("name", "count"),
    "switch": ("name",),
    "remove": ("prompt",),
    "regenerate": ("prompt", "message"),
}
"""Every event, with the fields that are handed to the method of its name; an absent one is None."""

OPTIONAL = {"compact": ("keep", "frozen")}
"""Fields that a method may leave out of its signature; the others are listed as ``compact.keep``."""


class Rejected(Exception):  # noqa: N818 - it is no error: the implementation says no
    """The implementation refuses the event; its state is as before."""


class Skipped(Exception):  # noqa: N818 - it is no error: the adapter cannot do it
    """The adapter cannot do this event in this state; the implementation was not asked."""


class Adapter:
    """One implementation under test.

    ``observes`` names what `observe` returns; ``tokens`` is the declared tolerance (a share of the view's
    size) and overhead (tokens) of the trigger.
    """

    implementation: ClassVar[dict[str, str]] = {"name": "unnamed", "language": "python"}
    observes: ClassVar[tuple[str, ...]] = ()
    tokens: ClassVar[dict[str, float] | None] = None

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a new, empty session."""
        raise NotImplementedError

    def observe(self) -> dict[str, Any]:
        """Everything that ``observes`` names, as it is now."""
        raise NotImplementedError

    @property
    def events(self) -> list[str]:
        """The events that this adapter has a method for, and the optional fields that the methods take."""
        names = [name for name in EVENTS if callable(getattr(self, name, None))]
        return names + [f"{name}.{field}" for name in names for field in _taken(getattr(self, name), name)]


def markers(text: str) -> str:
    """The provenance markers in a text, in order, each once: what a fake summarizer echoes."""
    return " ".join(dict.fromkeys(re.findall(r"\[\[[A-Za-z0-9_.:-]+\]\]", text)))


def echo_markers(texts: Iterable[str]) -> str:
    """A fake summary of these texts: the markers of all of them."""
    return markers(" ".join(texts))


def reply_to(adapter: Adapter, request: dict[str, Any]) -> dict[str, Any] | None:
    """The reply to one request; None to ``stop``."""
    command = request.get("cmd")
    if command == "stop":
        return None
    if command == "start":
        hello: dict[str, Any] = {
            "version": VERSION,
            "implementation": adapter.implementation,
            "events": adapter.events,
            "observes": list(adapter.observes),
        }
        return hello if adapter.tokens is None else {**hello, "tokens": adapter.tokens}
    reply: dict[str, Any] = {"seq": request.get("seq"), "status": "applied"}
    try:
        if command == "reset":
            adapter.reset(request.get("config") or {})
        elif command == "event":
            _event(adapter, request["event"])
        else:
            raise ValueError(f"unknown command {command!r}")
        reply["observation"] = adapter.observe()
    except (Rejected, Skipped) as refusal:
        reply |= {"status": type(refusal).__name__.lower(), "reason": str(refusal)}
        reply["observation"] = adapter.observe()
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        reply |= {"status": "errored", "reason": f"{type(error).__name__}: {error}"[:500], "observation": {}}
    return reply


def _event(adapter: Adapter, event: dict[str, Any]) -> None:
    name = event["type"]
    method = getattr(adapter, name, None)
    if name not in EVENTS or not callable(method):
        raise Skipped(f"no event {name}")
    fields = {field: event.get(field) for field in EVENTS[name]}
    for field in OPTIONAL.get(name, ()):
        if field not in _taken(method, name):
            del fields[field]
    method(**fields)


def _taken(method: Any, name: str) -> list[str]:
    """The optional fields of an event that a method has parameters for."""
    parameters = inspect.signature(method).parameters
    return [field for field in OPTIONAL.get(name, ()) if field in parameters]


def serve(adapter: Adapter, requests: Iterable[bytes] | None = None, replies: BinaryIO | None = None) -> None:
    """Answer requests until ``stop`` or the end of the input.

    ``print`` is led to stderr meanwhile: only replies may stand on stdout.
    """
    source = sys.stdin.buffer if requests is None else requests
    target = sys.stdout.buffer if replies is None else replies
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in source:
            if not line.strip():
                continue
            reply = reply_to(adapter, json.loads(line))
            if reply is None:
                return
            target.write(json.dumps(reply, ensure_ascii=False).encode() + b"\n")
            target.flush()
    finally:
        sys.stdout = stdout
