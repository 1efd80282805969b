"""The graph of rows: which row each event leads to, and what it does to the bits on the way.

A *row* is a skeleton and a gauge error; its bits are the low parts, one 32-bit block of gauge slots for
each ``last_observed``. The graph holds each row's facts and edges, worked out once in bulk: part numbers
are gathered from the tables for thousands of rows at a time. Edges are of three groups, by what they
read: only ``last_observed``, only the gauge, or the whole low part. That is the projection by read
dependency: an edge of the first two groups is followed once for each distinct value that it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_low import Domain, gauge_mask
from foldproof.explore.bulk_parts import ERROR_ZERO, KEY, Ints, check_room, unpack
from foldproof.explore.bulk_rows import Growing, KeyIndex, distinct_and_inverse, stretches
from foldproof.explore.bulk_tables import CAL, PASSES, SYNC, CoreKey, Edge, Tables
from foldproof.model.state import Tree

CHUNK = 1 << 15
"""Rows expanded at a time: small enough that the temporary arrays stay in the cache."""

BY_OBSERVED, BY_GAUGE, BY_BOTH = range(3)
"""The three groups of edges."""

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


class Effects(NamedTuple):
    """The columns of core edges that are read in every layer; see `foldproof.explore.bulk_tables.Edge`."""

    observed_mask: NDArray[np.uint16]
    gauge_mask: NDArray[np.uint32]
    observed: NDArray[np.int8]
    slot: NDArray[np.int8]


class EdgeTable:
    """All core edges, column by column, with each core's stretch of them."""

    def __init__(self) -> None:
        self.columns: Growing[np.int64] = Growing(np.int64, len(Edge._fields))
        self.group: Growing[np.int8] = Growing(np.int8)
        self.start: Growing[np.int64] = Growing(np.int64)
        self.count: Growing[np.int64] = Growing(np.int64)
        self._effects = self._compact()

    def add_core(self) -> None:
        self.start.append(np.array([-1]))
        self.count.extend_zeros(1)

    def fill(self, core: int, edges: list[Edge], domain: Domain) -> None:
        self.start.array[core] = self.columns.size
        self.count.array[core] = len(edges)
        if edges:
            self.columns.append(np.array(edges, np.int64))
            self.group.append(np.array([_group(edge, domain) for edge in edges]))

    def column(self, name: str) -> Ints:
        return self.columns.array[:, Edge._fields.index(name)]

    @property
    def effects(self) -> Effects:
        """What the edges do to the bits, in contiguous columns."""
        if len(self._effects.slot) != self.columns.size:
            self._effects = self._compact()
        return self._effects

    def _compact(self) -> Effects:
        return Effects(
            self.column("observed_mask").astype(np.uint16),
            self.column("gauge_mask").astype(np.uint32),
            self.column("observed").astype(np.int8),
            self.column("slot").astype(np.int8),
        )


def _group(edge: Edge, domain: Domain) -> int:
    any_gauge = edge.gauge_mask == gauge_mask(0, domain.length)
    any_observed = edge.observed_mask == (1 << (domain.observed + 1)) - 1
    if any_gauge and edge.slot != PASSES:
        return BY_OBSERVED
    if any_observed and edge.observed != PASSES:
        return BY_GAUGE
    return BY_BOTH


class RowEdges:
    """The edges of expanded rows of one group: target row and core edge, row by row."""

    def __init__(self) -> None:
        self.target: Growing[np.int32] = Growing(np.int32)
        self.edge: Growing[np.int32] = Growing(np.int32)
        self.start: Growing[np.int32] = Growing(np.int32)
        self.count: Growing[np.int16] = Growing(np.int16)

    def add_rows(self, count: int) -> None:
        self.start.extend_zeros(count)
        self.count.extend_zeros(count)

    def fill(self, rows: Ints, owners: Ints, targets: NDArray[np.int32], edges: Ints) -> None:
        """Add edges, sorted by owner: a position in ``rows``."""
        counts = np.bincount(owners, minlength=len(rows))
        self.start.array[rows] = self.target.size + np.cumsum(counts) - counts
        self.count.array[rows] = counts
        self.target.append(targets)
        self.edge.append(edges)

    def of(self, rows: Ints) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
        """For all edges of these rows: the owner's position in ``rows``, the target, the core edge."""
        places, owners = stretches(self.start.array[rows], self.count.array[rows])
        return owners, self.target.array[places], self.edge.array[places]

    @property
    def nbytes(self) -> int:
        return self.target.nbytes + self.edge.nbytes + self.start.nbytes + self.count.nbytes


class Graph:
    """Rows and edges of one search, growing as the search reaches them."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.index = KeyIndex()
        self.core: Growing[np.int32] = Growing(np.int32)
        self.violated: Growing[np.uint8] = Growing(np.uint8)
        self.length: Growing[np.uint8] = Growing(np.uint8)
        self.events: Growing[np.uint8] = Growing(np.uint8)
        self.edges = EdgeTable()
        self.groups = tuple(RowEdges() for _ in range(3))
        self._expanded: Growing[np.bool_] = Growing(np.bool_)
        self._sync = Lookup(self._sync_of)
        self._cores = Lookup(self._core_of)
        self._core_keys: list[CoreKey] = []
        self._core_facts: Growing[np.uint8] = Growing(np.uint8, 2)
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
        sync = self._sync(_packed(_SYNC_KEY, history, nodes, starts, pending))
        cores = self._cores(_packed(_CORE_KEY, sync >> 1, nodes, borders, pending, enabled))
        facts = self._core_facts.array[cores]
        self.core.append(cores)
        self.length.append(facts[:, 0])
        self.violated.append(facts[:, 1] | SYNC * (sync & 1) | CAL * (error != ERROR_ZERO))
        self.events.extend_zeros(len(keys))
        self._expanded.extend_zeros(len(keys))
        for group in self.groups:
            group.add_rows(len(keys))

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

    def _expand(self, rows: Ints) -> None:
        cores = self.core.array[rows]
        for core in np.unique(cores[self.edges.start.array[cores] < 0]):
            domain = self.tables.domain(int(self._core_facts.array[core, 0]))
            self.edges.fill(int(core), self.tables.edges(self._core_keys[core]), domain)
        places, owners = stretches(self.edges.start.array[cores], self.edges.count.array[cores])
        keys = self.index.keys.array[rows][owners]
        after = self._histories_after(unpack(keys, "history"), self.edges.column("event")[places])
        taken = after >= 0
        places, owners, keys, after = places[taken], owners[taken], keys[taken], after[taken]
        rebased = self.edges.column("slot")[places] != PASSES
        error = np.where(rebased, ERROR_ZERO, unpack(keys, "error")) + self.edges.column("error")[places]
        if len(error):
            check_room("error", int(error.min()))
            check_room("error", int(error.max()))
        targets = self.rows(
            after.astype(np.int64) << KEY["history"].shift
            | self.edges.column("nodes")[places] << KEY["nodes"].shift
            | self.edges.column("borders")[places] << KEY["borders"].shift
            | self.edges.column("pending")[places] << KEY["pending"].shift
            | self.edges.column("enabled")[places] << KEY["enabled"].shift
            | error
        )
        counting = self.edges.column("counts")[places]
        self.events.array[rows] = np.bincount(owners, counting, len(rows))
        group_of = self.edges.group.array[places]
        for number, group in enumerate(self.groups):
            chosen = group_of == number
            group.fill(rows, owners[chosen], targets[chosen], places[chosen])
