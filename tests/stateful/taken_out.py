"""A rule taken out of the reference for a while: a piece of a function replaced, wherever it is used."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Change(NamedTuple):
    """In the source of ``function``, ``old`` (which must occur exactly once) becomes ``new``."""

    function: Callable[..., Any]
    old: str
    new: str


@contextmanager
def taken_out(*changes: Change) -> Iterator[None]:
    """Run with the changes; functions keep their identity, so whoever has imported them runs them, too."""
    functions = [inspect.unwrap(change.function) for change in changes]
    before = [function.__code__ for function in functions]
    try:
        for function, change in zip(functions, changes, strict=True):
            source = textwrap.dedent(inspect.getsource(change.function))
            assert source.count(change.old) == 1, f"{change.old!r} is no longer in {function.__qualname__}"
            source = source[
                source.index("def ") if "async def " not in source else source.index("async def ") :
            ]
            space: dict[str, Any] = dict(function.__globals__)
            code = compile(
                f"from __future__ import annotations\n{source.replace(change.old, change.new)}",
                f"<{function.__qualname__} changed>",
                "exec",
            )
            exec(code, space)
            function.__code__ = space[function.__name__].__code__
        yield
    finally:
        for function, code in zip(functions, before, strict=True):
            function.__code__ = code
