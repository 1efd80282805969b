"""The seed's invariants to the letter, told apart from the stronger ones that the kernel checks.

The seed writes INV-IDX without the gauge and without ``epoch_memory_at``; gives INV-VIEW a formula
that is weaker than its own comment; and states INV-SYNC over the whole session, not the epoch. Its
INV-CAL is the kernel's.
"""

from __future__ import annotations

from foldproof.model.fold import view
from foldproof.model.invariants import (
    Check,
    Invariant,
    anchors,
    first_out_of_bounds,
    inv_cal,
    transitions_equal,
)
from foldproof.model.machine import Violation
from foldproof.model.receipts import accepted_transitions, recorded_transitions
from foldproof.model.state import Message, State, ids

_NOT_IN_THE_SEED = frozenset({"gauge.length", "epoch_memory_at"})


def seed_idx(s: State) -> Violation | None:
    """INV-IDX in the seed: nodes, epoch_start_at and last_observed lie in the history."""
    chosen = (anchor for anchor in anchors(s) if anchor.name not in _NOT_IN_THE_SEED)
    return first_out_of_bounds(chosen, len(s.history))


def seed_view(s: State) -> Violation | None:
    """INV-VIEW in the seed: every stored message that the view shows is a message of the history.

    A fold takes what it shows from the history, so this cannot fail for any fold of ours: it says
    nothing of what memories cover, nor of what is hidden. The kernel's equation says both.
    """
    shown = tuple(item.id for item in view(s) if isinstance(item, Message))
    stored = ids(s.history)
    strange = [i for i in shown if i not in stored]
    if not strange:
        return None
    return Violation(
        Invariant.VIEW, "shown messages are stored", str(shown), str(stored), f"#{strange[0]} is not stored"
    )


def seed_sync(s: State) -> Violation | None:
    """INV-SYNC in the seed: all accepted receipts are exactly the committed transitions, in any epoch."""
    return transitions_equal(recorded_transitions(s.tree, since=0), accepted_transitions(s, since=0))


SEED_INVARIANTS: dict[str, Check] = {
    Invariant.IDX: seed_idx,
    Invariant.CAL: inv_cal,
    Invariant.VIEW: seed_view,
    Invariant.SYNC: seed_sync,
}
