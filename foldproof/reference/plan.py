"""Where a pass may cut the surface, and where it does.

All positions are surface positions; a boundary at ``p`` lies before the item at ``p``.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from foldproof.reference.pairing import owners
from foldproof.reference.settings import Settings
from foldproof.reference.spine import is_content
from foldproof.reference.surface import Item, ItemClass

RECALL_TOOLS = frozenset({"history_read", "history_search"})


@dataclass(frozen=True, slots=True)
class Plan:
    """The regions of a pass, left to right: ``chunks`` become stubs, ``trailing`` becomes the state.

    ``start`` is where the compactable span begins; ``retained`` is where the tail begins.
    """

    start: int
    retained: int
    chunks: tuple[tuple[int, int], ...]
    trailing: tuple[int, int]

    @property
    def regions(self) -> tuple[tuple[int, int], ...]:
        return (*self.chunks, self.trailing)


def frozen_end(view: Sequence[Item]) -> int:
    """The position behind the last index stub: 0 when there is none. Nothing before it is ever touched."""
    for position in range(len(view) - 1, -1, -1):
        if view[position].kind is ItemClass.INDEX:
            return position + 1
    return 0


def edges(view: Sequence[Item], start: int, parted: Container[int] = ()) -> list[bool]:
    """For each position from ``start`` to the end: does a boundary there leave calls and results together?

    ``result[i]`` speaks of position ``start + i``. A call is open until its last result; one without
    a result is open until the next message that is no result (from then on it was given up), or to the
    end when there is none (it may still be answered).
    """
    last_result: dict[tuple[int, str], int] = {}
    answered = owners(view[position].message for position in range(start, len(view)))
    for position, owner in enumerate(answered, start):
        if owner is not None:
            last_result[start + owner, view[position].message.result_of or ""] = position
    out: list[bool] = []
    open_until = start - 1  # position of the last item that has to stay with something before it
    unanswered = False
    for position in range(start, len(view)):
        message = view[position].message
        if message.result_of is None:
            unanswered = False
        out.append(position > open_until and not unanswered and position not in parted)
        for call in message.calls:
            if (position, call.id) in last_result:
                open_until = max(open_until, last_result[position, call.id])
            else:
                unanswered = True
    out.append(open_until < len(view) and not unanswered and len(view) not in parted)
    return out


def retain_boundary(view: Sequence[Item], start: int, settings: Settings, edge: Sequence[bool]) -> int:
    """Where the tail begins: ``retain_tokens`` from the end, then left to an edge; at least ``start``."""
    position, kept = len(view), 0
    while position > start and kept < settings.retain_tokens:
        position -= 1
        kept += view[position].tokens
    while position > start and not edge[position - start]:
        position -= 1
    return position


def plan_pass(view: Sequence[Item], settings: Settings, parted: Container[int] = ()) -> Plan | None:
    """Plan a pass over ``view``, none when nothing but checkpoints (or nothing at all) is stale."""
    start = frozen_end(view)
    edge = edges(view, start, parted)
    retained = retain_boundary(view, start, settings, edge)
    if not any(is_content(view[position]) for position in range(start, retained)):
        return None
    last = _last_boundary(view, start, retained, edge)
    chunks = _chunks(view, start, last, settings, edge)
    return Plan(start, retained, chunks, (chunks[-1][1] if chunks else start, retained))


def _last_boundary(view: Sequence[Item], start: int, retained: int, edge: Sequence[bool]) -> int:
    """Where the trailing slice begins: it is about the last stale turn."""
    turn = next((p for p in range(retained - 1, start, -1) if view[p].is_prompt and edge[p - start]), None)
    if turn is not None:
        return turn
    return next((p for p in range(retained - 1, start, -1) if edge[p - start]), start)


def _chunks(
    view: Sequence[Item], start: int, end: int, settings: Settings, edge: Sequence[bool]
) -> tuple[tuple[int, int], ...]:
    """Cut ``[start, end)`` into chunks of about ``chunk_tokens``; ``end`` is a boundary.

    A chunk ends at the last turn boundary that leaves it at least half full, else at the last edge that
    does, else at the first edge there is. What is left over and less than half a chunk joins the last
    one; without one it goes with the trailing slice, since a stub would hardly be smaller. A superseded
    state always goes into a chunk, however small: were it folded into the next state, reading what the
    one before it shadows would take a hop more with every pass.
    """
    bounds = [start]
    size, turn, cut = 0, None, None
    target = settings.chunk_tokens
    position = start
    while position < end:
        size += view[position].tokens
        position += 1
        if position >= end:
            break
        if edge[position - start] and size >= target / 2:
            cut = position
            if view[position].is_prompt:
                turn = position
        if size >= target and cut is not None:
            position = turn if turn is not None else cut
            bounds.append(position)
            size, turn, cut = 0, None, None
    has_state = not is_content(view[start])
    if size < target / 2 and (len(bounds) > 1 or not has_state):
        bounds.pop()
    return tuple(pairwise([*bounds, end])) if bounds else ()


def is_recalled(items: Sequence[Item]) -> bool:
    """Nothing but recalled content: calls of the recall tools and their results."""
    recalled: set[str] = set()
    for item in items:
        message = item.message
        if item.kind is not ItemClass.MESSAGE:
            return False
        if message.result_of is not None:
            if message.result_of not in recalled:
                return False
        elif (
            message.text.strip()
            or not message.calls
            or any(c.name not in RECALL_TOOLS for c in message.calls)
        ):
            return False
        recalled |= {call.id for call in message.calls}
    return bool(items)
