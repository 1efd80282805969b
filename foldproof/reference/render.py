"""Requests for chat APIs: the same messages, written as OpenAI's or as Anthropic's API takes them.

Both refuse a request in which a call and its result are parted, or one of them is missing. A history
may hold such a thing for good reasons (the user wrote while a tool ran; the process died before the
result), so it is mended here, once, for both: see `paired`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final

from foldproof.reference.messages import ChatMessage
from foldproof.reference.pairing import owners

NO_RESULT: Final = "[interrupted: this call has no result]"
BEGINNING: Final = "[the conversation begins here]"


class UnpairedError(ValueError):
    """A request that cannot be written: a result without its call before it, or a second one."""


def paired(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Put every call's results directly behind it, in the order in which they came.

    A result that comes later moves up; a call without one gets `NO_RESULT`; everything else keeps its
    order. A call whose id was used before is given one of its own, in its result too. Raises
    `UnpairedError` for a result whose call is not there, or comes after it.
    """
    given = list(messages)
    names = _own_ids(given)
    results: defaultdict[tuple[int, str], list[ChatMessage]] = defaultdict(list)
    behind: defaultdict[int, list[ChatMessage]] = defaultdict(list)
    for place, (message, owner) in enumerate(zip(given, owners(given), strict=True)):
        if message.result_of is None:
            continue
        if owner is None:
            raise UnpairedError(f"message {place}: a result of {message.result_of!r} before its call")
        if results[owner, message.result_of]:
            raise UnpairedError(f"message {place}: a second result of {message.result_of!r}")
        result = replace(message, result_of=names[owner, message.result_of])
        results[owner, message.result_of].append(result)
        behind[owner].append(result)
    out: list[ChatMessage] = []
    for place, message in enumerate(given):
        if message.result_of is None:
            calls = tuple(replace(call, id=names[place, call.id]) for call in message.calls)
            missing = [names[place, call.id] for call in message.calls if not results[place, call.id]]
            out += [replace(message, calls=calls) if calls else message, *behind[place]]
            out += [ChatMessage("tool", NO_RESULT, result_of=call, is_error=True) for call in missing]
    return out


def _own_ids(messages: Sequence[ChatMessage]) -> dict[tuple[int, str], str]:
    """An id for each call, by its place and the id that it came with: its own where it is the first."""
    taken = {call.id for message in messages for call in message.calls}
    seen: set[str] = set()
    names: dict[tuple[int, str], str] = {}
    for place, message in enumerate(messages):
        for call in message.calls:
            if (place, call.id) in names:
                raise UnpairedError(f"message {place}: the call id {call.id!r} is used a second time in it")
            names[place, call.id] = call.id if call.id not in seen else _free(call.id, taken)
            taken.add(names[place, call.id])
            seen.add(call.id)
    return names


def _free(base: str, taken: Container[str]) -> str:
    """``base`` with the least number behind it, from 2 on, that nothing is called by."""
    return next(name for number in count(2) if (name := f"{base}_{number}") not in taken)


def render_openai(messages: Iterable[ChatMessage], system: str = "") -> list[dict[str, Any]]:
    """The ``messages`` of an OpenAI chat completion request. Raises `UnpairedError`."""
    out: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for message in paired(messages):
        if message.result_of is not None:
            out.append({"role": "tool", "tool_call_id": message.result_of, "content": message.text})
        elif message.calls:
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in message.calls
            ]
            out.append({"role": "assistant", "content": message.text or None, "tool_calls": calls})
        elif message.text:
            out.append({"role": message.role, "content": message.text})
    return out


def render_anthropic(messages: Iterable[ChatMessage], system: str = "") -> dict[str, Any]:
    """``system`` and ``messages`` of an Anthropic request. Raises `UnpairedError`.

    That API wants the roles to alternate, beginning with the user's, all results of a message's calls
    at the head of the next, no blank text, and ids of letters, digits, ``_`` and ``-`` alone.
    Arguments that are no JSON object (a model may write anything) travel as ``{"arguments": text}``.
    """
    ordered = paired(messages)
    names = _plain_ids([call.id for message in ordered for call in message.calls])
    turns: list[dict[str, Any]] = []
    for message in ordered:
        blocks: list[dict[str, Any]] = []
        if message.result_of is not None:
            result = {"type": "tool_result", "tool_use_id": names[message.result_of], "content": message.text}
            blocks.append(result | ({"is_error": True} if message.is_error else {}))
        elif message.text.strip():
            blocks.append({"type": "text", "text": message.text})
        blocks += [
            {"type": "tool_use", "id": names[call.id], "name": call.name, "input": _object(call.arguments)}
            for call in message.calls
        ]
        role = "assistant" if message.role == "assistant" else "user"
        if blocks and turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": BEGINNING}]})
    return {"system": system, "messages": turns} if system else {"messages": turns}


def _plain_ids(ids: Sequence[str]) -> dict[str, str]:
    """Rename ids to what Anthropic's API allows: those that it allows stay, no two become alike."""
    plain = {name: name for name in ids if re.fullmatch(r"[a-zA-Z0-9_-]+", name)}
    taken = set(plain)
    for name in ids:
        if name not in plain:
            base = re.sub(r"[^a-zA-Z0-9_-]", "_", name) or "call"
            plain[name] = base if base not in taken else _free(base, taken)
            taken.add(plain[name])
    return plain


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"arguments": arguments}
