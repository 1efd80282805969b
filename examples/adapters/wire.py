"""The JSON-lines loop that the adapters in these folders share: standard library only, nothing of foldproof.

A subclass of `Harness` names the events that it supports (one method each) and what it observes; `serve` answers
`start`, `reset`, `event` and `stop` on stdin and stdout until stdin closes. Whatever the package under test prints goes to
stderr, so that stdout carries replies and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from typing import Any, ClassVar

_MARKER = re.compile(r"\[\[[^\[\]]+\]\]")
EVENTS = ("append", "call", "step_end", "measure", "undo", "clear", "compact", "restore", "toggle")


class Rejected(Exception):  # noqa: N818 (a reply of the protocol, not an error)
    """The package refuses the event, with its reason; the session is as it was."""


class Skipped(Exception):  # noqa: N818
    """The event has no meaning for the package in this state; nothing was done."""


class Harness:
    """One package under test, driven by its own public interface."""

    implementation: ClassVar[dict[str, str]]
    observes: ClassVar[tuple[str, ...]] = ("view", "history_length")
    tokens: ClassVar[dict[str, int] | None] = None

    def reset(self, config: dict[str, Any]) -> None:
        """Begin an empty session."""
        raise NotImplementedError

    def observe(self) -> dict[str, Any]:
        """Look, without moving the session: the values of `observes`."""
        raise NotImplementedError

    def close(self) -> None:
        """Release files before the process ends."""


def item(role: str, text: str, **more: object) -> dict[str, object]:
    """One entry of an observed view."""
    return {"role": role, "text": text, **more}


def tail_from_user(roles: list[str], count: int) -> int:
    """The index of the `count`-th user prompt from the end, where an undo of that many cuts."""
    prompts = [index for index, role in enumerate(roles) if role == "user"]
    if count < 1 or count > len(prompts):
        raise Rejected(f"undo of {count} prompts, but the session holds {len(prompts)}")
    return prompts[-count]


def serve(harness: Harness) -> None:
    """Answer requests until `stop` or the end of stdin."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            break
        print(json.dumps(_answer(harness, request), ensure_ascii=False), file=out, flush=True)
    harness.close()


def _answer(harness: Harness, request: dict[str, Any]) -> dict[str, Any]:
    if request["cmd"] == "start":
        reply: dict[str, Any] = {
            "version": 1,
            "implementation": harness.implementation,
            "events": [name for name in EVENTS if hasattr(harness, name)],
            "observes": list(harness.observes),
        }
        return reply if harness.tokens is None else {**reply, "tokens": harness.tokens}
    answer: dict[str, Any] = {"seq": request["seq"], "status": "applied"}
    try:
        if request["cmd"] == "reset":
            harness.reset(request.get("config") or {})
        else:
            event = dict(request["event"])
            getattr(harness, event.pop("type"))(**event)
    except Rejected as refusal:
        answer |= {"status": "rejected", "reason": str(refusal)}
    except Skipped as reason:
        answer |= {"status": "skipped", "reason": str(reason)}
    except Exception as error:  # the boundary: a crash of the package is an answer, with its traceback on stderr
        traceback.print_exc()
        answer |= {"status": "errored", "reason": f"{type(error).__name__}: {error}"}
    answer["observation"] = harness.observe()
    return answer


def markers(text: str) -> str:
    """The markers in a text, in order and space-separated: what a fake summariser echoes of what it was given."""
    return " ".join(_MARKER.findall(text))
