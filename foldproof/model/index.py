"""The index arithmetic: what happens to one index, or to one node, when the history changes.

Everything here is written once and runs twice: on integers, when the model steps, and on Z3 terms,
when the proofs quantify over all lengths and all nodes. So a function may use arithmetic and
comparison freely, joins truths with ``&`` and ``|``, and takes the two operations that Python has no
common spelling for, negation and choice, from its ``logic``.

An index is an ``int`` or an integer term, a truth is a ``bool`` or a Boolean term. A node appears as
its `Span`: the same three facts that `foldproof.model.state.Node` holds, without an optional.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

Index: TypeAlias = Any
"""An ``int``, or a term that has ``+ - < <= > >= ==``."""

Truth: TypeAlias = Any
"""A ``bool``, or a term that has ``&`` and ``|``."""

VOID = -1
"""The ``opened_at`` of a node that the clamping repair has voided."""


class Logic(Protocol):
    """Negation and choice, in the domain that the indices come from."""

    def negate(self, truth: Truth) -> Truth: ...

    def choose(self, condition: Truth, then: Index, otherwise: Index) -> Index: ...


class _Integers:
    def negate(self, truth: Truth) -> Truth:
        return not truth

    def choose(self, condition: Truth, then: Index, otherwise: Index) -> Index:
        return then if condition else otherwise


INTEGERS: Logic = _Integers()
"""The logic that the model itself runs on."""


class Span(NamedTuple):
    """A node seen by its indices: present in the tree or not, open or closed.

    ``closed_at`` means nothing while ``closed`` is false.
    """

    present: Truth
    opened_at: Index
    closed: Truth
    closed_at: Index


def clamp(index: Index, length: Index, logic: Logic = INTEGERS) -> Index:
    """The lesser of an index and a length: where a cursor stands when the history has that length."""
    return logic.choose(index <= length, index, length)


def translate(index: Index, k: Index) -> Index:
    """Where an index stands when ``history[:k]`` has been replaced by one message."""
    return index + (1 - k)


def carrier_opens_at(carrier: Index) -> Index:
    """The ``opened_at`` of the node that the carrier at this index opens."""
    return carrier


def carrier_closes_at(carrier: Index) -> Index:
    """The ``closed_at`` of the node that the carrier at this index closes."""
    return carrier - 1


def opening_carrier(span: Span) -> Index:
    """The index of the carrier that opened a node: the inverse of `carrier_opens_at`."""
    return span.opened_at


def closing_carrier(span: Span) -> Index:
    """The index of the carrier that closed a node: the inverse of `carrier_closes_at`."""
    return span.closed_at + 1


def in_epoch(span: Span, epoch_start_at: Index) -> Truth:
    """A node belongs to the current epoch when it opened in it."""
    return span.present & (span.opened_at >= epoch_start_at)


def records_open(span: Span, epoch_start_at: Index) -> Truth:
    """The tree records this node's opening as a transition of the current epoch (INV-SYNC)."""
    return span.present & (opening_carrier(span) >= epoch_start_at)


def records_close(span: Span, epoch_start_at: Index) -> Truth:
    """The tree records this node's closing as a transition of the current epoch (INV-SYNC)."""
    return span.present & span.closed & (closing_carrier(span) >= epoch_start_at)


def parts(span: Span, k: Index) -> Truth:
    """A boundary at ``k`` would part this closed span, or part it from the carrier that closed it."""
    return span.present & span.closed & (span.opened_at < k) & (k <= closing_carrier(span))


def anchored(span: Span, length: Index, logic: Logic = INTEGERS) -> Truth:
    """INV-IDX of one node: both its ends lie in a history of this length."""
    ends_inside = logic.negate(span.closed) | (span.closed_at < length)
    return logic.negate(span.present) | ((span.opened_at < length) & ends_inside)


def rolled_back(span: Span, cut: Index, logic: Logic = INTEGERS) -> Span:
    """The node as it was when the history had length ``cut``.

    A node that had not opened goes; one whose closing carrier had not come opens again. The design's
    truncation (clause D9).
    """
    return Span(
        present=span.present & (span.opened_at < cut),
        opened_at=span.opened_at,
        closed=span.closed & (closing_carrier(span) < cut),
        closed_at=span.closed_at,
    )


def clamped(span: Span, cut: Index, logic: Logic = INTEGERS) -> Span:
    """The node squeezed into a history of length ``cut``: the snapshot's repair, the fault of D9.

    A straddling span is cut to ``cut - 1``, a truncated open node restarts at ``cut``, a truncated
    closed node is voided.
    """
    survives = span.opened_at < cut
    restarted = logic.choose(span.closed, VOID, cut)
    voided = span.opened_at == VOID
    straddles = survives & (span.closed_at >= cut) & logic.negate(voided)
    return Span(
        present=span.present,
        opened_at=logic.choose(survives, span.opened_at, restarted),
        closed=span.closed,
        closed_at=logic.choose(straddles, cut - 1, span.closed_at),
    )


def translated(span: Span, k: Index, logic: Logic = INTEGERS) -> Span:
    """The node when ``history[:k]`` has been replaced by one message: nodes opened before ``k`` go."""
    return Span(
        present=span.present & (span.opened_at >= k),
        opened_at=translate(span.opened_at, k),
        closed=span.closed,
        closed_at=translate(span.closed_at, k),
    )


def survives(end: Index, cut: Index) -> Truth:
    """A memory that covers messages up to ``end`` outlives a truncation to ``cut``."""
    return end <= cut


def outlives(measured: Index, cut: Index) -> Truth:
    """A gauge of so many messages speaks of some that a truncation to ``cut`` takes away."""
    return measured > cut


def spoken_for(span: Span) -> tuple[Index, Index]:
    """What the memory of a closed node covers, as ``[start, end)``: the whole span."""
    return span.opened_at, span.closed_at + 1


def is_past(k: Index, epoch_start_at: Index, frozen_end: Index, strictly: bool) -> Truth:
    """A compaction up to ``k`` covers something: ``strictly`` demands that it moves the epoch."""
    return (k >= epoch_start_at + int(strictly)) & (k > frozen_end)
