"""The four invariants. Each is an equation (or a bound) with its name.

A check returns None where the invariant holds, and otherwise a `Violation`: the two sides and the
first place where they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from foldproof.model.fold import est, flatten, trigger, view
from foldproof.model.machine import Violation
from foldproof.model.receipts import Transition, accepted_transitions, recorded_transitions
from foldproof.model.state import State, ids


class Invariant(StrEnum):
    """The names of the invariants, as traces and the command line spell them."""

    IDX = "IDX"
    CAL = "CAL"
    VIEW = "VIEW"
    SYNC = "SYNC"


Check: TypeAlias = Callable[[State], Violation | None]


class Anchor(NamedTuple):
    """An index into the history, and whether it may equal the history's length."""

    name: str
    value: int
    inclusive: bool

    def holds(self, length: int) -> bool:
        return self.value <= length if self.inclusive else self.value < length


def anchors(s: State) -> Iterator[Anchor]:
    """Every index that a state keeps into its history, with the bound that INV-IDX sets it."""
    for position, node in enumerate(s.tree.nodes):
        yield Anchor(f"nodes[{position}].opened_at", node.opened_at, inclusive=False)
        if node.closed_at is not None:
            yield Anchor(f"nodes[{position}].closed_at", node.closed_at, inclusive=False)
    yield Anchor("epoch_start_at", s.tree.epoch_start_at, inclusive=True)
    yield Anchor("last_observed", s.last_observed, inclusive=True)
    yield Anchor("gauge.length", s.gauge.length, inclusive=True)
    if s.tree.epoch_memory_at is not None:
        yield Anchor("epoch_memory_at", s.tree.epoch_memory_at, inclusive=False)


def first_out_of_bounds(candidates: Iterable[Anchor], length: int) -> Violation | None:
    """The first anchor that does not lie in a history of this length, as a violation of INV-IDX."""
    for anchor in candidates:
        if not anchor.holds(length):
            return Violation(
                Invariant.IDX,
                f"{anchor.name} {'<=' if anchor.inclusive else '<'} len(history)",
                f"{anchor.name} = {anchor.value}",
                f"len(history) = {length}",
                anchor.name,
            )
    return None


def inv_idx(s: State) -> Violation | None:
    """INV-IDX: every index lies in the history, both ends of a node strictly so."""
    return first_out_of_bounds(anchors(s), len(s.history))


def inv_cal(s: State) -> Violation | None:
    """INV-CAL: ``trigger(s) == est(view(s))``, what the session acts on is what the model is sent."""
    left, right = trigger(s), est(view(s))
    if left == right:
        return None
    return Violation(
        Invariant.CAL,
        "trigger(s) == est(view(s))",
        f"trigger = {left}",
        f"est(view) = {right}",
        f"the gauge, which says {s.gauge.tokens} for the first {s.gauge.length}",
    )


def inv_view(s: State) -> Violation | None:
    """INV-VIEW: ``flatten(view(s)) == ids(history)``, each live message is accounted for exactly once."""
    return _equal(Invariant.VIEW, "flatten(view(s)) == ids(history)", flatten(view(s)), ids(s.history))


def inv_sync(s: State) -> Violation | None:
    """INV-SYNC: the accepted receipts of the current epoch are the transitions that the tree records."""
    since = s.tree.epoch_start_at
    return transitions_equal(recorded_transitions(s.tree, since), accepted_transitions(s, since))


def transitions_equal(recorded: Sequence[Transition], accepted: Sequence[Transition]) -> Violation | None:
    """INV-SYNC's equation, between what the tree records and what the receipts say."""
    return _equal(
        Invariant.SYNC,
        "recorded transitions == accepted receipts",
        [f"{t.kind}@{t.position}" for t in recorded],
        [f"{t.kind}@{t.position}" for t in accepted],
    )


INVARIANTS: dict[str, Check] = {
    Invariant.IDX: inv_idx,
    Invariant.CAL: inv_cal,
    Invariant.VIEW: inv_view,
    Invariant.SYNC: inv_sync,
}


def violations(s: State) -> list[Violation]:
    """All violations of a state, in the order of `Invariant`."""
    found = (check(s) for check in INVARIANTS.values())
    return [violation for violation in found if violation is not None]


def _equal(
    invariant: Invariant, equation: str, left: Sequence[object], right: Sequence[object]
) -> Violation | None:
    if tuple(left) == tuple(right):
        return None
    missing = object()
    place, here, there = next(
        (i, a, b) for i, (a, b) in enumerate(zip_longest(left, right, fillvalue=missing)) if a != b
    )
    shown = ["nothing" if side is missing else str(side) for side in (here, there)]
    return Violation(
        invariant,
        equation,
        f"[{', '.join(map(str, left))}]",
        f"[{', '.join(map(str, right))}]",
        f"place {place}: {shown[0]} against {shown[1]}",
    )
