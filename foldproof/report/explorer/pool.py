"""Pooling: what many cards of a run have in common stands in the page once.

A history of n messages is in each of the states that follow it, so without this a page grows with the
square of the run. The page undoes it when it opens (``unpooled`` in dom.js).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

PATHS: tuple[tuple[str, ...], ...] = (
    ("lane", "messages"),
    ("lane", "items"),
    ("state", "history"),
    ("state", "session", "history"),
)
"""Where in a card the long lists are."""


def pooled(run: dict[str, Any]) -> dict[str, Any]:
    """The run with each of these lists as places in ``pool``; what is given stays as it is."""
    places: dict[str, int] = {}
    pool: list[Any] = []

    def place(value: Any) -> int:
        text = json.dumps(value)
        if text not in places:
            places[text] = len(pool)
            pool.append(value)
        return places[text]

    cards = []
    for card in run["cards"]:
        for path in PATHS:
            card = _replaced(card, path, place)  # noqa: PLW2901 - a copy, path after path
        cards.append(card)
    return {**run, "cards": cards, "pool": pool, "paths": PATHS}


def _replaced(value: Any, path: Sequence[str], place: Any) -> Any:
    if not path:
        return [place(part) for part in value] if isinstance(value, list) else value
    if not isinstance(value, dict) or path[0] not in value:
        return value
    return {**value, path[0]: _replaced(value[path[0]], path[1:], place)}
