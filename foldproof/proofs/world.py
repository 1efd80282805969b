"""A state without bounds: any length, any nodes, any memories, as uninterpreted functions of Z3.

`Unbounded` is the state before an event: what a key or an index maps to is arbitrary. `Moved` is the
state after it, computed part by part by the transition relation. Where an invariant says that some
part exists, the state before has a function that names it, and the state after names its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import z3

from foldproof.model import index
from foldproof.model.index import Index, Span, Truth
from foldproof.proofs.facts import Covers, Frame, FrozenFacts, MessageFacts, Move, NodeFacts
from foldproof.proofs.invariant import Parts
from foldproof.proofs.logic import TERMS, Reasoning, implies, pick
from foldproof.proofs.slip import Slip
from foldproof.proofs.transition import COMMITTING, Effect


def integer(name: str) -> Any:
    """An arbitrary integer of this name."""
    return z3.Int(name)


def boolean(name: str) -> Any:
    """An arbitrary truth of this name."""
    return z3.Bool(name)


def _integers(name: str) -> Any:
    return z3.Function(name, z3.IntSort(), z3.IntSort())


def _truths(name: str) -> Any:
    return z3.Function(name, z3.IntSort(), z3.BoolSort())


def arbitrary_frame(prefix: str = "") -> Frame:
    """A frame of which nothing is known."""
    state = Covers(
        integer(f"{prefix}state_start"),
        integer(f"{prefix}state_end"),
        boolean(f"{prefix}state_intact"),
        integer(f"{prefix}state_tokens"),
    )
    return Frame(
        length=integer(f"{prefix}length"),
        frozen_end=integer(f"{prefix}frozen_end"),
        epoch_start_at=integer(f"{prefix}epoch_start_at"),
        has_state=boolean(f"{prefix}has_state"),
        state=state,
        last_observed=integer(f"{prefix}last_observed"),
        gauge_length=integer(f"{prefix}gauge_length"),
        enabled=boolean(f"{prefix}enabled"),
        pending=boolean(f"{prefix}pending"),
        carrier=integer(f"{prefix}pending_carrier"),
        opens=boolean(f"{prefix}pending_opens"),
        closes=boolean(f"{prefix}pending_closes"),
    )


def arbitrary_span(prefix: str = "") -> Span:
    """A node's indices, of which nothing is known."""
    return Span(
        boolean(f"{prefix}present"),
        integer(f"{prefix}opened_at"),
        boolean(f"{prefix}closed"),
        integer(f"{prefix}closed_at"),
    )


def arbitrary_move(name: str, prefix: str = "") -> Move:
    """An event of this name with arbitrary parameters and costs."""
    return Move(
        name,
        integer(f"{prefix}at"),
        boolean(f"{prefix}call_opens"),
        boolean(f"{prefix}call_closes"),
        integer(f"{prefix}tokens"),
        integer(f"{prefix}receipt_tokens"),
        integer(f"{prefix}memory_tokens"),
    )


class Unbounded:
    """The state before: arbitrary."""

    logic: Reasoning = TERMS

    def __init__(self) -> None:
        self.frame = arbitrary_frame()
        self.has_cursor: Truth = boolean("has_cursor")
        self.cursor: Any = integer("cursor")
        self.opener, self.closer = _integers("opener_of"), _integers("closer_of")
        self.freezer = _integers("frozen_memory_over")
        self._message = [_truths(f"is_{kind}") for kind in ("prompt", "carrier", "receipt", "summary")]
        self._message += [_truths("carrier_opens"), _truths("carrier_closes"), _integers("message_tokens")]
        self._span = [_truths("node_present"), _integers("node_opened_at")]
        self._span += [_truths("node_closed"), _integers("node_closed_at")]
        self._frozen = [_truths("frozen_present"), _integers("frozen_start"), _integers("frozen_end_of")]
        self._covers = {owner: _covers_of(owner) for owner in ("node", "frozen")}

    def message(self, i: Index) -> MessageFacts:
        return MessageFacts(*(part(i) for part in self._message))

    def node(self, key: Any) -> NodeFacts:
        span = Span(*(part(key) for part in self._span))
        return NodeFacts(span, Covers(*(part(key) for part in self._covers["node"])))

    def frozen_memory(self, key: Any) -> FrozenFacts:
        covers = Covers(*(part(key) for part in self._covers["frozen"]))
        present, start, end = (part(key) for part in self._frozen)
        return FrozenFacts(present, start, end, covers)

    def opened_by(self, i: Index) -> Truth:
        return _opened(self, self.opener(i), i)

    def closed_by(self, i: Index) -> Truth:
        return _closed(self, self.closer(i), i)

    def frozen_over(self, i: Index) -> Truth:
        return _frozen_over(self, self.freezer(i), i)

    def is_open_here(self, key: Any) -> Truth:
        """The node with this key is on the open stack of the current epoch."""
        span = self.node(key).span
        here = index.in_epoch(span, self.frame.epoch_start_at)
        return self.logic.every(here, self.logic.negate(span.closed))

    def cursor_is_last(self, keys: list[Any]) -> list[Truth]:
        """The cursor is the last node of the open stack; without one the stack is empty."""
        facts = [implies(self.logic, self.has_cursor, self.is_open_here(self.cursor))]
        for key in keys:
            before = self.logic.every(self.has_cursor, key <= self.cursor)
            facts.append(implies(self.logic, self.is_open_here(key), before))
        return facts


