"""The ``dsh`` session format: an event log, one JSON object a line, seqs counted from 0 below the header.

Only what reaches the model's surface is a message: ``user/message``, ``assistant/message`` and
``tool/result``, whose ``surfaceOp`` says whether it was appended or replaced a range of earlier events
(a checkpoint). Everything else is bookkeeping of the harness.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from foldproof.conformance.importers.imported import (
    Collector,
    ImportedMessage,
    ImportedSession,
)
from foldproof.conformance.importers.parsing import json_lines, parse
from foldproof.reference.messages import ToolCall


class _Text(BaseModel):
    type: Literal["text"]
    text: str


class _Call(BaseModel):
    type: Literal["tool-call"]
    id: str
    name: str
    arguments: str


class _Result(BaseModel):
    type: Literal["tool-result"]
    toolCallId: str  # noqa: N815 - the format's own name
    content: list[_Text | _Other] = []
    isError: bool = False  # noqa: N815


class _Other(BaseModel):
    type: str


_Block = Annotated[_Text | _Call | _Result | _Other, Field(union_mode="left_to_right")]


class _Content(BaseModel):
    content: list[_Block]


class _Usage(BaseModel):
    inputTokens: int = 0  # noqa: N815
    outputTokens: int = 0  # noqa: N815


class _Data(BaseModel):
    content: list[_Block] | None = None
    message: _Content | None = None
    usage: _Usage | None = None


class _Replace(BaseModel):
    op: Literal["replace"]
    start: int
    end: int


class _Event(BaseModel):
    type: str
    data: _Data
    surfaceOp: Literal["append"] | _Replace | None = None  # noqa: N815


_KNOWN = ("text", "tool-call", "tool-result")


def read(file: str, text: str) -> ImportedSession:
    """Read a dsh session; raises `SessionFormatError`."""
    into = Collector(file, "dsh")
    lines = list(json_lines(file, text))
    surface: list[tuple[int, int]] = []  # (seq, index into messages), in surface order
    for seq, (line, raw) in enumerate(lines[1:]):
        if raw.get("type") == "request/header":
            into.system = _system(raw)
        if raw.get("type") not in ("user/message", "assistant/message", "tool/result"):
            continue
        event = parse(_Event, raw, file, line)
        before = len(into.messages)
        for message in _messages(into, event, line):
            if isinstance(event.surfaceOp, _Replace):
                surface = _replaced(into, surface, event.surfaceOp, message, seq)
            else:
                into.add(message)
        if not isinstance(event.surfaceOp, _Replace):
            surface += [(seq, index) for index in range(before, len(into.messages))]
    return into.finish()


def _replaced(
    into: Collector, surface: list[tuple[int, int]], op: _Replace, message: ImportedMessage, seq: int
) -> list[tuple[int, int]]:
    """Put a checkpoint on the surface in place of the items from ``op.start`` to ``op.end``."""
    seqs = [item for item, _ in surface]
    if op.start not in seqs or op.end not in seqs or seqs.index(op.start) > seqs.index(op.end):
        raise into.fail(message.line, f"surfaceOp: seqs {op.start} to {op.end} are no span of the surface")
    first, last = seqs.index(op.start), len(seqs) - seqs[::-1].index(op.end)
    replaces = tuple(index for _, index in surface[first:last])
    into.messages.append(ImportedMessage("user", message.text, message.line, replaces=replaces))
    return [*surface[:first], (seq, len(into.messages) - 1), *surface[last:]]


def _messages(into: Collector, event: _Event, line: int) -> list[ImportedMessage]:
    content = event.data.message.content if event.data.message is not None else event.data.content
    if content is None:
        raise into.fail(line, f"data: a {event.type} needs content")
    for block in content:
        if block.type not in _KNOWN:
            into.note(f"{block.type} blocks left out")
    text = "\n".join(block.text for block in content if isinstance(block, _Text))
    usage = event.data.usage
    match event.type:
        case "user/message":
            return [ImportedMessage("user", text, line)]
        case "assistant/message":
            calls = tuple(ToolCall(b.id, b.name, b.arguments) for b in content if isinstance(b, _Call))
            total = usage.inputTokens + usage.outputTokens if usage is not None else 0
            return [ImportedMessage("assistant", text, line, calls=calls, usage=total or None)]
        case _:
            return [
                ImportedMessage(
                    "tool",
                    "\n".join(part.text for part in block.content if isinstance(part, _Text)),
                    line,
                    result_of=block.toolCallId,
                    is_error=block.isError,
                )
                for block in content
                if isinstance(block, _Result)
            ]


def _system(raw: dict[str, Any]) -> str:
    header = raw.get("data", {}).get("header", {}) if isinstance(raw.get("data"), dict) else {}
    system = header.get("system") if isinstance(header, dict) else None
    return system if isinstance(system, str) else ""
