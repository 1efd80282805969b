"""The strengthened invariant: what is true of every index, node and memory between any two events.

INV-IDX, INV-CAL, INV-VIEW and INV-SYNC alone are not inductive; these conjuncts are, together. Each
speaks of one arbitrary part of a state, or of two, and belongs to the invariant that it is there for.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from foldproof.model import index
from foldproof.model.index import Index, Truth
from foldproof.proofs.facts import Covers, Frame, FrozenFacts, MessageFacts, NodeFacts
from foldproof.proofs.logic import Reasoning, implies


class Group(StrEnum):
    """The rows of the grid: the four invariants, and the laminarity that INV-VIEW rests on."""

    IDX = "IDX"
    CAL = "CAL"
    VIEW = "VIEW"
    SYNC = "SYNC"
    LAMINAR = "LAMINAR"


class Parts(Protocol):
    """A state at index level, part by part. Nodes and frozen memories have keys, in their order."""

    @property
    def logic(self) -> Reasoning: ...

    @property
    def frame(self) -> Frame: ...

    @property
    def has_cursor(self) -> Truth: ...

    def message(self, i: Index) -> MessageFacts: ...

    def node(self, key: Any) -> NodeFacts: ...

    def frozen_memory(self, key: Any) -> FrozenFacts: ...

    def opened_by(self, i: Index) -> Truth:
        """Some node was opened by the carrier at this index."""
        ...

    def closed_by(self, i: Index) -> Truth:
        """Some node was closed by the carrier at this index."""
        ...

    def frozen_over(self, i: Index) -> Truth:
        """Some frozen memory covers this index."""
        ...


class Conjunct(NamedTuple):
    """One part of the invariant. ``over`` names what it speaks of: n nodes, f frozen
    memories, i indices, e indices at which something is claimed to exist."""

    name: str
    group: Group
    over: str
    says: str
    holds: Callable[..., Truth]


def _tells(s: Parts, covers: Covers, start: Index, end: Index) -> Truth:
    """A memory covers exactly this interval, and all of it is still stored."""
    return s.logic.every(covers.intact, covers.start == start, covers.end == end)


def boundaries(s: Parts) -> Truth:
    """Every boundary lies in the history, in order."""
    f = s.frame
    ordered = s.logic.every(f.frozen_end >= 0, f.frozen_end <= f.epoch_start_at, f.epoch_start_at <= f.length)
    cursors = (s.logic.every(at >= 0, at <= f.length) for at in (f.last_observed, f.gauge_length))
    return s.logic.every(ordered, *cursors)


def node_inside(s: Parts, n: Any) -> Truth:
    """A node lies in the history together with the calls and receipts that opened and closed it."""
    span, length = s.node(n).span, s.frame.length
    opened = s.logic.every(span.opened_at >= 0, index.opening_carrier(span) + 1 < length)
    closed = s.logic.every(span.opened_at < span.closed_at, index.closing_carrier(span) + 1 < length)
    inside = s.logic.every(opened, implies(s.logic, span.closed, closed))
    return s.logic.every(index.anchored(span, length, s.logic), implies(s.logic, span.present, inside))


def frozen_inside(s: Parts, f: Any) -> Truth:
    """A frozen memory covers something, and nothing past the end of what is frozen."""
    memory = s.frozen_memory(f)
    inside = s.logic.every(memory.start >= 0, memory.start < memory.end, memory.end <= s.frame.frozen_end)
    return implies(s.logic, memory.present, inside)


def laminar(s: Parts, n: Any, m: Any) -> Truth:
    """Of two nodes the later opens later, and lies inside the earlier or past it."""
    earlier, later = s.node(n).span, s.node(m).span
    both = s.logic.every(n < m, earlier.present, later.present)
    overlap = s.logic.every(earlier.closed, earlier.closed_at >= later.opened_at)
    nested = s.logic.every(later.closed, later.closed_at < earlier.closed_at)
    order = earlier.opened_at < later.opened_at
    return implies(s.logic, both, order, implies(s.logic, overlap, nested))


def node_speaks(s: Parts, n: Any) -> Truth:
    """The memory of a closed node covers exactly its span."""
    node = s.node(n)
    start, end = index.spoken_for(node.span)
    closed = s.logic.every(node.span.present, node.span.closed)
    return implies(s.logic, closed, _tells(s, node.covers, start, end))


def state_speaks(s: Parts) -> Truth:
    """There is a state memory exactly where the epoch starts past the frozen part; it covers the gap."""
    f = s.frame
    tells = _tells(s, f.state, f.frozen_end, f.epoch_start_at)
    return s.logic.every(
        f.has_state == (f.frozen_end < f.epoch_start_at), implies(s.logic, f.has_state, tells)
    )


def frozen_speaks(s: Parts, f: Any) -> Truth:
    """A frozen memory covers exactly its interval."""
    memory = s.frozen_memory(f)
    return implies(s.logic, memory.present, _tells(s, memory.covers, memory.start, memory.end))


def frozen_ordered(s: Parts, f: Any, g: Any) -> Truth:
    """Of two frozen memories the later starts where the earlier has ended, or past it."""
    earlier, later = s.frozen_memory(f), s.frozen_memory(g)
    both = s.logic.every(f < g, earlier.present, later.present)
    return implies(s.logic, both, earlier.end <= later.start)


def frozen_tiles(s: Parts, i: Index) -> Truth:
    """Every index before the end of the frozen part is covered by a frozen memory."""
    before = s.logic.every(i >= 0, i < s.frame.frozen_end)
    return implies(s.logic, before, s.frozen_over(i))


def epoch_is_edge(s: Parts, n: Any) -> Truth:
    """The epoch starts at an edge of every closed node."""
    return s.logic.negate(index.parts(s.node(n).span, s.frame.epoch_start_at))


def epoch_keeps_calls(s: Parts) -> Truth:
    """The epoch does not start at a receipt."""
    f = s.frame
    return implies(s.logic, f.epoch_start_at < f.length, s.logic.negate(s.message(f.epoch_start_at).receipt))


def frozen_is_edge(s: Parts, n: Any, f: Any) -> Truth:
    """A frozen memory ends at an edge of every closed node."""
    memory = s.frozen_memory(f)
    return implies(s.logic, memory.present, s.logic.negate(index.parts(s.node(n).span, memory.end)))


def frozen_keeps_calls(s: Parts, f: Any) -> Truth:
    """A frozen memory does not end before a receipt."""
    memory = s.frozen_memory(f)
    inside = s.logic.every(memory.present, memory.end < s.frame.length)
    return implies(s.logic, inside, s.logic.negate(s.message(memory.end).receipt))


def paired(s: Parts, i: Index) -> Truth:
    """A carrier is followed by its receipt, a receipt follows its carrier, a summary comes first."""
    here, logic = s.message(i), s.logic
    inside = logic.every(i >= 0, i < s.frame.length)
    kinds = (here.prompt, here.carrier, here.receipt, here.summary)
    one = (logic.negate(logic.every(a, b)) for k, a in enumerate(kinds) for b in kinds[k + 1 :])
    answered = logic.every(
        i + 1 < s.frame.length, s.message(i + 1).receipt, logic.some(here.opens, here.closes)
    )
    asked = logic.every(i >= 1, s.message(i - 1).carrier)
    return implies(
        logic,
        inside,
        *one,
        implies(logic, here.carrier, answered),
        implies(logic, here.receipt, asked),
        implies(logic, here.summary, i == 0),
    )


def _is_pending(s: Parts, i: Index) -> Truth:
    return s.logic.every(s.frame.pending, i == s.frame.carrier)


def node_recorded(s: Parts, n: Any) -> Truth:
    """A node was opened by an accepted call, and closed by one if it is closed: none is pending."""
    span, logic = s.node(n).span, s.logic
    opening, closing = index.opening_carrier(span), index.closing_carrier(span)
    opened = logic.every(
        s.message(opening).carrier, s.message(opening).opens, logic.negate(_is_pending(s, opening))
    )
    closed = logic.every(
        s.message(closing).carrier, s.message(closing).closes, logic.negate(_is_pending(s, closing))
    )
    return implies(logic, span.present, opened, implies(logic, span.closed, closed))


def receipt_recorded(s: Parts, i: Index) -> Truth:
    """Every accepted call but the pending one has opened and closed the nodes that it asked for."""
    here, logic = s.message(i), s.logic
    inside = logic.every(i >= 0, i < s.frame.length)
    accepted = logic.every(inside, here.carrier, logic.negate(_is_pending(s, i)))
    return implies(
        logic,
        accepted,
        implies(logic, here.opens, s.opened_by(i)),
        implies(logic, here.closes, s.closed_by(i)),
    )


def pending_is_last(s: Parts) -> Truth:
    """A pending transition is the last call of the current epoch, unobserved, and can be committed."""
    f, logic = s.frame, s.logic
    call = s.message(f.carrier)
    return implies(
        logic,
        f.pending,
        f.enabled,
        f.carrier == f.length - 2,
        f.carrier >= f.epoch_start_at,
        f.carrier >= f.last_observed,
        call.carrier,
        call.opens == f.opens,
        call.closes == f.closes,
        implies(logic, f.closes, s.has_cursor),
    )


def partitioned(s: Parts, i: Index, n: Any, m: Any, f: Any, g: Any) -> Truth:
    """An index is spoken for once: by a frozen memory, the state memory, one outermost span, or itself.

    Spans are finitely many and nested or apart, so that an index in any closed span of the epoch has an
    outermost one: the widest. That there are not two is what is said here.
    """
    logic, frame = s.logic, s.frame
    by_frozen, by_other = (_over(s, s.frozen_memory(k).present, s.frozen_memory(k).covers, i) for k in (f, g))
    by_state = _over(s, frame.has_state, frame.state, i)
    by_span, by_second = _folds(s, n, i), _folds(s, m, i)
    alone = logic.negate(logic.some(by_state, by_span, logic.every(by_other, logic.negate(f == g))))
    outermost_both = logic.every(
        by_span, by_second, logic.negate(_inside(s, n, m)), logic.negate(_inside(s, m, n))
    )
    return implies(
        logic,
        logic.every(i >= 0, i < frame.length),
        implies(logic, i < frame.frozen_end, s.frozen_over(i), logic.negate(by_state), logic.negate(by_span)),
        implies(logic, by_frozen, alone, i < frame.frozen_end),
        implies(logic, logic.every(i >= frame.frozen_end, i < frame.epoch_start_at), by_state),
        implies(logic, by_state, logic.negate(by_span), i < frame.epoch_start_at),
        implies(logic, outermost_both, n == m),
    )


def _over(s: Parts, present: Truth, covers: Covers, i: Index) -> Truth:
    return s.logic.every(present, covers.intact, covers.start <= i, i < covers.end)


def _folds(s: Parts, n: Any, i: Index) -> Truth:
    """The memory of a closed node of the current epoch speaks for this index."""
    node = s.node(n)
    here = s.logic.every(index.in_epoch(node.span, s.frame.epoch_start_at), node.span.closed)
    return _over(s, here, node.covers, i)


def _inside(s: Parts, n: Any, m: Any) -> Truth:
    """The closed span of one node lies in that of another."""
    inner, outer = s.node(n).span, s.node(m).span
    around = s.logic.every(outer.opened_at <= inner.opened_at, inner.closed_at <= outer.closed_at)
    return s.logic.every(outer.present, outer.closed, s.logic.negate(n == m), around)


def _conjunct(holds: Callable[..., Truth], group: Group, over: str) -> Conjunct:
    return Conjunct(holds.__name__, group, over, (holds.__doc__ or "").split("\n")[0], holds)


INVARIANT: tuple[Conjunct, ...] = (
    _conjunct(boundaries, Group.IDX, ""),
    _conjunct(node_inside, Group.IDX, "n"),
    _conjunct(frozen_inside, Group.IDX, "f"),
    _conjunct(laminar, Group.LAMINAR, "nn"),
    _conjunct(node_speaks, Group.VIEW, "n"),
    _conjunct(state_speaks, Group.VIEW, ""),
    _conjunct(frozen_speaks, Group.VIEW, "f"),
    _conjunct(frozen_ordered, Group.VIEW, "ff"),
    _conjunct(frozen_tiles, Group.VIEW, "e"),
    _conjunct(epoch_is_edge, Group.VIEW, "n"),
    _conjunct(epoch_keeps_calls, Group.VIEW, ""),
    _conjunct(frozen_is_edge, Group.VIEW, "nf"),
    _conjunct(frozen_keeps_calls, Group.VIEW, "f"),
    _conjunct(paired, Group.SYNC, "i"),
    _conjunct(node_recorded, Group.SYNC, "n"),
    _conjunct(receipt_recorded, Group.SYNC, "e"),
    _conjunct(pending_is_last, Group.SYNC, ""),
)
"""The inductive invariant but for the gauge, whose equation is stated in `foldproof.proofs.gauge`."""

PARTITION = _conjunct(partitioned, Group.VIEW, "ennff")
"""What the conjuncts of VIEW and LAMINAR come to: a consequence, proved after every event."""
