"""Accepted receipts against recorded transitions: the two sides of INV-SYNC.

A transition is written ``(position, kind)``: ``kind`` is OPEN or CLOSE, ``position`` the index of the
carrier that asked for it. ``next`` counts as a close and an open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from foldproof.model import index
from foldproof.model.state import Kind, Message, State, Tree
from foldproof.model.tree import span_of


class Transition(NamedTuple):
    """One change of the tree, placed at the carrier that asked for it."""

    position: int
    kind: Kind


class Receipt(NamedTuple):
    """An accepted call: the carrier's index, the carrier, and what it asks for."""

    position: int
    carrier: Message
    kind: Kind

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """What a commit of this receipt records."""
        close = (Transition(self.position, Kind.CLOSE),) if self.kind.closes else ()
        return close + ((Transition(self.position, Kind.OPEN),) if self.kind.opens else ())


def accepted_receipts(s: State, start: int) -> Iterator[Receipt]:
    """The accepted calls whose carrier lies at or after ``start``, oldest first."""
    for position in range(start, len(s.history) - 1):
        carrier, receipt = s.history[position : position + 2]
        if carrier.transition is not None and receipt.is_receipt and receipt.call == carrier.id:
            yield Receipt(position, carrier, carrier.transition)


def accepted_transitions(s: State, since: int) -> list[Transition]:
    """What the receipts stored from index ``since`` on say was accepted, the pending one left out."""
    pending = None if s.pending is None else s.pending.carrier
    return sorted(
        transition
        for receipt in accepted_receipts(s, since)
        if receipt.carrier.id != pending
        for transition in receipt.transitions
    )


def recorded_transitions(tree: Tree, since: int) -> list[Transition]:
    """The transitions that the tree records at or after index ``since``."""
    recorded: list[Transition] = []
    for node in tree.nodes:
        span = span_of(node)
        if index.records_open(span, since):
            recorded.append(Transition(index.opening_carrier(span), Kind.OPEN))
        if index.records_close(span, since):
            recorded.append(Transition(index.closing_carrier(span), Kind.CLOSE))
    return sorted(recorded)
