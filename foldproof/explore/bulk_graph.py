"""The graph of rows: which row each event leads to, and what it does to the bits on the way.

A *row* is a skeleton and a gauge error; its bits are the low parts, one 32-bit block of gauge slots for
each ``last_observed``. The graph holds each row's facts and edges, worked out once in bulk: part numbers
are gathered from the tables for thousands of rows at a time. Edges are of four groups, by what they
read of the low part: nothing, only ``last_observed``, only the gauge, or both. That is the projection by
read dependency: an edge is followed once for each distinct value that it reads.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_cores import Cores
from foldproof.explore.bulk_edges import RowEdges
from foldproof.explore.bulk_parts import ERROR_ZERO, KEY, Ints, TooLargeError, check_room, unpack
from foldproof.explore.bulk_rows import Facts, Growing, KeyIndex, Lookup, stretches
from foldproof.explore.bulk_shapes import ELSEWHERE
from foldproof.explore.bulk_tables import CAL, Tables

CHUNK = 1 << 15
"""Rows expanded at a time: small enough that the temporary arrays stay in the cache."""

_COUNT = 5
"""Bits for how often a row takes events of one kind, at most one for each place of a history."""


def _hash(part: object) -> int:
    """The same in every process."""
    return zlib.crc32(repr(part).encode()) >> 3


class Graph:
    """Rows and edges of one search, growing as the search reaches them."""

    def __init__(self, tables: Tables, shard: int = 0, shards: int = 1) -> None:
        self.tables = tables
        self.shard, self.shards = shard, shards
        self.owner: Growing[np.uint8] = Growing(np.uint8)
        self.index = KeyIndex()
        self.cores = Cores(tables)
        self.core: Growing[np.int32] = Growing(np.int32)
        self.violated: Growing[np.uint8] = Growing(np.uint8)
        self.length: Growing[np.uint8] = Growing(np.uint8)
        self.taken: Growing[np.uint16] = Growing(np.uint16)  # which of the `taken_counts`
        self.edges = self.cores.edges
        self.groups = tuple(RowEdges() for _ in range(4))
        self.kinds = sorted({type(event).__name__ for event in tables.events})
        self._kind = np.array([self.kinds.index(type(event).__name__) for event in tables.events])
        self._taken_index = KeyIndex()
        self._expanded: Growing[np.bool_] = Growing(np.bool_)
        self._pending_at = Lookup((KEY["pending"].bits, 8), self.cores.shapes.pending_at)
        parts, shapes = tables.parts, self.cores.shapes
        codes = parts.histories.codes
        self._lengths: Facts[np.uint8] = Facts(np.uint8, lambda history: len(codes[history]))
        self._patterns: Facts[np.int64] = Facts(np.int64, tables.pattern)
        self._history_hashes: Facts[np.int64] = Facts(np.int64, lambda h: _hash(parts.histories[h]))
        self._nodes_hashes: Facts[np.int64] = Facts(np.int64, lambda n: _hash(parts.nodes[n]))
        self._histories_after: Facts[np.int32] = Facts(np.int32, tables.history, len(tables.events))
        self._borders_after: Facts[np.int32] = Facts(
            np.int32, lambda line: shapes.borders(line >> 1, line & 1), len(tables.events)
        )

    def __len__(self) -> int:
        return len(self.index)

    @property
    def nbytes(self) -> int:
        """Bytes held for rows and edges, without the bits themselves."""
        arrays = (self.core, self.violated, self.length, self.taken, self._expanded)
        return self.index.nbytes + sum(a.nbytes for a in arrays) + sum(g.nbytes for g in self.groups)

    def rows(self, keys: Ints) -> NDArray[np.int32]:
        """The row numbers of keys; keys not seen before become rows."""
        return self.index.numbers(keys, self._describe)

    @property
    def taken_counts(self) -> Ints:
        """How many events of each of the `kinds` a row takes: the distinct answers, line by line."""
        shifts = _COUNT * np.arange(len(self.kinds))
        counts: Ints = self._taken_index.keys.array[:, None] >> shifts & ((1 << _COUNT) - 1)
        return counts

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
        histories = len(self.tables.parts.histories)
        count = len(keys)
        self.length.append(self._lengths.of(history, histories)[history])
        for column in (self.core, self.violated, self.taken, self._expanded, self.owner):
            column.extend_zeros(count)
        for group in self.groups:
            group.add_rows(count)
        own = np.arange(count)
        if self.shards > 1:
            owner = self._owners(history, nodes, enabled)
            self.owner.array[-count:] = owner
            own = np.flatnonzero(owner == self.shard)
            history, nodes, borders = history[own], nodes[own], borders[own]
            pending, enabled, error = pending[own], enabled[own], error[own]
        pattern = self._patterns.of(history, histories)[history]
        cores = self.cores.numbers(pattern, nodes, borders, pending, enabled)
        first = len(self) - count
        self.core.array[first + own] = cores
        self.violated.array[first + own] = self.cores.violated.array[cores] | CAL * (error != ERROR_ZERO)

    def _owners(self, history: Ints, nodes: Ints, enabled: Ints) -> Ints:
        """Which shard each row belongs to.

        Two shards differ in nodes and fold, so that few events lead from one to the other, and each fills
        tables that the other does not need; more shards differ in the history as well.
        """
        owner = self._nodes_hashes.of(nodes, len(self.tables.parts.nodes))[nodes] + enabled
        if self.shards > 2:
            hashes = self._history_hashes.of(history, len(self.tables.parts.histories))
            owner += 2 * hashes[history]
        return owner % self.shards

    def _expand(self, rows: Ints) -> None:
        edges, parts, events = self.edges, self.tables.parts, len(self.tables.events)
        shapes = self.cores.shapes_of(self.core.array[rows])
        columns = edges.columns()
        keys = self.index.keys.array[rows]
        history = unpack(keys, "history")
        line = unpack(keys, "borders") << 1 | unpack(keys, "enabled")
        histories_after = self._histories_after.of(history, len(parts.histories)).reshape(-1)
        borders_after = self._borders_after.of(line, 2 * len(parts.borders)).reshape(-1)
        counts = edges.count.array[shapes]
        lists, owners = stretches(edges.start.array[shapes], counts)
        places = edges.lists.array[lists]
        event = columns.event[places]
        after = histories_after[np.repeat(history * events, counts) + event]
        borders = columns.borders[places]
        elsewhere = borders_after[np.repeat(line * events, counts) + event]
        borders = np.where(borders == ELSEWHERE, elsewhere, borders)
        taken = np.flatnonzero((after >= 0) & (borders >= 0))
        places, owners = places[taken], owners[taken]
        before = self.length.array[rows][owners]
        kept = keys[owners]
        self._check_errors(kept, places)
        targets = self.rows(
            (kept & columns.keep[places])
            + columns.add[places]
            + (after[taken].astype(np.int64) << KEY["history"].shift)
            + (borders[taken].astype(np.int64) << KEY["borders"].shift)
            + (self._moved(columns.moved[places], before) << KEY["pending"].shift)
        )
        self._count(rows, owners, event[taken], columns.counts[places])
        resolved = edges.resolve(places, before, self.length.array[targets])
        group_of = edges.effects.group[resolved]
        for number, group in enumerate(self.groups):
            chosen = np.flatnonzero(group_of == number)
            group.fill(rows, owners[chosen], targets[chosen], resolved[chosen])

    def _moved(self, moved: NDArray[np.int32], before: NDArray[np.uint8]) -> Ints:
        """The numbers of pending calls whose carrier is the message after the history before; else 0."""
        numbers = np.zeros(len(moved), np.int64)
        some = np.flatnonzero(moved)
        numbers[some] = self._pending_at(moved[some].astype(np.int64), before[some].astype(np.int64))
        return numbers

    def _check_errors(self, keys: Ints, places: NDArray[np.int32]) -> None:
        """Raise `TooLargeError` where the change of an error leaves its field."""
        change = self.edges.columns().error_change[places]
        shifted = np.flatnonzero(change)
        if len(shifted):
            error = unpack(keys[shifted], "error") + change[shifted]
            check_room("error", int(error.min()))
            check_room("error", int(error.max()))

    def _count(
        self, rows: Ints, owners: Ints, events: NDArray[np.int32], counting: NDArray[np.bool_]
    ) -> None:
        """Note how many events of each kind rows take."""
        ones = (np.int64(1) << _COUNT * self._kind)[events] * counting
        counts = np.bincount(owners, minlength=len(rows))
        some = np.flatnonzero(counts)
        together = np.zeros(len(rows), np.int64)
        if len(some):
            together[some] = np.add.reduceat(ones, (np.cumsum(counts) - counts)[some])
        numbers = self._taken_index.numbers(together, lambda _: None)
        if len(self._taken_index) > 1 << 16:
            raise TooLargeError("rows differ in more than 65,536 ways in the events that they take")
        self.taken.array[rows] = numbers
