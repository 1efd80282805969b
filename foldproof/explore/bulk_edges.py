"""Edges as columns: distinct ones, resolved for a length of history, and of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_low import TOP
from foldproof.explore.bulk_parts import ERROR_ZERO, KEY, Ints, check_room
from foldproof.explore.bulk_rows import Growing, stretches
from foldproof.explore.bulk_tables import PASSES, Edge, Tables

ONCE, BY_OBSERVED, BY_GAUGE, BY_BOTH = range(4)
"""The groups of edges: what of the low part they read. The first two make the gauge one of all messages."""

UNKNOWN, IMPOSSIBLE = -1, -2
"""The start of a shape's list of edges that has not been worked out, or cannot be."""


class Effects(NamedTuple):
    """What resolved edges do to the bits, and the edge that each one resolves."""

    observed_mask: NDArray[np.uint16]  # bit v: the box holds last_observed == v
    gauge_mask: NDArray[np.uint32]  # the gauge slots that the box holds
    observed: NDArray[np.int8]  # the new last_observed, or PASSES
    slot: NDArray[np.int8]  # the new gauge's slot, or PASSES
    group: NDArray[np.int8]
    edge: NDArray[np.int32]


BEFORE, AFTER = 64, 96
"""In an edge, ``BEFORE + i`` and ``AFTER + i`` are the length of the history then, plus ``i``."""


def resolved(values: Ints, before: Ints, after: Ints) -> Ints:
    """Indices of edges with the lengths put in."""
    relative_to_before = (values >= BEFORE) & (values < AFTER)
    shifted = values + relative_to_before * (before - BEFORE)
    return shifted + (values >= AFTER) * (after - AFTER)


class Columns(NamedTuple):
    """What edges do to a row's key, apart from history and borders that come from elsewhere."""

    event: NDArray[np.int32]
    borders: NDArray[np.int32]
    keep: Ints  # the fields of the key that stay
    add: Ints  # what the others become, and the change of the error
    moved: NDArray[np.int32]  # a pending call whose carrier is the message after the history, or 0
    error_change: NDArray[np.int32]  # where the gauge passes
    counts: NDArray[np.bool_]


