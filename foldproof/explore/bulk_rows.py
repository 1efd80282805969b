"""Growing arrays, and the index from row keys to row numbers."""

from __future__ import annotations

from collections.abc import Callable
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


MOST_GUESSES = 1 << 22
"""Guesses kept at most: 16 MiB."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class KeyIndex:
    """Distinct 64-bit keys, numbered in the order of their arrival; exact, in a few sorted runs.

    Most keys asked for are known: a number is guessed first, from those met last, and compared. A run is
    merged into the one before it as soon as it is half as long, so that there are about as many
    runs as the logarithm of the number of keys, and each key is merged as often.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Ints, NDArray[np.int32]]] = []
        self.keys: Growing[np.int64] = Growing(np.int64)
        self._guesses = np.zeros(1 << 10, np.int32)

    def __len__(self) -> int:
        return self.keys.size

    @property
    def nbytes(self) -> int:
        runs = sum(keys.nbytes + rows.nbytes for keys, rows in self._runs)
        return self.keys.nbytes + runs + self._guesses.nbytes

    def numbers(self, keys: Ints, describe: Callable[[Ints], None]) -> NDArray[np.int32]:
        """The numbers of keys, in any order; ``describe`` is told the new ones, when they are numbered."""
        if not len(self):
            return self._sought(keys, describe)
        numbers: NDArray[np.int32] = self._guesses[self._slots(keys)]
        missing = np.flatnonzero(self.keys.array[numbers] != keys)
        if len(missing):
            sought = keys[missing]
            numbers[missing] = self._sought(sought, describe)
            if len(self) > len(self._guesses) >> 1 and len(self._guesses) < MOST_GUESSES:
                self._guesses = np.zeros(4 * len(self._guesses), np.int32)
                sought = self.keys.array
                self._guesses[self._slots(sought)] = np.arange(len(self))
            else:
                self._guesses[self._slots(sought)] = numbers[missing]
        return numbers

    def _sought(self, keys: Ints, describe: Callable[[Ints], None]) -> NDArray[np.int32]:
        distinct, places = distinct_and_inverse(keys)
        found = self.find(distinct)
        new = distinct[found < 0]
        if len(new):
            found[found < 0] = self.add(new)
            describe(new)
        return found[places]

    def _slots(self, keys: Ints) -> NDArray[np.uint64]:
        """Where to look for a guess of a key's number: any spreading of keys over the guesses will do."""
        bits = len(self._guesses).bit_length() - 1
        return (keys.view(np.uint64) * _SPREAD) >> np.uint64(64 - bits)

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


def or_columns(table: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """Each row's bitwise or; for tables of a few columns, faster than a reduction along rows."""
    result = table[:, 0].copy()
    for column in range(1, table.shape[1]):
        result |= table[:, column]  # type: ignore[misc]
    return result


def packed(widths: tuple[int, ...], *values: Ints) -> Ints:
    """Several numbers in one: of these widths in bits, from the high ones down."""
    together = values[0]
    for width, value in zip(widths[1:], values[1:], strict=True):
        together = together << width | value
    return together


def unpacked(widths: tuple[int, ...], together: Ints) -> list[Ints]:
    """The inverse of `packed`; of one Python integer, too."""
    values: list[Ints] = []
    for width in reversed(widths):
        values.append(together & ((1 << width) - 1))
        together = together >> width
    return values[::-1]


class Lookup:
    """A function from packed keys to numbers, computed once for each distinct key."""

    def __init__(self, widths: tuple[int, ...], compute: Callable[..., int]) -> None:
        self._widths, self._compute = widths, compute
        self._known: dict[int, int] = {}

    def __call__(self, *values: Ints) -> Ints:
        distinct, places = distinct_and_inverse(packed(self._widths, *values))
        known, found = self._known, []
        for key in distinct.tolist():
            value = known.get(key)
            if value is None:
                value = known[key] = self._compute(*unpacked(self._widths, key))
            found.append(value)
        return np.array(found, np.int64)[places]


class Facts(Generic[ScalarT]):
    """Facts of things numbered from 0 on, each worked out once, as the rows of an array."""

    def __init__(self, dtype: type[ScalarT], compute: Callable[[int], Any], width: int | None = None) -> None:
        self._compute = compute
        self._known: Growing[np.bool_] = Growing(np.bool_)
        self._facts: Growing[ScalarT] = Growing(dtype, width)

    def of(self, numbers: NDArray[Any], most: int) -> NDArray[ScalarT]:
        """The array of facts, those of ``numbers`` worked out; all numbers are below ``most``."""
        missing = max(most - self._known.size, 0)
        self._known.extend_zeros(missing)
        self._facts.extend_zeros(missing)
        unknown = numbers[~self._known.array[numbers]]
        for number in np.unique(unknown).tolist() if len(unknown) else ():
            self._facts.array[number] = self._compute(number)
            self._known.array[number] = True
        return self._facts.array


def stretches(starts: NDArray[Any], counts: NDArray[Any]) -> tuple[Ints, Ints]:
    """All positions of the stretches ``[start, start + count)``, and the stretch each belongs to."""
    owners = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts, dtype=np.int64)
    offsets = np.asarray(starts, np.int64) - (ends - counts)
    return np.arange(ends[-1] if len(ends) else 0) + offsets[owners], owners
