"""Writes a conversation in each of the formats that the importers read: their inverse, for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from foldproof.conformance.importers import ImportedMessage


def _lines(objects: Sequence[Any]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in objects)


def as_pi(messages: Sequence[ImportedMessage]) -> str:
    entries: list[Any] = [
        {"type": "session", "id": "sample", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/home/dev"}
    ]
    for message in messages:
        content: list[Any] = [{"type": "text", "text": message.text}] if message.text else []
        content += [
            {"type": "toolCall", "id": c.id, "name": c.name, "arguments": json.loads(c.arguments)}
            for c in message.calls
        ]
        body: dict[str, Any] = {"role": message.role, "content": content}
        if message.role == "tool":
            body |= {"role": "toolResult", "toolCallId": message.result_of, "isError": message.is_error}
        entries.append({"type": "message", "timestamp": "2026-01-01T00:00:00Z", "message": body})
    return _lines(entries)


def as_dsh(messages: Sequence[ImportedMessage]) -> str:
    events: list[Any] = [
        {"type": "session", "version": 0, "id": "sample", "createdAt": 0, "cwd": "/home/dev"}
    ]
    for message in messages:
        content: list[Any] = [{"type": "text", "text": message.text}] if message.text else []
        if message.role == "user":
            events.append({"type": "user/message", "data": {"content": content}, "surfaceOp": "append"})
        elif message.role == "assistant":
            content += [
                {"type": "tool-call", "id": c.id, "name": c.name, "arguments": c.arguments}
                for c in message.calls
            ]
            data = {"message": {"role": "assistant", "content": content}}
            events.append({"type": "assistant/message", "data": data, "surfaceOp": "append"})
        else:
            result = {"type": "tool-result", "toolCallId": message.result_of, "content": content}
            data = {"message": {"role": "user", "content": [result | {"isError": message.is_error}]}}
            events.append({"type": "tool/result", "data": data, "surfaceOp": "append"})
    return _lines(events)


def openai_messages(messages: Sequence[ImportedMessage]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            out.append({"role": "tool", "tool_call_id": message.result_of, "content": message.text})
            continue
        item: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.calls:
            item["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in message.calls
            ]
        out.append(item)
    return out


def as_openai(messages: Sequence[ImportedMessage]) -> str:
    return json.dumps({"messages": openai_messages(messages)}, indent=1, ensure_ascii=False) + "\n"


def anthropic_messages(messages: Sequence[ImportedMessage]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "tool":
            result = {"type": "tool_result", "tool_use_id": message.result_of, "content": message.text}
            if message.is_error:
                result["is_error"] = True
            out.append({"role": "user", "content": [result]})
            continue
        blocks: list[Any] = [{"type": "text", "text": message.text}] if message.text else []
        blocks += [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": json.loads(c.arguments)}
            for c in message.calls
        ]
        out.append({"role": message.role, "content": blocks})
    return out


def as_anthropic(messages: Sequence[ImportedMessage], system: str = "Be brief.") -> str:
    document = {"system": system, "messages": anthropic_messages(messages)}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


WRITERS = {"pi": as_pi, "dsh": as_dsh, "openai": as_openai, "anthropic": as_anthropic}
