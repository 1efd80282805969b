"""Reachability: named situations of the core, and a shortest trace to each.

A model in which a situation cannot occur proves nothing about it. So every situation that the design
was made for has a name here, and a test shows that it is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from foldproof.explore.plain import transitions_breadth_first
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN
from foldproof.model.events import ApplyCompaction, Clear, CommitIndex, Event, FlagFlip, Restore, Undo
from foldproof.model.machine import Clauses
from foldproof.model.state import GaugeKind, Node, State

Situation: TypeAlias = Callable[[State, Event, State], bool]
"""A predicate of one transition: the state before, the event, the state after."""


def _closed_now(s: State) -> list[Node]:
    return [n for n in s.tree.nodes if not n.is_open and n.opened_at >= s.tree.epoch_start_at]


def nested_spans(before: State, event: Event, after: State) -> bool:
    """A closed span lies inside another span of the current epoch."""
    start = after.tree.epoch_start_at
    outer = [node for node in after.tree.nodes if node.opened_at >= start]
    return any(
        around.opened_at < inner.opened_at
        and (around.closed_at is None or (inner.closed_at or 0) < around.closed_at)
        for around in outer
        for inner in _closed_now(after)
    )


def chained_spans(before: State, event: Event, after: State) -> bool:
    """A span ends where the next one begins: a ``next`` was committed."""
    opened = {node.opened_at for node in after.tree.nodes}
    return any((node.closed_at or 0) + 1 in opened for node in _closed_now(after))


def state_folded_into_index(before: State, event: Event, after: State) -> bool:
    """A state memory is folded into a new index memory."""
    return isinstance(event, CommitIndex) and before.tree.state is not None


def two_index_memories(before: State, event: Event, after: State) -> bool:
    """Two frozen index memories stand side by side."""
    return len(after.tree.frozen) == 2


def full_layout(before: State, event: Event, after: State) -> bool:
    """The view is an index memory, a state memory and a tail."""
    tree = after.tree
    return bool(tree.frozen) and tree.state is not None and tree.epoch_start_at < len(after.history)


def open_node_of_an_earlier_epoch(before: State, event: Event, after: State) -> bool:
    """A node that is still open belongs to an epoch that was folded away."""
    return any(node.is_open and node.opened_at < after.tree.epoch_start_at for node in after.tree.nodes)


def undo_reopens_a_span(before: State, event: Event, after: State) -> bool:
    """An undo cuts into a closed span, which opens again."""
    closed = sum(not node.is_open for node in before.tree.nodes)
    kept = sum(not node.is_open for node in after.tree.nodes)
    return isinstance(event, Undo) and kept < closed and len(after.tree.nodes) == len(before.tree.nodes)


def undo_while_pending(before: State, event: Event, after: State) -> bool:
    """An undo takes a pending transition away with its carrier."""
    return isinstance(event, Undo) and before.pending is not None and after.pending is None


def clear_behind_an_epoch(before: State, event: Event, after: State) -> bool:
    """A clear finds memories of earlier epochs."""
    return isinstance(event, Clear) and before.tree.epoch_start_at > 0


def resume_commits(before: State, event: Event, after: State) -> bool:
    """A resume commits a transition that a crash had interrupted."""
    return isinstance(event, Restore) and after.tree != before.tree


def switch_settles(before: State, event: Event, after: State) -> bool:
    """Switching the fold off settles a pending transition."""
    return isinstance(event, FlagFlip) and before.pending is not None and after.tree != before.tree


def node_survives_replacement(before: State, event: Event, after: State) -> bool:
    """A node is translated when the prefix before it is physically replaced."""
    return isinstance(event, ApplyCompaction) and bool(after.tree.nodes) and event.k > 1


def measured_gauge_with_a_tail(before: State, event: Event, after: State) -> bool:
    """The gauge is measured, and messages came after the measurement."""
    gauge = after.gauge
    return gauge.kind is GaugeKind.MEASURED and 0 < gauge.length < len(after.history)


SITUATIONS: dict[str, Situation] = {
    predicate.__name__.replace("_", "-"): predicate
    for predicate in (
        nested_spans,
        chained_spans,
        state_folded_into_index,
        two_index_memories,
        full_layout,
        open_node_of_an_earlier_epoch,
        undo_reopens_a_span,
        undo_while_pending,
        clear_behind_an_epoch,
        resume_commits,
        switch_settles,
        node_survives_replacement,
        measured_gauge_with_a_tail,
    )
}
"""The named situations, as ``foldproof check --witness`` spells them."""


def witness(situation: Situation, bound: int, design: Clauses = DESIGN) -> list[Event] | None:
    """A shortest run whose last transition shows the situation, or None when none exists within bound."""
    for before, event, after, run in transitions_breadth_first(CORE, bound, design):
        if situation(before, event, after):
            return run()
    return None
