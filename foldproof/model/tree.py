"""The tree under a changing history: the index arithmetic applied to every node and boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from foldproof.model import index
from foldproof.model.design import Clause
from foldproof.model.machine import Clauses
from foldproof.model.state import Node, State, Tree

_Change: TypeAlias = Callable[[index.Span], index.Span]


def span_of(node: Node) -> index.Span:
    """A node as the index arithmetic sees it."""
    closed_at = node.closed_at
    return index.Span(True, node.opened_at, closed_at is not None, closed_at if closed_at is not None else 0)


def is_edge(s: State, k: int) -> bool:
    """A boundary at ``k`` parts neither a call from its result nor a closed span from its closing carrier.

    Closed nodes of every epoch count; open nodes do not restrict ``k``; ``len(history)`` is an edge
    unless a closed node says otherwise.
    """
    if k < len(s.history) and s.history[k].is_receipt:
        return False
    return not any(index.parts(span_of(node), k) for node in s.tree.nodes)


def truncated_tree(tree: Tree, cut: int, design: Clauses) -> Tree:
    """The tree as it was when the history had length ``cut`` (without D9: clamped into that length).

    Memories that cover messages at or after ``cut`` are dropped, and the boundaries fall back with
    them, so that what they covered and is still stored is shown again.
    """
    repair = index.rolled_back if Clause.D9 in design else index.clamped
    nodes = _each_node(tree, lambda span: repair(span, cut))
    frozen = tuple(f for f in tree.frozen if index.survives(f.end, cut))
    frozen_end = frozen[-1].end if frozen else 0
    anchor = tree.epoch_memory_at
    anchor_survives = anchor is None or index.survives(anchor + 1, cut)
    if anchor_survives and index.survives(tree.epoch_start_at, cut):
        state, epoch_start_at = tree.state, tree.epoch_start_at
    else:
        state, epoch_start_at, anchor = None, frozen_end, None
    return Tree(nodes, frozen, frozen_end, state, epoch_start_at, anchor)


def compacted_tree(tree: Tree, k: int) -> Tree:
    """The tree after ``history[:k]`` was physically replaced by one summary message."""
    return Tree(nodes=_each_node(tree, lambda span: index.translated(span, k)))


def _each_node(tree: Tree, change: _Change) -> tuple[Node, ...]:
    """Every node after an index operation; nodes that are no longer present are left out."""
    nodes: list[Node] = []
    for node in tree.nodes:
        span = change(span_of(node))
        if span.present:
            memory = node.memory if span.closed else None
            nodes.append(Node(span.opened_at, span.closed_at if span.closed else None, memory))
    return tuple(nodes)
