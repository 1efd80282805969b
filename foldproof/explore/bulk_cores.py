"""Cores, numbered: which invariants they violate, and which edges they have.

A core is what is left of a skeleton when the messages that nothing looks at are alike: all rows with one
core have the same edges, up to the history. Numbers and facts of thousands of cores are found at a time;
the tables are asked once for each distinct argument.

VIEW and IDX are checked in two halves. A view is what is folded before the epoch, then the epoch; so it
accounts for every message exactly once if each half does, the other being in order, and does not if only
one half does. Where neither does, or the epoch starts past the end, the whole is asked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_edges import IMPOSSIBLE, UNKNOWN, EdgeTable
from foldproof.explore.bulk_low import UnsupportedError
from foldproof.explore.bulk_parts import KEY, Ints
from foldproof.explore.bulk_rows import Facts, Growing, KeyIndex, Lookup, packed, unpacked
from foldproof.explore.bulk_shapes import Shape, Shapes
from foldproof.explore.bulk_tables import IDX, ROW_INVARIANTS, SYNC, VIEW, Tables
from foldproof.model.state import Memory, Tree

_HISTORY, _NODES, _BORDERS, _PENDING = (KEY[name].bits for name in ("history", "nodes", "borders", "pending"))
_LENGTH = 8
_CORE = (_HISTORY, _NODES, _BORDERS, _PENDING, 1)


class Cores:
    """The cores of one search."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.edges = EdgeTable(tables)
        self.shapes = Shapes(tables, self.edges)
        self.violated: Growing[np.uint8] = Growing(np.uint8)
        self._shape: Growing[np.int32] = Growing(np.int32)
        self._index = KeyIndex()
        self._shape_keys: dict[int, Shape] = {}
        self._all_checked = tables.checked == (1 << len(ROW_INVARIANTS)) - 1
        codes = tables.shared.cores.codes
        self._lengths: Facts[np.int64] = Facts(np.int64, lambda history: len(codes[history]))
        self._stands: Facts[np.int64] = Facts(np.int64, self.shapes.history)
        self._borders: Facts[np.int64] = Facts(np.int64, self._facts_of_borders, 2)
        self._sync = Lookup((_HISTORY, _NODES, _LENGTH, _PENDING), self._sync_of)
        self._epochs = Lookup((_LENGTH, _NODES, _LENGTH, 1), self._epoch_violates)
        self._folds = Lookup((_BORDERS, _LENGTH, 1), self._fold_violates)
        self._wholes = Lookup((_LENGTH, _NODES, _BORDERS, 1), self._whole_violates)
        self._shapes_of = Lookup((_HISTORY, 1, _NODES, _LENGTH, _PENDING, 1), self._new_shape)

    def numbers(self, pattern: Ints, nodes: Ints, borders: Ints, pending: Ints, enabled: Ints) -> Ints:
        """The numbers of cores; ``pattern`` numbers a history as `Tables.pattern` gives it."""
        keys = packed(_CORE, pattern, nodes, borders, pending, enabled)
        return self._index.numbers(keys, self._describe).astype(np.int64)

    def shapes_of(self, cores: NDArray[np.int32]) -> NDArray[np.int32]:
        """The shapes of cores, their edges worked out."""
        edges, shapes = self.edges, self._shape.array[cores]
        unknown = shapes[(shapes >= 0) & (edges.start.array[shapes] == UNKNOWN)]
        for shape in np.unique(unknown).tolist():
            found = self.shapes.edges(self._shape_keys[shape])
            if found is None:
                edges.start.array[shape] = IMPOSSIBLE
            else:
                edges.fill(shape, found)
        alone = cores[(shapes < 0) | (edges.start.array[shapes] == IMPOSSIBLE)]
        for core in np.unique(alone).tolist():
            shape = self._shape.array[core] = edges.add_shape()
            edges.fill(shape, [edges.number(edge) for edge in self.tables.edges(self._key(core))])
        return self._shape.array[cores]

    def _key(self, core: int) -> tuple[int, int, int, int, int]:
        pattern, nodes, borders, pending, enabled = unpacked(_CORE, self._index.keys.array[[core]])
        start = int(self._borders.of(borders, len(self.tables.parts.borders))[borders[0], 0])
        history, _ = self.tables.sync(int(pattern[0]), int(nodes[0]), start, int(pending[0]))
        return history, int(nodes[0]), int(borders[0]), int(pending[0]), int(enabled[0])

    def _describe(self, keys: Ints) -> None:
        pattern, nodes, borders, pending, enabled = unpacked(_CORE, keys)
        cores = self.tables.shared.cores
        start, simple = self._borders.of(borders, len(self.tables.parts.borders))[borders].T
        length = self._lengths.of(pattern, len(cores))[pattern]
        sync = self._sync(pattern, nodes, start, pending)
        epochs = self._epochs(length, nodes, start, enabled)
        folds = self._folds(borders, np.minimum(length, start), enabled)
        violated = (epochs | folds) & IDX | (epochs ^ folds) & VIEW
        whole = np.flatnonzero((epochs & folds & VIEW != 0) | (simple == 0) | (start > length))
        violated[whole] = self._wholes(length[whole], nodes[whole], borders[whole], enabled[whole])
        self.violated.append(violated | SYNC * (sync & 1))
        history = sync >> 1
        stands = self._stands.of(history, len(cores))[history]
        any_length = (stands & 1 != 0) & (pending == 0)
        history = np.where(any_length | (stands & 1 == 0), stands >> 1, history)
        shapes = np.full(len(keys), -1)
        shaped = np.flatnonzero((simple != 0) & (violated == 0) & self._all_checked)
        parts = (history, any_length.astype(np.int64), nodes, start, pending, enabled)
        shapes[shaped] = self._shapes_of(*(part[shaped] for part in parts))
        self._shape.append(shapes)

    def _facts_of_borders(self, borders: int) -> tuple[int, bool]:
        """Where the epoch starts, and whether what is folded is what shapes expect."""
        tree = Tree((), *self.tables.parts.borders[borders])
        if not 0 <= tree.epoch_start_at < 1 << _LENGTH:
            raise UnsupportedError(f"an epoch starts at {tree.epoch_start_at}: use the plain engine")
        unfolded = not tree.frozen and tree.state is None and not tree.frozen_end
        return tree.epoch_start_at, tree.epoch_memory_at is None and (tree.epoch_start_at > 0 or unfolded)

    def _sync_of(self, pattern: int, nodes: int, start: int, pending: int) -> int:
        history, violated = self.tables.sync(pattern, nodes, start, pending)
        return history << 1 | violated

    def _epoch_violates(self, length: int, nodes: int, start: int, enabled: int) -> int:
        folded = Memory(1, tuple(range(start))) if start else None
        tree = Tree(self.tables.parts.nodes[nodes], (), 0, folded, start)
        return self.tables.violated(("epoch", nodes, start), length, tree, enabled)

    def _fold_violates(self, borders: int, length: int, enabled: int) -> int:
        tree = Tree((), *self.tables.parts.borders[borders])
        return self.tables.violated(("fold", borders), length, tree, enabled)

    def _whole_violates(self, length: int, nodes: int, borders: int, enabled: int) -> int:
        tree = self.tables.parts.tree(nodes, borders)
        return self.tables.violated(("whole", nodes, borders), length, tree, enabled)

    def _new_shape(self, *parts: int) -> int:
        shape = self.edges.add_shape()
        history, any_length, *rest = parts
        self._shape_keys[shape] = Shape(history, bool(any_length), *rest)
        return shape