@dataclass(frozen=True)
class Moved:
    """The state after an event. ``tree_changed`` decides whether an undo rebases the gauge."""

    before: Unbounded
    effect: Effect
    tree_changed: Truth
    slip: Slip | None
    new_node_key: Any
    new_frozen_key: Any

    @property
    def logic(self) -> Reasoning:
        return TERMS

    @property
    def rebases(self) -> Truth:
        return self.effect.rebases(self.tree_changed)

    @property
    def frame(self) -> Frame:
        frame = self.effect.frame()
        measured = TERMS.choose(self.rebases, frame.length, frame.gauge_length)
        if self.slip is Slip.GAUGE_TOO_LONG:
            measured = measured + 1
        if self.slip is Slip.EPOCH_TOO_FAR:
            frame = frame._replace(epoch_start_at=frame.length + 1)
        return frame._replace(gauge_length=measured)

    @property
    def has_cursor(self) -> Truth:
        """The cursor of the state before is still open: it is the witness that one exists."""
        span = self.node(self.before.cursor).span
        here = index.in_epoch(span, self.frame.epoch_start_at)
        return TERMS.every(here, TERMS.negate(span.closed))

    def message(self, i: Index) -> MessageFacts:
        return self.effect.message(i, self.before.message)

    def node(self, key: Any) -> NodeFacts:
        is_cursor = TERMS.every(self.before.has_cursor, key == self.before.cursor)
        old = self.effect.node(self.before.node(key), is_cursor)
        node = pick(TERMS, key == self.new_node_key, self.effect.new_node(), old)
        if self.slip is Slip.SPAN_TOO_LONG:
            node = node._replace(span=node.span._replace(closed_at=node.span.closed_at + 1))
        return node

    def frozen_memory(self, key: Any) -> FrozenFacts:
        old = self.effect.frozen(self.before.frozen_memory(key))
        return pick(TERMS, key == self.new_frozen_key, self.effect.new_frozen(), old)

    def place_before(self, i: Index) -> Index:
        """Where the message at this index stood before the event."""
        if self.effect.move.name == "ApplyCompaction":
            return i - index.translate(0, self.effect.move.at)
        return i

    def opened_by(self, i: Index) -> Truth:
        new = self.effect.new_node().span
        ours = TERMS.every(new.present, i == index.opening_carrier(new))
        return _opened(
            self, TERMS.choose(ours, self.new_node_key, self.before.opener(self.place_before(i))), i
        )

    def closed_by(self, i: Index) -> Truth:
        f = self.effect.before
        commits = self.effect.commits if self.effect.move.name in COMMITTING else TERMS.truth(False)
        ours = TERMS.every(commits, f.closes, i == f.carrier)
        return _closed(
            self, TERMS.choose(ours, self.before.cursor, self.before.closer(self.place_before(i))), i
        )

    def frozen_over(self, i: Index) -> Truth:
        new = self.effect.new_frozen()
        ours = TERMS.every(new.present, i >= new.start)
        return _frozen_over(self, TERMS.choose(ours, self.new_frozen_key, self.before.freezer(i)), i)


def _covers_of(owner: str) -> list[Any]:
    return [
        _integers(f"{owner}_covers_start"),
        _integers(f"{owner}_covers_end"),
        _truths(f"{owner}_covers_intact"),
        _integers(f"{owner}_covers_tokens"),
    ]


def _opened(s: Parts, key: Any, i: Index) -> Truth:
    span = s.node(key).span
    return TERMS.every(span.present, index.opening_carrier(span) == i)


def _closed(s: Parts, key: Any, i: Index) -> Truth:
    span = s.node(key).span
    return TERMS.every(span.present, span.closed, index.closing_carrier(span) == i)


def _frozen_over(s: Parts, key: Any, i: Index) -> Truth:
    memory = s.frozen_memory(key)
    return TERMS.every(memory.present, memory.start <= i, i < memory.end)
