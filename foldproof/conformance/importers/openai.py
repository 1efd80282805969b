"""The OpenAI chat format: ``[message, …]``, ``{"messages": […]}``, or one message a line."""

from __future__ import annotations

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
    type: Literal["text", "input_text", "output_text"]
    text: str


class _Refusal(BaseModel):
    type: Literal["refusal"]
    refusal: str


class _Other(BaseModel):
    type: str


class _Function(BaseModel):
    name: str
    arguments: str


class _Call(BaseModel):
    id: str
    function: _Function


_Part = Annotated[_Text | _Refusal | _Other, Field(union_mode="left_to_right")]


class _Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None


def read(file: str, wrapper: dict[str, Any], located: list[tuple[int, dict[str, Any]]]) -> ImportedSession:
    """Read OpenAI messages; raises `SessionFormatError`. System messages become the system prompt."""
    into = Collector(file, "openai")
    prompts: list[str] = []
    for line, raw in located:
        message = parse(_Message, raw, file, line)
        text = _text(into, message)
        match message.role:
            case "system" | "developer":
                prompts.append(text)
            case "user":
                into.add(ImportedMessage("user", text, line))
            case "assistant":
                calls = tuple(
                    ToolCall(call.id, call.function.name, call.function.arguments)
                    for call in message.tool_calls or ()
                )
                into.add(ImportedMessage("assistant", text, line, calls=calls))
            case "tool":
                if message.tool_call_id is None:
                    raise into.fail(line, "tool_call_id: a tool message needs it")
                into.add(ImportedMessage("tool", text, line, result_of=message.tool_call_id))
    into.system = "\n\n".join(prompts)
    return into.finish()


def _text(into: Collector, message: _Message) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    texts = []
    for part in message.content:
        if isinstance(part, _Text):
            texts.append(part.text)
        elif isinstance(part, _Refusal):
            texts.append(part.refusal)
        else:
            into.note(f"{part.type} parts left out")
    return "\n".join(texts)
