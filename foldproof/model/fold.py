"""The fold: the view that the model is sent, what it speaks for, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from foldproof.model.state import Memory, Message, MessageId, Node, State

Item: TypeAlias = Message | Memory
"""One item of a view: a stored message, or the memory that stands in place of several."""


class Costs(NamedTuple):
    """Token costs by class of message. The core profile is enough to tell raw from projected."""

    message: int = 2
    memory: int = 1
    summary: int = 1


CORE_COSTS = Costs()


def est(items: Iterable[Item]) -> int:
    """The estimate: the sum of the items' tokens."""
    return sum(item.tokens for item in items)


def view(s: State) -> tuple[Item, ...]:
    """What would be sent to the model now: the history folded through the tree."""
    if not s.enabled:
        return s.history
    return (*_head(s), *_current_epoch(s))


def flatten(items: Iterable[Item]) -> tuple[MessageId, ...]:
    """Each memory replaced by the ids that it covers: the left-hand side of INV-VIEW."""
    flat: list[MessageId] = []
    for item in items:
        if isinstance(item, Memory):
            flat.extend(item.covers)
        else:
            flat.append(item.id)
    return tuple(flat)


def trigger(s: State) -> int:
    """The number that the session compares with its compaction threshold."""
    return s.gauge.tokens + est(s.history[s.gauge.length :])


def _head(s: State) -> Iterator[Item]:
    """Frozen memories in order, the state memory, then an epoch summary that is stored as a message."""
    for frozen in s.tree.frozen:
        yield frozen.memory
    if s.tree.state is not None:
        yield s.tree.state
    if s.tree.epoch_memory_at is not None:
        yield from s.history[s.tree.epoch_memory_at : s.tree.epoch_memory_at + 1]


def _current_epoch(s: State) -> Iterator[Item]:
    """``history[epoch_start_at:]`` with each outermost closed span replaced by its memory.

    Of a broken tree, too, this is defined: a span that opens at or before the place reached shows
    its memory, and the walk goes on past its ``closed_at``, even beyond the history.
    """
    place = s.tree.epoch_start_at
    for node, closed_at in _closed_spans(s):
        if node.opened_at < place and closed_at < place:
            continue  # inside a span that is already folded
        yield from _stored(s, place, node.opened_at)
        if node.memory is not None:
            yield node.memory
        place = max(place, closed_at + 1)
    yield from _stored(s, place, len(s.history))


def _closed_spans(s: State) -> list[tuple[Node, int]]:
    """Closed nodes of the current epoch that open within the history, from the left, widest first.

    A voided node has a negative ``opened_at`` and so belongs to no epoch.
    """
    start, length = s.tree.epoch_start_at, len(s.history)
    spans = [
        (node, node.closed_at)
        for node in s.tree.nodes
        if node.closed_at is not None and start <= node.opened_at < length
    ]
    return sorted(spans, key=lambda span: (span[0].opened_at, -span[1]))


def _stored(s: State, start: int, end: int) -> Iterator[Message]:
    for position in range(start, end):
        if position != s.tree.epoch_memory_at:
            yield s.history[position]
