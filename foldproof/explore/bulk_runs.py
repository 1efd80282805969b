"""Counterexamples: shortest runs to the violating states that a bulk search met.

Backwards over the kept layers goes a set of states, those from which a violating state is still reached
in time; forwards through these sets walks the plain model, in the order of its events. So a run is the
one that the plain engine finds, and every state of it is the model's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from foldproof.explore.bulk_graph import Graph
from foldproof.explore.bulk_layers import Layer
from foldproof.explore.bulk_parts import Ints, Words
from foldproof.explore.result import Counterexample
from foldproof.model.machine import Machine

CHUNK = 1 << 14
"""Rows whose edges are followed backwards at a time."""


class Met(NamedTuple):
    """Violating states of one invariant that were first reached after ``depth`` events."""

    depth: int
    states: Layer


def counterexamples(
    graph: Graph, layers: list[Layer], invariant: str, met: list[Met], limit: int
) -> tuple[Counterexample, ...]:
    """Shortest runs to violating states, at most ``limit``, in the order of breadth-first search."""
    machine: Machine[Any, Any] = graph.tables.machine
    found: list[Counterexample] = []
    for depth, states in met:
        for events, state in islice(_runs(graph, layers[:depth], states), limit - len(found)):
            violation = machine.invariants[invariant](state)
            assert violation is not None, "the bits of a violating state decode to one that violates nothing"
            found.append(Counterexample(invariant, violation, events))
    return tuple(found)


def _runs(graph: Graph, layers: list[Layer], goal: Layer) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Runs to the states of a goal, each by its least run, in lexicographic order of events."""
    wanted = [goal]
    for layer in reversed(layers):
        wanted.append(_leading_into(graph, layer, wanted[-1]))
    sets = [_Membership(graph, layer) for layer in reversed(wanted)]
    initial = graph.tables.machine.initial
    if initial in sets[0]:
        yield from _walk(graph, sets, (), initial)


def _walk(
    graph: Graph, sets: list[_Membership], events: tuple[Any, ...], state: Any
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if len(events) == len(sets) - 1:
        yield events, state
        return
    tables = graph.tables
    machine = tables.machine
    for event in machine.enabled(state, tables.bound, tables.design):
        after = machine.canonical(machine.effect(state, event, tables.design))
        if sets[len(events) + 1].take(after):
            yield from _walk(graph, sets, (*events, event), after)


class _Membership:
    """Which states a layer holds; `take` says so once for each."""

    def __init__(self, graph: Graph, layer: Layer) -> None:
        self._graph = graph
        self._bits = {int(row): bits for row, bits in zip(layer.rows, layer.bits, strict=True)}

    def _bit(self, state: Any) -> tuple[Words | None, int, int]:
        address = self._graph.tables.parts.address(state)
        row = int(self._graph.index.find(np.array([address.key]))[0])
        return self._bits.get(row), address.observed, 1 << address.slot

    def __contains__(self, state: Any) -> bool:
        bits, observed, bit = self._bit(state)
        return bits is not None and bool(int(bits[observed]) & bit)

    def take(self, state: Any) -> bool:
        bits, observed, bit = self._bit(state)
        if bits is None or not int(bits[observed]) & bit:
            return False
        bits[observed] &= ~np.uint32(bit)
        return True


def _leading_into(graph: Graph, layer: Layer, goal: Layer) -> Layer:
    """The states of a layer that some event takes into the goal."""
    wanted = np.zeros((len(graph), goal.bits.shape[1]), np.uint32)
    wanted[goal.rows] = goal.bits
    bits = np.zeros_like(layer.bits)
    for start in range(0, len(layer.rows), CHUNK):
        part = slice(start, start + CHUNK)
        _mark_leading(graph, layer.rows[part], layer.bits[part], wanted, bits[part])
    some = bits.any(axis=1)
    return Layer(layer.rows[some], bits[some])


def _mark_leading(graph: Graph, rows: Ints, bits: Words, wanted: Words, out: Words) -> None:
    effects = graph.edges.effects
    for group in graph.groups:
        owners, targets, edges = group.of(rows)
        values = bits[owners] & effects.gauge_mask[edges, None]
        which, blocks = np.nonzero(values)
        inside = (effects.observed_mask[edges[which]] >> blocks.astype(np.uint16)) & 1 != 0
        which, blocks = which[inside], blocks[inside]
        observed, slot = effects.observed[edges[which]], effects.slot[edges[which]]
        goal = wanted[targets[which], np.where(observed >= 0, observed, blocks)]
        whole = (goal >> np.maximum(slot, 0).astype(np.uint32)) & 1 != 0
        reached = values[which, blocks] & np.where(slot >= 0, np.where(whole, ~np.uint32(0), 0), goal)
        np.bitwise_or.at(out, (owners[which], blocks), reached.astype(np.uint32))
