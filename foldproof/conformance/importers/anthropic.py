"""The Anthropic messages format: ``{"system": …, "messages": […]}``, ``[message, …]``, or one a line.

Tool results travel in user messages there; here each becomes a tool message of its own, before what
the user wrote beside them.
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
from foldproof.conformance.importers.parsing import parse
from foldproof.reference.messages import ToolCall


class _Text(BaseModel):
    type: Literal["text"]
    text: str


class _Use(BaseModel):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class _Other(BaseModel):
    type: str


class _Result(BaseModel):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[_Text | _Other] = ""
    is_error: bool = False


_Block = Annotated[_Text | _Use | _Result | _Other, Field(union_mode="left_to_right")]
_KNOWN = ("text", "tool_use", "tool_result")


class _Usage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None

    def total(self) -> int:
        cached = (self.cache_read_input_tokens or 0) + (self.cache_creation_input_tokens or 0)
        return self.input_tokens + self.output_tokens + cached


class _Message(BaseModel):
    role: Literal["user", "assistant"]
    content: str | list[_Block]
    usage: _Usage | None = None


class _Wrapper(BaseModel):
    system: str | list[_Text] = ""


def read(file: str, wrapper: dict[str, Any], located: list[tuple[int, dict[str, Any]]]) -> ImportedSession:
    """Read Anthropic messages; raises `SessionFormatError`."""
    into = Collector(file, "anthropic", system=_joined(parse(_Wrapper, wrapper, file, 1).system))
    for line, raw in located:
        message = parse(_Message, raw, file, line)
        blocks = message.content
        if isinstance(blocks, str):
            blocks = [_Text(type="text", text=blocks)]
        for block in blocks:
            if block.type not in _KNOWN:
                into.note(f"{block.type} blocks left out")
        results = [block for block in blocks if isinstance(block, _Result)]
        calls = tuple(
            ToolCall(block.id, block.name, json.dumps(block.input, ensure_ascii=False))
            for block in blocks
            if isinstance(block, _Use)
        )
        if message.role == "user" and calls:
            raise into.fail(line, "content: a tool_use block in a user message")
        if message.role == "assistant" and results:
            raise into.fail(line, "content: a tool_result block in an assistant message")
        for result in results:
            text = _joined(result.content)
            into.add(
                ImportedMessage("tool", text, line, result_of=result.tool_use_id, is_error=result.is_error)
            )
        usage = message.usage.total() if message.usage is not None else 0
        text = _joined(blocks)
        if text or not results:
            into.add(ImportedMessage(message.role, text, line, calls=calls, usage=usage or None))
    return into.finish()


def _joined(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, _Text))
