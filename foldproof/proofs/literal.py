"""The four invariants to the letter, of a state in slots: of integers, or of terms.

Where `foldproof.proofs.invariant` states what is inductive, this states what the kernel states, for
whole states, with the view walked as `foldproof.model.fold` walks it. A test holds the two equal on every
state within a bound, broken ones too.
"""

from __future__ import annotations

from typing import NamedTuple

from foldproof.model import index
from foldproof.model.index import Index, Truth
from foldproof.model.machine import Clauses
from foldproof.proofs.facts import Covers, Move
from foldproof.proofs.invariant import Group
from foldproof.proofs.logic import Reasoning, implies
from foldproof.proofs.slots import Slots, after


class View(NamedTuple):
    """What a view costs, and whether it speaks for every stored message once, in order."""

    tokens: Index
    whole: Truth


class _Walk:
    """A walk along the history: the place reached, what it cost, and the next id that is due."""

    def __init__(self, s: Slots) -> None:
        self.s, self.logic = s, s.logic
        self.tokens: Index = 0
        self.due: Index = 0
        self.whole: Truth = s.logic.truth(True)

    def memory(self, shown: Truth, covers: Covers) -> None:
        """Show a memory, if it is shown."""
        fits = self.logic.every(covers.intact, covers.start == self.due)
        self.whole = self.logic.every(self.whole, implies(self.logic, shown, fits))
        self.due = self.logic.choose(shown, covers.end, self.due)
        self.tokens = self.tokens + self.logic.choose(shown, covers.tokens, 0)

    def stored(self, shown: Truth, start: Index, end: Index) -> None:
        """Show the stored messages from ``start`` up to ``end``, if they are shown."""
        some = self.logic.every(shown, start < end)
        self.whole = self.logic.every(self.whole, implies(self.logic, some, start == self.due))
        self.due = self.logic.choose(some, end, self.due)
        self.tokens = self.tokens + self.logic.choose(shown, stored_tokens(self.s, start, end), 0)


def stored_tokens(s: Slots, start: Index, end: Index) -> Index:
    """``est(history[start:end])``."""
    total: Index = 0
    for i, message in enumerate(s.messages):
        counted = s.logic.every(start <= i, i < end, i < s.frame.length)
        total = total + s.logic.choose(counted, message.tokens, 0)
    return total


def view(s: Slots) -> View:
    """The view of a state, of a broken one too; nodes stand in the order of their opening."""
    logic, f = s.logic, s.frame
    walk = _Walk(s)
    for memory in s.frozen:
        walk.memory(memory.present, memory.covers)
    walk.memory(f.has_state, f.state)
    place = f.epoch_start_at
    for node in s.nodes:
        span = node.span
        folded = logic.every(index.in_epoch(span, f.epoch_start_at), span.closed, span.opened_at < f.length)
        inside = logic.every(span.opened_at < place, span.closed_at < place)
        shown = logic.every(folded, logic.negate(inside))
        walk.stored(shown, place, span.opened_at)
        walk.memory(shown, node.covers)
        past = logic.every(shown, span.closed_at >= place)
        place = logic.choose(past, index.closing_carrier(span), place)
    walk.stored(logic.truth(True), place, f.length)
    folded_view = View(walk.tokens, logic.every(walk.whole, walk.due == f.length))
    raw = stored_tokens(s, 0, f.length)
    return View(
        logic.choose(f.enabled, folded_view.tokens, raw),
        logic.some(logic.negate(f.enabled), folded_view.whole),
    )


def inv_idx(s: Slots) -> Truth:
    """INV-IDX."""
    f = s.frame
    cursors = (at <= f.length for at in (f.epoch_start_at, f.last_observed, f.gauge_length))
    nodes = (index.anchored(node.span, f.length, s.logic) for node in s.nodes)
    return s.logic.every(*cursors, *nodes)


def inv_cal(s: Slots) -> Truth:
    """INV-CAL."""
    return s.gauge + stored_tokens(s, s.frame.gauge_length, s.frame.length) == view(s).tokens


def inv_view(s: Slots) -> Truth:
    """INV-VIEW."""
    return view(s).whole


def inv_sync(s: Slots) -> Truth:
    """INV-SYNC: at every index as many opens and closes recorded as accepted, and none elsewhere."""
    logic, f = s.logic, s.frame
    opened = [(index.records_open(n.span, f.epoch_start_at), index.opening_carrier(n.span)) for n in s.nodes]
    closed = [(index.records_close(n.span, f.epoch_start_at), index.closing_carrier(n.span)) for n in s.nodes]
    facts = [implies(logic, there, at >= 0, at < f.length) for there, at in (*opened, *closed)]
    for i in range(len(s.messages) - 1):
        here = s.messages[i]
        pending = logic.every(f.pending, f.carrier == i)
        answered = logic.every(here.carrier, s.messages[i + 1].receipt, logic.negate(pending))
        accepted = logic.every(i >= f.epoch_start_at, i + 1 < f.length, answered)
        for asked, recorded in ((here.opens, opened), (here.closes, closed)):
            facts.append(_count(logic, recorded, i) == _one(logic, logic.every(accepted, asked)))
    last = len(s.messages) - 1
    facts.extend(logic.negate(logic.every(there, at == last)) for there, at in (*opened, *closed))
    return logic.every(*facts)


def _count(logic: Reasoning, recorded: list[tuple[Truth, Index]], i: int) -> Index:
    total: Index = 0
    for there, at in recorded:
        total = total + _one(logic, logic.every(there, at == i))
    return total


def _one(logic: Reasoning, truth: Truth) -> Index:
    return logic.choose(truth, 1, 0)


LITERAL = {Group.IDX: inv_idx, Group.CAL: inv_cal, Group.VIEW: inv_view, Group.SYNC: inv_sync}


def holds(s: Slots) -> Truth:
    """All four invariants."""
    return s.logic.every(*(invariant(s) for invariant in LITERAL.values()))


def stepped(s: Slots, move: Move, design: Clauses) -> Slots:
    """The whole state after an event, the gauge included."""
    moved, rebases, from_raw = after(s, move, design)
    length = moved.frame.length
    estimate = stored_tokens(moved, 0, length) if from_raw else view(moved).tokens
    if move.name == "Clear":
        estimate = 0
    gauge = s.logic.choose(rebases, estimate, s.gauge)
    return Slots(s.logic, moved.frame, gauge, moved.messages, moved.nodes, moved.frozen)
