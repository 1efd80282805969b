"""Strict JSON: what cannot be trusted is refused, with the line on which it stands.

The standard parser accepts NaN, repeated keys and integers of any size, and answers deep nesting
with a RecursionError. A trace or a recorded run that has one of these was not written by anything
that works, so each is an error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

SAFE_INTEGER = 2**53
"""Integers of this size or more do not survive readers that hold numbers as doubles."""


class StrictJsonError(ValueError):
    """A text is not the JSON that we read. ``line`` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"line {line}: {what}")
        self.what = what
        self.line = line


def parse(data: bytes, first_line: int = 1) -> Any:
    """The value that UTF-8 JSON text spells. Raises `StrictJsonError`, naming the line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise StrictJsonError(f"not UTF-8 at byte {error.start}", line) from error
    try:
        return json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_constant=_no_constant,
            parse_int=_integer,
            parse_float=_no_huge_float,
        )
    except json.JSONDecodeError as error:
        what = "the text ends too early" if error.pos >= len(text.rstrip()) else error.msg
        line = first_line + error.lineno - 1
        raise StrictJsonError(f"not JSON at column {error.colno}: {what}", line) from error
    except _RefusedError as error:
        line = first_line + text.count("\n", 0, max(text.find(error.token), 0))
        raise StrictJsonError(error.what, line) from error
    except RecursionError as error:
        raise StrictJsonError("nested too deeply", first_line) from error


def read_file(path: Path) -> Any:
    """The JSON value that a file holds. Raises `StrictJsonError`, or OSError when it cannot be read."""
    return parse(path.read_bytes())


class _RefusedError(ValueError):
    def __init__(self, what: str, token: str) -> None:
        super().__init__(what)
        self.what = what
        self.token = token


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"the key {twice!r} stands twice in one object", json.dumps(twice))
    return value


def _no_constant(token: str) -> NoReturn:
    raise _RefusedError(f"{token} is not a JSON number", token)


def _integer(token: str) -> int:
    if len(token) > len(str(SAFE_INTEGER)) + 1 or abs(int(token)) >= SAFE_INTEGER:
        raise _RefusedError(f"the number {token[:20]}{'…' * (len(token) > 20)} is too large", token)
    return int(token)


def _no_huge_float(token: str) -> float:
    value = float(token)
    if abs(value) >= SAFE_INTEGER:
        raise _RefusedError(f"the number {token[:20]} is too large", token)
    return value
