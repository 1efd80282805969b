"""Reading JSON so that every error can say file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from foldproof.conformance.importers.imported import SessionFormatError

ModelT = TypeVar("ModelT", bound=BaseModel)

_SPACE = " \t\r\n"


def read_text(path: Path) -> str:
    """Read a file as UTF-8; what cannot be decoded is an error that names its line."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SessionFormatError(str(path), line, f"not UTF-8 (byte 0x{data[error.start]:02x})") from None
    if not text.strip():
        raise SessionFormatError(str(path), 1, "the file is empty")
    return text


def json_lines(file: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, object)`` for each non-empty line; a line that is no object is an error."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = _loads(line)
        except ValueError as error:
            torn = " (the last line: the file may have been cut off)" if number == len(lines) else ""
            raise SessionFormatError(file, number, f"not JSON: {_reason(error)}{torn}") from None
        if not isinstance(value, dict):
            raise SessionFormatError(file, number, f"a JSON object is expected, not {_name(value)}")
        yield number, value


def json_document(file: str, text: str) -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]]]:
    """Read ``[message, …]`` or ``{"messages": [message, …], …}``, with the line each message starts on.

    Returns the wrapping object (empty for a bare list; without its messages) and the messages.
    """
    try:
        document = _loads(text)
    except ValueError as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise SessionFormatError(file, line, f"not JSON: {_reason(error)}") from None
    wrapper: dict[str, Any] = {}
    start = len(text) - len(text.lstrip(_SPACE))
    if isinstance(document, dict):
        if "messages" not in document:
            raise SessionFormatError(file, 1, 'an object with a list "messages" is expected')
        wrapper = {key: value for key, value in document.items() if key != "messages"}
        start = _offset_of_value(text, "messages")
        document = document["messages"]
    if not isinstance(document, list):
        raise SessionFormatError(
            file, _line(text, start), f'"messages": a list is expected, not {_name(document)}'
        )
    located = list(zip(_element_lines(text, start), document, strict=True))
    for line, value in located:
        if not isinstance(value, dict):
            raise SessionFormatError(file, line, f"a message is a JSON object, not {_name(value)}")
    return wrapper, located


def parse(model: type[ModelT], value: object, file: str, line: int) -> ModelT:
    """Validate ``value``; the first thing wrong becomes one line naming file, line and field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SessionFormatError(file, line, f"{where}: {first['msg']}" if where else first["msg"]) from None


def _loads(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _reason(error: ValueError) -> str:
    return f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)


def _name(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _skip(text: str, offset: int, also: str = "") -> int:
    while offset < len(text) and text[offset] in _SPACE + also:
        offset += 1
    return offset


# The two below walk text that json.loads has accepted already, so they need no error handling.


def _offset_of_value(text: str, key: str) -> int:
    """Offset of the value of a top-level ``key``; the last one counts, as it does for json.loads."""
    decoder = json.JSONDecoder()
    found = 0
    offset = _skip(text, 0, "{")
    while text[offset] != "}":
        name, offset = decoder.raw_decode(text, offset)
        offset = _skip(text, offset, ":")
        if name == key:
            found = offset
        _, offset = decoder.raw_decode(text, offset)
        offset = _skip(text, offset, ",")
    return found


def _element_lines(text: str, start: int) -> Iterator[int]:
    """Yield the line of each element of the list that starts at ``start``."""
    decoder = json.JSONDecoder()
    offset, line, counted = _skip(text, start + 1), _line(text, start), start
    while text[offset] != "]":
        line += text.count("\n", counted, offset)
        counted = offset
        yield line
        _, offset = decoder.raw_decode(text, offset)
        offset = _skip(text, offset, ",")
