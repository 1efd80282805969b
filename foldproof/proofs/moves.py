"""Events of the model as moves at index level."""

from __future__ import annotations

from foldproof.model.events import ApplyCompaction, Call, CommitIndex, CommitState, Event, Undo
from foldproof.model.fold import CORE_COSTS
from foldproof.model.index import Index
from foldproof.proofs.facts import Move


def move_of(event: Event) -> Move:
    """An event of the model, with the costs of the core profile."""
    at: Index = 0
    opens = closes = False
    tokens = CORE_COSTS.message
    match event:
        case Undo(cut):
            at = cut
        case CommitState(k) | CommitIndex(k):
            at = k
        case ApplyCompaction(k):
            at, tokens = k, CORE_COSTS.summary
        case Call(transition):
            opens, closes = transition.opens, transition.closes
        case _:
            pass
    return Move(type(event).__name__, at, opens, closes, tokens, CORE_COSTS.message, CORE_COSTS.memory)
