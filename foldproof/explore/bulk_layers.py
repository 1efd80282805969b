"""Breadth-first layers over bits: which low parts of which rows are reached next.

A layer is a set of states as bits: the rows that have any, and a block of gauge slots for each
``last_observed``. One pass over the edges of these rows gives the next layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_edges import BY_BOTH, BY_GAUGE, BY_OBSERVED, ONCE
from foldproof.explore.bulk_graph import CHUNK, Graph
from foldproof.explore.bulk_low import gauge_mask
from foldproof.explore.bulk_parts import Ints, Words
from foldproof.explore.bulk_rows import Growing, or_columns, stretches
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
        some = np.flatnonzero(or_columns(bits))
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
        self._next_of_all: Growing[np.uint16] = Growing(np.uint16, 2)
        self._touched: Growing[np.bool_] = Growing(np.bool_)
        self._observed_followed: Growing[np.uint16] = Growing(np.uint16)
        self._gauges_followed: Growing[np.uint32] = Growing(np.uint32)
        self.allowed = _allowed_bits(tables, self.blocks)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays())

    def start(self, row: int, observed: int, slot: int) -> Reached:
        """The layer of the initial state alone."""
        self._grow()
        self._next.array[row, observed] = 1 << slot
        self._touched.array[row] = True
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
            self._follow_once_and_observed(part)
            self._follow_gauges(part)
            self._follow_both(part)

    def of_others(self) -> Layer:
        """New bits of rows that belong to other shards: each is handed out once."""
        self._grow()
        return self._take(np.flatnonzero(self._touched.array & (self.graph.owner.array != self.graph.shard)))

    def receive(self, keys: Ints, bits: Words) -> None:
        """Bits of own rows that other shards have reached."""
        rows = self.graph.rows(keys)
        self._grow()
        self._next.array[rows] |= bits
        self._touched.array[rows] = True

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

    def _arrays(self) -> tuple[Growing[Any], ...]:
        followed = (self._observed_followed, self._gauges_followed)
        return (self.visited, self._next, self._next_of_all, self._touched, *followed)

    def _grow(self) -> None:
        missing = len(self.graph) - self.visited.size
        for array in self._arrays():
            array.extend_zeros(missing)

    def harvest(self) -> Reached:
        """The bits reached that were not known: they are now, and the room for the next layer is empty."""
        found = self._take(np.flatnonzero(self._touched.array))
        return Reached(found, self.expandable(found))

    def _take(self, rows: Ints) -> Layer:
        known = self.visited.array[rows]
        bits = self._next.array[rows]
        of_all = self._next_of_all.array[rows].astype(np.uint32)
        estimates = 2 * self.graph.length.array[rows].astype(np.uint32)
        for block in range(self.blocks):
            reached = of_all >> np.uint32(block) & np.uint32(1)
            bits[:, block] |= reached[:, 0] << estimates | reached[:, 1] << estimates + np.uint32(1)
        bits &= ~known
        some = np.flatnonzero(or_columns(bits))
        self._next.array[rows] = 0
        self._next_of_all.array[rows] = 0
        self._touched.array[rows] = False
        rows, bits = rows[some], bits[some]
        self.visited.array[rows] |= bits
        return Layer(rows, bits)

    def _set(self, rows: NDArray[np.int32], blocks: NDArray[np.signedinteger[Any]], bits: Words) -> None:
        flat = self._next.array.reshape(-1)
        np.bitwise_or.at(flat, rows.astype(np.int64) * self.blocks + blocks, bits)
        self._touched.array[rows] = True

    def _set_of_all(
        self, rows: NDArray[np.int32], slots: NDArray[np.int8], observed: NDArray[np.uint16]
    ) -> None:
        """Set bits of gauges of all messages, for a set of values of ``last_observed``."""
        flat = self._next_of_all.array.reshape(-1)
        np.bitwise_or.at(flat, 2 * rows.astype(np.int64) + (slots & 1), observed)
        self._touched.array[rows] = True

    def _follow_once_and_observed(self, layer: Layer) -> None:
        """Edges that read nothing: once; those that read ``last_observed`` alone: once for each value."""
        values = np.zeros(len(layer.rows), np.uint16)
        for block in range(self.blocks):
            values |= (layer.bits[:, block] != 0).astype(np.uint16) << np.uint16(block)
        followed = self._observed_followed.array
        known = followed[layer.rows]
        fresh = values & ~known
        followed[layer.rows] = known | values
        effects = self.graph.edges.effects
        _, targets, edges = self.graph.groups[ONCE].of(layer.rows[known == 0])
        self._set_of_all(targets, effects.slot[edges], _block(effects.observed[edges]))
        some = np.flatnonzero(fresh)
        owners, targets, edges = self.graph.groups[BY_OBSERVED].of(layer.rows[some])
        read = fresh[some][owners] & effects.observed_mask[edges]
        observed = effects.observed[edges]
        read = np.where(observed >= 0, _block(observed) * (read != 0), read)
        self._set_of_all(targets, effects.slot[edges], read)

    def _follow_gauges(self, layer: Layer) -> None:
        """Edges that read the gauge alone: once for each gauge that a row has."""
        values = or_columns(layer.bits)
        followed = self._gauges_followed.array
        known = followed[layer.rows]
        fresh = values & ~known
        followed[layer.rows] = known | values
        some = np.flatnonzero(fresh)
        owners, targets, edges = self.graph.groups[BY_GAUGE].of(layer.rows[some])
        effects = self.graph.edges.effects
        values = fresh[some][owners] & effects.gauge_mask[edges]
        slot = effects.slot[edges]
        bits = np.where(slot >= 0, _bit(slot), values)
        chosen = np.flatnonzero(values)
        self._set(targets[chosen], effects.observed[edges[chosen]], bits[chosen])

    def _follow_both(self, layer: Layer) -> None:
        """Edges that read the whole low part: once for each block of bits that a row has."""
        bits = layer.bits.reshape(-1)
        cells = np.flatnonzero(bits)
        cell_rows = cells // self.blocks
        cell_blocks = cells - cell_rows * self.blocks
        cell_bits = bits[cells]
        count = np.bincount(cell_rows, minlength=len(layer.rows))
        start = np.cumsum(count) - count
        owners, targets, edges = self.graph.groups[BY_BOTH].of(layer.rows)
        cell, which = stretches(start[owners], count[owners])
        effects = self.graph.edges.effects
        edge = edges[which]
        blocks = cell_blocks[cell]
        values = cell_bits[cell] & effects.gauge_mask[edge]
        inside = effects.observed_mask[edge] & _block(blocks) != 0
        some = np.flatnonzero((values != 0) & inside)
        edge, blocks, values = edge[some], blocks[some], values[some]
        slot, observed = effects.slot[edge], effects.observed[edge]
        new = np.where(slot >= 0, _bit(slot), values)
        self._set(targets[which[some]], np.where(observed >= 0, observed, blocks), new)


def _block(observed: NDArray[Any]) -> NDArray[np.uint16]:
    """The bit of a value of ``last_observed`` in a set of them; some bit where it is negative."""
    bit: NDArray[np.uint16] = np.uint16(1) << np.maximum(observed, 0).astype(np.uint16)
    return bit


def _bit(slot: NDArray[np.int8]) -> Words:
    return np.uint32(1) << np.maximum(slot, 0).astype(np.uint32)


def _allowed_bits(tables: Tables, blocks: int) -> Words:
    """The bits whose live indices allow a state to be expanded, by the length of the history."""
    allowed = np.zeros((tables.bound + 1, blocks), np.uint32)
    for length in range(tables.bound + 1):
        live = tables.domain(length)
        allowed[length, : live.observed + 1] = gauge_mask(0, live.length)
    return allowed
