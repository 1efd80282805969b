"""Breadth-first layers over bits: which low parts of which rows are reached next.

A layer is a set of states as bits: the rows that have any, and a block of gauge slots for each
``last_observed``. One pass over the edges of these rows gives the next layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_edges import BY_BOTH, BY_GAUGE, BY_OBSERVED
from foldproof.explore.bulk_graph import CHUNK, Graph
from foldproof.explore.bulk_low import gauge_mask
from foldproof.explore.bulk_parts import Ints, Words
from foldproof.explore.bulk_rows import Growing
from foldproof.explore.bulk_tables import IDX, Tables


class Layer(NamedTuple):
    """A set of states: ``bits[i, v]`` are the gauge slots of row ``rows[i]`` with ``last_observed == v``."""

    rows: Ints
    bits: Words

    @property
    def states(self) -> int:
        return int(np.bitwise_count(self.bits).sum(dtype=np.int64))

    def restricted(self, kept: Words) -> Layer:
        """Only those states whose bits are kept; rows without any are left out."""
        bits = self.bits & kept
        some = bits.any(axis=1)
        return Layer(self.rows[some], bits[some])


class Reached(NamedTuple):
    """What one layer led to: new states, and which of them are to be expanded."""

    found: Layer
    frontier: Layer


class Bits:
    """The bits of all rows of a graph, and the projections of rows that have been followed."""

    def __init__(self, graph: Graph, checked: int) -> None:
        tables = graph.tables
        self.graph, self.checked, self.blocks = graph, checked, tables.bound + 1
        self.visited: Growing[np.uint32] = Growing(np.uint32, self.blocks)
        self._next: Growing[np.uint32] = Growing(np.uint32, self.blocks)
        self._observed_followed: Growing[np.uint32] = Growing(np.uint32)
        self._gauges_followed: Growing[np.uint32] = Growing(np.uint32)
        self.allowed = _allowed_bits(tables, self.blocks)

    @property
    def nbytes(self) -> int:
        followed = self._observed_followed.nbytes + self._gauges_followed.nbytes
        return self.visited.nbytes + self._next.nbytes + followed

    def start(self, row: int, observed: int, slot: int) -> Reached:
        """The layer of the initial state alone."""
        self._grow()
        self._next.array[row, observed] = 1 << slot
        return self.harvest()

    def follow(self, layer: Layer) -> Reached:
        """The states that one event leads to from a layer of states that are to be expanded."""
        self.spread(layer)
        return self.harvest()

    def stored(self) -> dict[str, NDArray[Any]]:
        """The arrays that a checkpoint keeps."""
        return {
            "visited": self.visited.array,
            "observed_followed": self._observed_followed.array,
            "gauges_followed": self._gauges_followed.array,
        }

    def restore(self, rows: NDArray[np.int32], stored: dict[str, NDArray[Any]]) -> None:
        """Take a checkpoint's arrays, whose rows now have these numbers."""
        self._grow()
        self.visited.array[rows[: len(stored["visited"])]] = stored["visited"]
        followed = rows[: len(stored["observed_followed"])]
        self._observed_followed.array[followed] = stored["observed_followed"]
        self._gauges_followed.array[followed] = stored["gauges_followed"]

    def spread(self, layer: Layer) -> None:
        """Follow all edges of a layer, without looking at what is new."""
        self.graph.expand(layer.rows)
        self._grow()
        for start in range(0, len(layer.rows), CHUNK):
            part = Layer(layer.rows[start : start + CHUNK], layer.bits[start : start + CHUNK])
            self._follow_observed(part)
            self._follow_gauges(part)
            self._follow_both(part)

    def of_others(self) -> Layer:
        """New bits of rows that belong to other shards: each is handed out once."""
        self._grow()
        rows = np.flatnonzero(self.graph.owner.array != self.graph.shard)
        return self._take(rows[self._next.array[rows].any(axis=1)])

    def receive(self, keys: Ints, bits: Words) -> None:
        """Bits of own rows that other shards have reached."""
        rows = self.graph.rows(keys)
        self._grow()
        self._next.array[rows] |= bits

    def expandable(self, layer: Layer) -> Layer:
        """The states of a layer that violate nothing checked."""
        bad = (self.graph.violated.array[layer.rows] & self.checked) != 0
        kept = self.allowed[self.graph.length.array[layer.rows]]
        kept[bad] = 0
        return layer.restricted(kept)

    def violating(self, layer: Layer, invariant: int) -> Layer:
        """The states of a layer that violate the invariant of this bit."""
        bad = (self.graph.violated.array[layer.rows] & invariant) != 0
        kept = np.zeros_like(layer.bits)
        if invariant == IDX:
            kept = ~self.allowed[self.graph.length.array[layer.rows]]
        kept[bad] = ~np.uint32(0)
        return layer.restricted(kept)

    def _grow(self) -> None:
        missing = len(self.graph) - self.visited.size
        for array in (self.visited, self._next, self._observed_followed, self._gauges_followed):
            array.extend_zeros(missing)

    def harvest(self) -> Reached:
        """The bits reached that were not known: they are now, and the room for the next layer is empty."""
        found = self._take(np.flatnonzero(self._next.array.any(axis=1)))
        return Reached(found, self.expandable(found))

    def _take(self, rows: Ints) -> Layer:
        known = self.visited.array[rows]
        bits = self._next.array[rows] & ~known
        self.visited.array[rows] = known | bits
        self._next.array[rows] = 0
        some = bits.any(axis=1)
        return Layer(rows[some], bits[some])

    def _set(self, rows: NDArray[np.int32], blocks: NDArray[np.signedinteger[Any]], bits: Words) -> None:
        flat = self._next.array.reshape(-1)
        places = rows.astype(np.int64) * self.blocks + blocks
        np.bitwise_or.at(flat, places, bits)

    def _follow_observed(self, layer: Layer) -> None:
        """Edges that read ``last_observed`` alone: once for each value of it that a row has."""
        weights = np.uint32(1) << np.arange(self.blocks, dtype=np.uint32)
        values = (layer.bits != 0) @ weights
        followed = self._observed_followed.array
        fresh = values & ~followed[layer.rows]
        followed[layer.rows] |= fresh
        some = fresh != 0
        owners, targets, edges = self.graph.groups[BY_OBSERVED].of(layer.rows[some])
        effects = self.graph.edges.effects
        values = fresh[some][owners] & effects.observed_mask[edges]
        bits = np.uint32(1) << effects.slot[edges].astype(np.uint32)
        observed = effects.observed[edges]
        sets = (observed >= 0) & (values != 0)
        self._set(targets[sets], observed[sets], bits[sets])
        values[observed >= 0] = 0
        for block in range(self.blocks):
            chosen = np.flatnonzero(values & weights[block])
            self._set(targets[chosen], np.full(len(chosen), block), bits[chosen])

    def _follow_gauges(self, layer: Layer) -> None:
        """Edges that read the gauge alone: once for each gauge that a row has."""
        values = np.bitwise_or.reduce(layer.bits, axis=1)
        followed = self._gauges_followed.array
        fresh = values & ~followed[layer.rows]
        followed[layer.rows] |= fresh
        some = fresh != 0
        owners, targets, edges = self.graph.groups[BY_GAUGE].of(layer.rows[some])
        effects = self.graph.edges.effects
        values = fresh[some][owners] & effects.gauge_mask[edges]
        slot = effects.slot[edges]
        bits = np.where(slot >= 0, _bit(slot), values)
        chosen = values != 0
        self._set(targets[chosen], effects.observed[edges[chosen]], bits[chosen])

    def _follow_both(self, layer: Layer) -> None:
        """Edges that read the whole low part."""
        owners, targets, edges = self.graph.groups[BY_BOTH].of(layer.rows)
        effects = self.graph.edges.effects
        values = layer.bits[owners] & effects.gauge_mask[edges, None]
        which, blocks = np.nonzero(values)
        inside = (effects.observed_mask[edges[which]] >> blocks.astype(np.uint16)) & 1 != 0
        which, blocks = which[inside], blocks[inside]
        edges = edges[which]
        slot, observed = effects.slot[edges], effects.observed[edges]
        bits = np.where(slot >= 0, _bit(slot), values[which, blocks])
        self._set(targets[which], np.where(observed >= 0, observed, blocks), bits)


def _bit(slot: NDArray[np.int8]) -> Words:
    return np.uint32(1) << np.maximum(slot, 0).astype(np.uint32)


def _allowed_bits(tables: Tables, blocks: int) -> Words:
    """The bits whose live indices allow a state to be expanded, by the length of the history."""
    allowed = np.zeros((tables.bound + 1, blocks), np.uint32)
    for length in range(tables.bound + 1):
        live = tables.domain(length)
        allowed[length, : live.observed + 1] = gauge_mask(0, live.length)
    return allowed
