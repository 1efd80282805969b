"""The low part of a state: what an effect does to ``last_observed`` and the gauge, found by running it.

A state is a *skeleton* (history, tree, pending, enabled) and a *low part* (``last_observed``, gauge).
Most effects read little of the low part. So an effect is run once with low values that note every
comparison they take part in; one run then speaks for a whole *box* of values, those that compare the
same way. Runs go on until the boxes cover the domain. Nothing is known beforehand of any event.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

from foldproof.model.state import Gauge, GaugeKind, State

TOP = 15
"""The largest index that a row has room for; so the largest bound of the bulk engine."""

GAUGES = 2 * (TOP + 1)
"""Gauge slots: a length and a kind."""


def gauge_slot(length: int, kind: GaugeKind) -> int:
    """The slot of a gauge among the ``GAUGES`` bits of a block."""
    return 2 * length + (kind is GaugeKind.MEASURED)


def gauge_of_slot(slot: int) -> tuple[int, GaugeKind]:
    """The inverse of `gauge_slot`."""
    return slot // 2, GaugeKind.MEASURED if slot % 2 else GaugeKind.ESTIMATE


def gauge_mask(first: int, last: int) -> int:
    """The slots of both kinds whose length lies in ``[first, last]``."""
    return (1 << 2 * (last + 1)) - (1 << 2 * first)


class BulkError(Exception):
    """The bulk engine cannot do what it was asked. The message says what and the remedy."""


class UnsupportedError(BulkError):
    """A machine, a rule, a bound or an option that the bulk engine does not search with."""


class _Noted:
    """An integer that notes how it was compared: ``[first, last]`` are the values that would agree."""

    def __init__(self, value: int, last: int) -> None:
        self.value, self.first, self.last = value, value, last

    def _below(self, limit: int) -> bool:
        """``value < limit``, noted."""
        if self.value < limit:
            self.last = min(self.last, limit - 1)
            return True
        return False  # every value from here to ``last`` is at least ``limit`` as well

    def __lt__(self, other: int) -> bool:
        return self._below(other)

    def __le__(self, other: int) -> bool:
        return self._below(other + 1)

    def __gt__(self, other: int) -> bool:
        return not self._below(other + 1)

    def __ge__(self, other: int) -> bool:
        return not self._below(other)

    def __index__(self) -> int:
        self.last = self.value
        return self.value

    def __eq__(self, other: object) -> bool:
        return self.__index__() == other

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __add__(self, other: int) -> int:
        return self.__index__() + other

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        return self.__index__() - other

    def __rsub__(self, other: int) -> int:
        return other - self.__index__()


class _Unread:
    """A part that no effect may read: the tokens and the kind of the gauge before the event."""

    def _refuse(self, *_: object) -> NoReturn:
        raise UnsupportedError(
            "an effect reads the gauge's tokens or kind, which the bulk engine does not tabulate; "
            "search with the plain engine, or widen foldproof.explore.bulk_low"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = _refuse
    __index__ = __bool__ = __int__ = __hash__ = __str__ = _refuse
    __eq__ = __ne__ = _refuse


_UNREAD: Any = _Unread()


class Box(NamedTuple):
    """What an effect does to all low parts with indices in ``[lo_first, lo_last]``, ``[g_first, g_last]``.

    ``after`` is the canonical skeleton reached. ``observed`` is the new ``last_observed``, or None when it
    stays as it is; ``gauge`` likewise.
    """

    lo_first: int
    lo_last: int
    g_first: int
    g_last: int
    after: State
    observed: int | None
    gauge: Gauge | None


class Domain(NamedTuple):
    """The low indices that an expanded state may have: ``last_observed`` and ``gauge.length``, from 0."""

    observed: int
    length: int


Change: TypeAlias = Callable[[State], State]


def boxes(skeleton: State, effect: Change, canonical: Change, domain: Domain) -> list[Box]:
    """An effect on a skeleton with any low part of a domain.

    Boxes that reach one skeleton share one ``after``, so that it need be looked at only once.
    """
    known: list[tuple[State, State]] = []  # compared, not hashed: equal parts are mostly the same objects
    found: list[Box] = []
    todo = [(0, domain.observed, 0, domain.length)]
    while todo:
        lo_first, lo_last, g_first, g_last = todo.pop()
        observed, length = _Noted(lo_first, lo_last), _Noted(g_first, g_last)
        gauge = Gauge(cast(int, length), _UNREAD, _UNREAD)
        reached = effect(skeleton._replace(gauge=gauge, last_observed=cast(int, observed)))
        bare = reached._replace(gauge=_NO_GAUGE, last_observed=0)
        after = next((after for other, after in known if other == bare), None)
        if after is None:
            after = canonical(bare)
            known.append((bare, after))
        new_observed = cast(object, reached.last_observed)
        box = Box(
            lo_first,
            observed.last,
            g_first,
            length.last,
            after,
            None if new_observed is observed else _concrete(new_observed),
            None if reached.gauge is gauge else _concrete_gauge(reached.gauge),
        )
        found.append(box)
        if box.lo_last < lo_last:
            todo.append((box.lo_last + 1, lo_last, g_first, g_last))
        if box.g_last < g_last:
            todo.append((lo_first, box.lo_last, box.g_last + 1, g_last))
    return found if len(found) == 1 else _merged(found)


_NO_GAUGE = Gauge()


def _concrete(value: object) -> int:
    if type(value) is not int:
        raise UnsupportedError(f"an effect makes a low index a {type(value).__name__}, not an integer")
    return value


def _concrete_gauge(gauge: Gauge) -> Gauge:
    _concrete(cast(object, gauge.length))
    _concrete(cast(object, gauge.tokens))
    return gauge


def _merged(found: list[Box]) -> list[Box]:
    """Neighbours along ``last_observed`` that do the same become one."""
    merged: list[Box] = []
    for box in sorted(found, key=lambda b: (b.g_first, b.g_last, b.lo_first)):
        last = merged[-1] if merged else None
        if (
            last is not None
            and (last.g_first, last.g_last, last.lo_last + 1) == (box.g_first, box.g_last, box.lo_first)
            and (last.observed, last.gauge) == (box.observed, box.gauge)
            and last.after is box.after
        ):
            merged[-1] = last._replace(lo_last=box.lo_last)
        else:
            merged.append(box)
    return merged
