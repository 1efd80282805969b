"""The graph of rows: which row each event leads to, and what it does to the bits on the way.

A *row* is a skeleton and a gauge error; its bits are the low parts, one 32-bit block of gauge slots for
each ``last_observed``. The graph holds each row's facts and edges, worked out once in bulk: part numbers
are gathered from the tables for thousands of rows at a time. Edges are of three groups, by what they
read: only ``last_observed``, only the gauge, or the whole low part. That is the projection by read
dependency: an edge of the first two groups is followed once for each distinct value that it reads.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_edges import EdgeTable, RowEdges
from foldproof.explore.bulk_parts import ERROR_ZERO, KEY, Ints, check_room, unpack
from foldproof.explore.bulk_rows import Growing, KeyIndex, distinct_and_inverse, stretches
from foldproof.explore.bulk_shapes import ELSEWHERE, Shape, Shapes
from foldproof.explore.bulk_tables import CAL, PASSES, SYNC, CoreKey, Tables
from foldproof.model.state import Tree

CHUNK = 1 << 15
"""Rows expanded at a time: small enough that the temporary arrays stay in the cache."""

_SYNC_KEY = (KEY["history"].bits, KEY["nodes"].bits, 8, KEY["pending"].bits)
_CORE_KEY = (KEY["history"].bits, KEY["nodes"].bits, KEY["borders"].bits, KEY["pending"].bits, 1)


def _packed(widths: tuple[int, ...], *values: Ints) -> Ints:
    """Several numbers in one: of these widths in bits, from the high ones down."""
    packed = values[0]
    for width, value in zip(widths[1:], values[1:], strict=True):
        packed = packed << width | value
    return packed


def _unpacked(widths: tuple[int, ...], packed: int) -> list[int]:
    values: list[int] = []
    for width in reversed(widths):
        values.append(packed & ((1 << width) - 1))
        packed >>= width
    return values[::-1]


class Lookup:
    """A function from packed keys to numbers, computed once for each distinct key."""

    def __init__(self, compute: Callable[[int], int]) -> None:
        self._compute = compute
        self._known: dict[int, int] = {}

    def __call__(self, keys: Ints) -> Ints:
        distinct, places = distinct_and_inverse(keys)
        values = np.empty(len(distinct), np.int64)
        for place, key in enumerate(distinct.tolist()):
            value = self._known.get(key)
            if value is None:
                value = self._known[key] = self._compute(key)
            values[place] = value
        return values[places]


class Graph:
    """Rows and edges of one search, growing as the search reaches them."""

    def __init__(self, tables: Tables, shard: int = 0, shards: int = 1) -> None:
        self.tables = tables
        self.shard, self.shards = shard, shards
        self.owner: Growing[np.uint8] = Growing(np.uint8)
        self.index = KeyIndex()
        self.core: Growing[np.int32] = Growing(np.int32)
        self.violated: Growing[np.uint8] = Growing(np.uint8)
        self.length: Growing[np.uint8] = Growing(np.uint8)
        self.events: Growing[np.uint8] = Growing(np.uint8)
        self.edges = EdgeTable(tables)
        self.groups = tuple(RowEdges() for _ in range(3))
        self._expanded: Growing[np.bool_] = Growing(np.bool_)
        self._sync = Lookup(self._sync_of)
        self._cores = Lookup(self._core_of)
        self._core_keys: list[CoreKey] = []
        self._core_facts: Growing[np.uint8] = Growing(np.uint8, 2)
        self._shapes = Shapes(tables)
        self._shape_edges: dict[Shape, tuple[int, int] | None] = {}
        self._borders_after: Growing[np.int32] = Growing(np.int32, len(tables.events))
        self._borders_number: dict[tuple[int, int], int] = {}
        self._pending_at = Lookup(lambda key: self._shapes.pending_at(key >> 4, key & 15))
        self._history_hashes: Growing[np.int64] = Growing(np.int64)
        self._history_lengths: Growing[np.uint8] = Growing(np.uint8)
        self._epoch_starts: Growing[np.int64] = Growing(np.int64)
        self._after: Growing[np.int32] = Growing(np.int32, len(tables.events))
        self._after_known: Growing[np.bool_] = Growing(np.bool_)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def nbytes(self) -> int:
        """Bytes held for rows and edges, without the bits themselves."""
        arrays = (self.core, self.violated, self.length, self.events, self._expanded)
        return self.index.nbytes + sum(a.nbytes for a in arrays) + sum(g.nbytes for g in self.groups)

    def rows(self, keys: Ints) -> NDArray[np.int32]:
        """The row numbers of keys; keys not seen before become rows."""
        distinct, places = distinct_and_inverse(keys)
        found = self.index.find(distinct)
        new = distinct[found < 0]
        if len(new):
            found[found < 0] = self.index.add(new)
            self._describe(new)
        return found[places]

    def renumbered(self, keys: Ints, numbers: dict[str, Ints]) -> Ints:
        """Keys whose parts had other numbers: ``numbers`` gives, for each kind of part, the present ones."""
        names = {"histories": "history", "nodes": "nodes", "borders": "borders", "pendings": "pending"}
        for kind, present in numbers.items():
            theirs = unpack(keys, names[kind])
            keys = keys + ((present[theirs] - theirs) << KEY[names[kind]].shift)
        return keys

    def expand(self, rows: Ints) -> None:
        """Work out the edges of those rows that have none yet."""
        rows = rows[~self._expanded.array[rows]]
        for start in range(0, len(rows), CHUNK):
            self._expand(rows[start : start + CHUNK])
        self._expanded.array[rows] = True

    def _describe(self, keys: Ints) -> None:
        """Facts of new rows: core, violated invariants, length of the history."""
        history, nodes, borders, pending, enabled, error = (unpack(keys, name) for name in KEY)
        starts = self._epoch_starts_of(borders)
        count = len(keys)
        owner = self._owners(history)
        self.owner.append(owner)
        self.length.append(self._lengths_of(history))
        for column in (self.core, self.violated, self.events, self._expanded):
            column.extend_zeros(count)
        for group in self.groups:
            group.add_rows(count)
        own = np.flatnonzero(owner == self.shard)
        history, nodes, borders, starts = history[own], nodes[own], borders[own], starts[own]
        pending, enabled, error = pending[own], enabled[own], error[own]
        sync = self._sync(_packed(_SYNC_KEY, history, nodes, starts, pending))
        cores = self._cores(_packed(_CORE_KEY, sync >> 1, nodes, borders, pending, enabled))
        facts = self._core_facts.array[cores]
        first = len(self) - count
        self.core.array[first + own] = cores
        self.violated.array[first + own] = facts[:, 1] | SYNC * (sync & 1) | CAL * (error != ERROR_ZERO)

    def _owners(self, histories: Ints) -> Ints:
        """Which shard each row belongs to: by history, so that most events stay within a shard."""
        if self.shards == 1:
            return np.zeros(len(histories), np.int64)
        known = self.tables.parts.histories.parts
        new = [zlib.crc32(repr(part).encode()) for part in known[self._history_hashes.size :]]
        self._history_hashes.append(np.array(new, np.int64))
        return (self._history_hashes.array[histories] >> 3) % self.shards

    def _lengths_of(self, histories: Ints) -> NDArray[np.uint8]:
        known = self.tables.parts.histories.parts
        self._history_lengths.append(np.array([len(part) for part in known[self._history_lengths.size :]]))
        return self._history_lengths.array[histories]

    def _epoch_starts_of(self, borders: Ints) -> Ints:
        known = self.tables.parts.borders.parts
        new = [Tree((), *parts).epoch_start_at for parts in known[self._epoch_starts.size :]]
        self._epoch_starts.append(np.array(new, np.int64))
        return self._epoch_starts.array[borders]

    def _sync_of(self, key: int) -> int:
        core_history, violated = self.tables.sync(*_unpacked(_SYNC_KEY, key))
        return core_history << 1 | violated

    def _core_of(self, packed: int) -> int:
        history, nodes, borders, pending, enabled = _unpacked(_CORE_KEY, packed)
        key = history, nodes, borders, pending, enabled
        core = self.tables.core(key)
        self._core_keys.append(key)
        self._core_facts.append(np.array([[core.length, core.violated]]))
        self.edges.add_core()
        return len(self._core_keys) - 1

    def _fill(self, core: int) -> None:
        """Give a core its edges: those of its shape, or its own."""
        key = self._core_keys[core]
        shape = self._shapes.of(key)
        if shape is not None:
            if shape not in self._shape_edges:
                edges = self._shapes.edges(shape)
                self._shape_edges[shape] = None if edges is None else self.edges.add(edges)
            stretch = self._shape_edges[shape]
            if stretch is not None:
                self.edges.fill(core, stretch, self._borders_after_of(key[2], key[4]))
                return
        self.edges.fill(core, self.edges.add(self.tables.edges(key)), 0)

    def _borders_after_of(self, borders: int, enabled: int) -> int:
        known = self._borders_number.get((borders, enabled))
        if known is None:
            known = self._borders_number[borders, enabled] = self._borders_after.size
            self._borders_after.append(np.array([self._shapes.borders(borders, enabled)]))
        return known

    def _histories_after(self, histories: Ints, events: Ints) -> NDArray[np.int32]:
        """The history after an event, -1 where the history does not allow the event."""
        missing = len(self.tables.parts.histories) - self._after.size
        self._after.extend_zeros(max(missing, 0))
        self._after_known.extend_zeros(max(missing, 0))
        present = np.unique(histories)
        for history in present[~self._after_known.array[present]]:
            self._after.array[history] = self.tables.history(int(history))
            self._after_known.array[history] = True
        return self._after.array[histories, events]

    def _pendings_after(self, places: Ints, before: NDArray[np.uint8]) -> Ints:
        """The pending call after an event, by number."""
        pending = self.edges.column("pending")[places]
        moved = np.flatnonzero(pending < 0)
        pending[moved] = self._pending_at(-pending[moved] << 4 | before[moved])
        return pending

    def _expand(self, rows: Ints) -> None:
        edges = self.edges
        cores = self.core.array[rows]
        for core in np.unique(cores[edges.start.array[cores] < 0]):
            self._fill(int(core))
        places, owners = stretches(edges.start.array[cores], edges.count.array[cores])
        keys = self.index.keys.array[rows][owners]
        events = edges.column("event")[places]
        after = self._histories_after(unpack(keys, "history"), events)
        borders = edges.column("borders")[places]
        elsewhere = np.flatnonzero(borders == ELSEWHERE)
        of_core = edges.borders_after.array[cores[owners[elsewhere]]]
        borders[elsewhere] = self._borders_after.array[of_core, events[elsewhere]]
        taken = (after >= 0) & (borders >= 0)
        places, owners, keys, after = places[taken], owners[taken], keys[taken], after[taken]
        rebased = edges.column("gauge_length")[places] != PASSES
        error = np.where(rebased, ERROR_ZERO, unpack(keys, "error")) + edges.column("error")[places]
        if len(error):
            check_room("error", int(error.min()))
            check_room("error", int(error.max()))
        targets = self.rows(
            after.astype(np.int64) << KEY["history"].shift
            | edges.column("nodes")[places] << KEY["nodes"].shift
            | borders[taken] << KEY["borders"].shift
            | self._pendings_after(places, self.length.array[rows][owners]) << KEY["pending"].shift
            | edges.column("enabled")[places] << KEY["enabled"].shift
            | error
        )
        counting = edges.column("counts")[places]
        self.events.array[rows] = np.bincount(owners, counting, len(rows))
        resolved = edges.resolve(places, self.length.array[rows][owners], self.length.array[targets])
        group_of = edges.effects.group[resolved]
        for number, group in enumerate(self.groups):
            chosen = group_of == number
            group.fill(rows, owners[chosen], targets[chosen], resolved[chosen])
