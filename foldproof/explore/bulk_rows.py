"""Growing arrays, and the index from row keys to row numbers."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_parts import Ints

ScalarT = TypeVar("ScalarT", bound=np.generic)


class Growing(Generic[ScalarT]):
    """An array that grows at its end, in steps of a half, so that appending costs little."""

    def __init__(self, dtype: type[ScalarT], width: int | None = None) -> None:
        self._width = () if width is None else (width,)
        self._room: NDArray[ScalarT] = np.zeros((64, *self._width), dtype)
        self.size = 0

    @property
    def array(self) -> NDArray[ScalarT]:
        """The elements so far: a view, which the next growth leaves behind."""
        return self._room[: self.size]

    @property
    def nbytes(self) -> int:
        return self._room.nbytes

    def append(self, values: NDArray[Any]) -> None:
        start = self.size
        self.extend_zeros(len(values))
        self._room[start : self.size] = values

    def extend_zeros(self, count: int) -> None:
        needed = self.size + count
        if needed > len(self._room):
            room = np.zeros(
                (max(needed, len(self._room) + len(self._room) // 2), *self._width), self._room.dtype
            )
            room[: self.size] = self._room[: self.size]
            self._room = room
        self.size = needed


class KeyIndex:
    """Distinct 64-bit keys, numbered in the order of their arrival; exact, in a few sorted runs.

    A run is merged into the one before it as soon as it is half as long, so that there are about as many
    runs as the logarithm of the number of keys, and each key is merged as often.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Ints, NDArray[np.int32]]] = []
        self.keys: Growing[np.int64] = Growing(np.int64)

    def __len__(self) -> int:
        return self.keys.size

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + sum(keys.nbytes + rows.nbytes for keys, rows in self._runs)

    def find(self, distinct: Ints) -> NDArray[np.int32]:
        """The numbers of sorted distinct keys, -1 where a key is not known."""
        found = np.full(len(distinct), -1, np.int32)
        for keys, rows in self._runs:
            places = np.searchsorted(keys, distinct)
            places[places == len(keys)] = 0
            hit = keys[places] == distinct
            found[hit] = rows[places[hit]]
        return found

    def add(self, distinct: Ints) -> NDArray[np.int32]:
        """Number sorted distinct keys, none of which is known."""
        rows = np.arange(len(self), len(self) + len(distinct), dtype=np.int32)
        self.keys.append(distinct)
        run = (distinct, rows)
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run[0]):
            keys, numbers = self._runs.pop()
            merged = np.concatenate([keys, run[0]])
            order = np.argsort(merged, kind="stable")  # two sorted stretches: a merge
            run = merged[order], np.concatenate([numbers, run[1]])[order]
        self._runs.append(run)
        return rows


def distinct_and_inverse(values: Ints) -> tuple[Ints, Ints]:
    """The distinct values in order, and where each value stands among them."""
    if not len(values):
        return values, values
    ordered = np.sort(values)
    fresh = np.empty(len(ordered), bool)
    fresh[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    distinct = ordered[fresh]
    return distinct, np.searchsorted(distinct, values)


def stretches(starts: NDArray[Any], counts: NDArray[Any]) -> tuple[Ints, Ints]:
    """All positions of the stretches ``[start, start + count)``, and the stretch each belongs to."""
    owners = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts, dtype=np.int64)
    offsets = np.asarray(starts, np.int64) - (ends - counts)
    return np.arange(ends[-1] if len(ends) else 0) + offsets[owners], owners
