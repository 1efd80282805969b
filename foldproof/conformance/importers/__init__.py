"""Importers: other agents' session files, read as plain conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args

from foldproof.conformance.importers import anthropic, dsh, openai, pi
from foldproof.conformance.importers.imported import (
    ImportedMessage,
    ImportedSession,
    SessionFormatError,
)
from foldproof.conformance.importers.parsing import json_document, json_lines, read_text

__all__ = [
    "FORMATS",
    "ImportedMessage",
    "ImportedSession",
    "SessionFormatError",
    "detect",
    "load_session",
]

Format = Literal["pi", "dsh", "openai", "anthropic"]
FORMATS: tuple[str, ...] = (*get_args(Format), "auto")

Located = list[tuple[int, dict[str, Any]]]


def load_session(path: Path | str, format: str = "auto") -> ImportedSession:  # noqa: A002 - the flag's name
    """Read the session file ``path``.

    ``format`` is one of `FORMATS`; ``auto`` decides by the content. Raises `SessionFormatError` (one
    line with file and line number) for a file that is not what it should be, OSError for one that
    cannot be read, ValueError for an unknown format.
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: one of {', '.join(FORMATS)}")
    file, text = str(path), read_text(Path(path))
    chosen = detect(file, text) if format == "auto" else format
    match chosen:
        case "pi":
            return pi.read(file, text)
        case "dsh":
            return dsh.read(file, text)
        case "openai":
            return openai.read(file, *_chat(file, text))
        case _:
            return anthropic.read(file, *_chat(file, text))


def detect(file: str, text: str) -> Format:
    """Tell the format from the content; raises `SessionFormatError` when none fits.

    The two event logs begin with a header of type ``session``, which only dsh's follows with events
    that wrap their fields in ``data``. The chat formats differ in how they write tool calls; a
    conversation without any reads the same either way, and counts as OpenAI's.
    """
    first_line, rest = text.lstrip().partition("\n")[::2]
    if first_line.startswith("{"):
        try:
            header = next(json_lines(file, first_line))[1]
        except SessionFormatError:
            header = {}  # an object that goes on over several lines
        if header.get("type") == "session":
            second = rest.lstrip().partition("\n")[0]
            return "dsh" if '"data"' in second or "createdAt" in header else "pi"
    wrapper, located = _chat(file, text)
    for line, message in located:
        if message.get("role") not in ("system", "developer", "user", "assistant", "tool"):
            known = ", ".join(get_args(Format))
            raise SessionFormatError(file, line, f"no known session format ({known}); --format may name one")
    if "system" in wrapper or any(_is_anthropic(message) for _, message in located):
        return "anthropic"
    return "openai"


def _is_anthropic(message: dict[str, Any]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    kinds = {block.get("type") for block in blocks if isinstance(block, dict)}
    return not kinds.isdisjoint({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def _chat(file: str, text: str) -> tuple[dict[str, Any], Located]:
    """Read a chat document: a list, an object with ``messages``, or one message a line."""
    first_line, rest = text.strip().partition("\n")[::2]
    try:
        first = json.loads(first_line)
    except (ValueError, RecursionError):
        return json_document(file, text)  # goes on over several lines, or is broken: that reader says where
    if isinstance(first, dict) and (rest or "messages" not in first):
        return {}, list(json_lines(file, text))
    return json_document(file, text)
