"""The ``pi`` session format: one JSON object a line, messages among changes of model and settings.

Version 1 is a list. From version 2 on entries form a tree (``id``, ``parentId``) and the conversation
is the path from the root to the last entry. The log keeps what a compaction of its own replaced, so
compaction entries are left out here: the originals are all there.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from foldproof.conformance.importers.imported import (
    Collector,
    ImportedMessage,
    ImportedSession,
)
from foldproof.conformance.importers.parsing import json_lines, parse
from foldproof.reference.messages import ToolCall

_BOOKKEEPING = {"session", "thinking_level_change", "model_change", "label", "session_info", "custom"}


class _Text(BaseModel):
    type: Literal["text"]
    text: str


class _Call(BaseModel):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: dict[str, Any] | str


class _Thinking(BaseModel):
    type: Literal["thinking"]


class _Image(BaseModel):
    type: Literal["image"]


_Block = Annotated[_Text | _Call | _Thinking | _Image, Field(discriminator="type")]


class _Usage(BaseModel):
    input: int = 0
    output: int = 0
    cacheRead: int = 0  # noqa: N815 - the format's own name
    cacheWrite: int = 0  # noqa: N815

    def total(self) -> int:
        return self.input + self.output + self.cacheRead + self.cacheWrite


class _Message(BaseModel):
    role: str
    content: str | list[_Block] = []
    usage: _Usage | None = None
    toolCallId: str | None = None  # noqa: N815
    isError: bool = False  # noqa: N815


class _Entry(BaseModel):
    message: _Message


def read(file: str, text: str) -> ImportedSession:
    """Read a pi session; raises `SessionFormatError`."""
    into = Collector(file, "pi")
    for line, entry in _branch(into, list(json_lines(file, text))):
        kind = entry.get("type")
        if kind == "message":
            _message(into, parse(_Entry, entry, file, line).message, line)
        elif kind not in _BOOKKEEPING:
            into.note(f"entries of type {kind!r} left out")
    return into.finish()


def _message(into: Collector, message: _Message, line: int) -> None:
    blocks = (
        [_Text(type="text", text=message.content)] if isinstance(message.content, str) else message.content
    )
    text = "\n".join(block.text for block in blocks if isinstance(block, _Text))
    for block in blocks:
        if isinstance(block, _Thinking | _Image):
            into.note(f"{block.type} blocks left out")
    usage = message.usage.total() if message.usage is not None else 0
    match message.role:
        case "user":
            into.add(ImportedMessage("user", text, line))
        case "assistant":
            calls = tuple(
                ToolCall(
                    block.id,
                    block.name,
                    block.arguments
                    if isinstance(block.arguments, str)
                    else json.dumps(block.arguments, ensure_ascii=False),
                )
                for block in blocks
                if isinstance(block, _Call)
            )
            into.add(ImportedMessage("assistant", text, line, calls=calls, usage=usage or None))
        case "toolResult":
            into.add(
                ImportedMessage("tool", text, line, result_of=message.toolCallId, is_error=message.isError)
            )
        case other:
            into.note(f"messages of role {other!r} left out")


def _branch(into: Collector, entries: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """Keep the entries of the current branch: the ancestors of the last entry, in order."""
    by_id = {entry["id"]: (line, entry) for line, entry in entries if "parentId" in entry and "id" in entry}
    if not by_id:
        return entries
    path: list[tuple[int, dict[str, Any]]] = []
    line, at = entries[-1][0], entries[-1][1].get("id")
    while at is not None:
        if at not in by_id:
            raise into.fail(line, f"parentId {at!r}: no such entry")
        if len(path) > len(by_id):
            raise into.fail(line, f"parentId {at!r}: the entries form a circle")
        line, entry = by_id[at]
        path.append((line, entry))
        at = entry["parentId"]
    for _ in range(len(by_id) - len(path)):
        into.note("entries on other branches left out")
    return path[::-1]
