"""The gauge: the last known size of the view, and what came after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Gauge:
    """``tokens`` is the size of the view when the history had ``length`` messages.

    ``measured`` by a provider, or the session's ``estimate``. Live only: a session that is opened again
    begins with an estimate of its view.
    """

    length: int = 0
    tokens: int = 0
    kind: Literal["measured", "estimate"] = "estimate"


class Sizes(NamedTuple):
    """What a status line shows, of one moment, in tokens: the view, and the history without any fold."""

    projected: int
    raw: int
