"""Alphabets: events print as traces name them, and are read back.

The core's alphabet has a reader of its own (`foldproof.model.events`), because its arguments are of
two kinds; for the extended machines every argument is a natural number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

EventT = TypeVar("EventT")

_SPELLING = re.compile(r"(?P<name>[A-Za-z0-9]+)(?:\((?P<arguments>[0-9]{1,9}(?:,[0-9]{1,9})*)\))?")


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event that prints as its name and its arguments: ``Begin(2)``."""

    def __str__(self) -> str:
        arguments = ",".join(str(getattr(self, field.name)) for field in fields(self))
        return type(self).__name__ + (f"({arguments})" if arguments else "")


class Alphabet(Generic[EventT]):
    """The event types of one machine, and the inverse of ``str`` over them."""

    def __init__(self, *types: Callable[..., EventT]) -> None:
        self._types = {event_type.__name__: event_type for event_type in types}

    @property
    def spellings(self) -> tuple[str, ...]:
        """How each event is spelled, for messages: ``Begin(k)``, ``Land``."""
        return tuple(
            name + (f"({','.join(field.name for field in fields(t))})" if fields(t) else "")  # type: ignore[arg-type]
            for name, t in self._types.items()
        )

    def read(self, text: str) -> EventT:
        """The event spelled this way. Raises ValueError, naming the text and the events that exist."""
        match = _SPELLING.fullmatch(text.replace(" ", ""))
        event_type = None if match is None else self._types.get(match["name"])
        if match is not None and event_type is not None:
            arguments = [int(a) for a in (match["arguments"] or "").split(",") if a]
            if len(arguments) == len(fields(event_type)):  # type: ignore[arg-type]
                return event_type(*arguments)
        raise ValueError(f"unknown event {text[:60]!r}; events are {', '.join(self.spellings)}")