class EdgeTable:
    """Distinct edges, column by column, and for each shape the list of its edges."""

    def __init__(self, tables: Tables) -> None:
        self._numbers: dict[Edge, int] = {}
        self._added: list[Edge] = []
        self._columns: Growing[np.int32] = Growing(np.int32, len(Edge._fields))
        self.lists: Growing[np.int32] = Growing(np.int32)
        self.start: Growing[np.int32] = Growing(np.int32)  # by shape: its stretch of the lists
        self.count: Growing[np.int32] = Growing(np.int32)
        domains = [tables.domain(length) for length in range(TOP + 1)]
        self._most_observed = np.array([domain.observed for domain in domains])
        self._most_length = np.array([domain.length for domain in domains])
        self._prepared: Columns
        self._resolved: Growing[np.int32] = Growing(np.int32, TOP + 1)
        self._effects = tuple(
            Growing[Any](dtype) for dtype in (np.uint16, np.uint32, np.int8, np.int8, np.int8, np.int32)
        )

    @property
    def effects(self) -> Effects:
        return Effects(*(column.array for column in self._effects))

    def number(self, edge: Edge) -> int:
        """The number of an edge."""
        known = self._numbers.get(edge)
        if known is None:
            known = self._numbers[edge] = len(self._numbers)
            self._added.append(edge)
        return known

    def add_shape(self) -> int:
        """Make room for one shape more, without edges as yet; its number."""
        self.start.append(np.array([UNKNOWN]))
        self.count.extend_zeros(1)
        return self.start.size - 1

    def fill(self, shape: int, edges: list[int]) -> None:
        """Give a shape its edges."""
        self.start.array[shape], self.count.array[shape] = self.lists.size, len(edges)
        self.lists.append(np.array(edges, np.int32))

    def columns(self) -> Columns:
        """All edges, column by column."""
        if self._added:
            self._columns.append(np.array(self._added, np.int32))
            self._resolved.append(np.full((len(self._added), TOP + 1), -1, np.int32))
            self._added = []
            self._prepared = self._prepare()
        return self._prepared

    def _prepare(self) -> Columns:
        event, nodes, borders, pending, enabled = self._columns.array[:, :5].T.astype(np.int64)
        gauge_length, error = (
            self._columns.array[:, Edge._fields.index(name)].astype(np.int64)
            for name in ("gauge_length", "error")
        )
        mask = {name: ((1 << field.bits) - 1) << field.shift for name, field in KEY.items()}
        passes = gauge_length == PASSES
        new_error = np.where(passes, ERROR_ZERO, error + ERROR_ZERO)
        check_room("error", int(new_error.min()))
        check_room("error", int(new_error.max()))
        keep = (nodes == PASSES) * np.int64(mask["nodes"]) | passes * np.int64(mask["error"])
        add = (
            np.where(nodes == PASSES, 0, nodes) << KEY["nodes"].shift
            | np.maximum(pending, 0) << KEY["pending"].shift
            | enabled << KEY["enabled"].shift
        ) + np.where(passes, error, new_error)
        return Columns(
            event.astype(np.int32),
            borders.astype(np.int32),
            keep,
            add,
            np.maximum(-pending, 0).astype(np.int32),
            np.where(passes, error, 0).astype(np.int32),
            self._columns.array[:, Edge._fields.index("counts")] != 0,
        )

    def resolve(
        self, edges: NDArray[np.int32], before: NDArray[Any], after: NDArray[Any]
    ) -> NDArray[np.int32]:
        """The numbers of edges with the lengths of the history, before and after the event, put in.

        An edge and the length before determine the length after.
        """
        self.columns()
        numbers: NDArray[np.int32] = self._resolved.array[edges, before]
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            keys = edges[missing].astype(np.int64) * (TOP + 1) + before[missing]
            distinct, where = np.unique(keys, return_index=True)
            where = missing[where]
            first = self._effects[0].size
            self._add_effects(edges[where], before[where].astype(np.int64), after[where].astype(np.int64))
            self._resolved.array[edges[where], before[where]] = np.arange(first, first + len(distinct))
            numbers = self._resolved.array[edges, before]
        return numbers

    def _add_effects(self, edges: NDArray[np.int32], before: Ints, after: Ints) -> None:
        def value(name: str) -> Ints:
            return resolved(
                self._columns.array[edges, Edge._fields.index(name)].astype(np.int64), before, after
            )

        most_observed, most_length = self._most_observed[before], self._most_length[before]
        observed_first, gauge_first = value("observed_first"), value("gauge_first")
        observed_last = np.minimum(value("observed_last"), most_observed)
        gauge_last = np.minimum(value("gauge_last"), most_length)
        observed, length = value("observed"), value("gauge_length")
        one = np.int64(1)
        observed_mask = np.maximum((one << observed_last + 1) - (one << observed_first), 0)
        gauge_mask = np.maximum((one << 2 * (gauge_last + 1)) - (one << 2 * gauge_first), 0)
        slot = np.where(length == PASSES, PASSES, 2 * length + value("gauge_kind"))
        any_observed = (observed_first == 0) & (observed_last == most_observed)
        any_gauge = (gauge_first == 0) & (gauge_last == most_length)
        of_all = any_gauge & (length == after)
        sets = any_observed & (observed != PASSES)
        by_observed = np.where(sets, ONCE, BY_OBSERVED)
        group = np.where(of_all, by_observed, np.where(sets, BY_GAUGE, BY_BOTH))
        for column, values in zip(
            self._effects, (observed_mask, gauge_mask, observed, slot, group, edges), strict=True
        ):
            column.append(values)


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

    def fill(self, rows: Ints, owners: Ints, targets: NDArray[np.int32], edges: NDArray[np.int32]) -> None:
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
