"""Lanes: what the page draws of one state, whichever machine or implementation it comes from.

A lane is a row of stored messages, the spans over it, and the items of the view below it. It says what
is where; how it looks is the page's affair.
"""

from __future__ import annotations

from typing import Any

from foldproof.model.fold import Item, view
from foldproof.model.memories import MemoriesState
from foldproof.model.passes_state import Checkpoint, PassState
from foldproof.model.state import Memory, Message, State

Lane = dict[str, Any]

WORDS = {"U": "prompt", "R": "reply", "T": "receipt", "S": "summary", "C": "call"}
"""What a letter of the core alphabet stands for, in one word."""


def session_of(state: Any) -> State | None:
    """The core session in a state: the state itself, or the one that it holds."""
    if isinstance(state, State):
        return state
    return next((part for part in state if isinstance(part, State)), None)


def lane(state: Any) -> Lane | None:
    """The lane of a state; None for machines that abstract from messages."""
    session = session_of(state)
    if session is not None:
        return _session_lane(session)
    if isinstance(state, PassState):
        return _pass_lane(state)
    if isinstance(state, MemoriesState):
        return _memories_lane(state)
    return None


def _session_lane(s: State) -> Lane:
    cursor = s.cursor
    start = s.tree.epoch_start_at
    kinds = ["index" for _ in s.tree.frozen] + ["state" for _ in (s.tree.state,) if s.tree.state is not None]
    items: list[dict[str, Any]] = []
    for number, item in enumerate(view(s)):
        kind = kinds[number] if s.enabled and number < len(kinds) else "span"
        items.append(_item(item, kind))
    return {
        "messages": [_message(m) for m in s.history],
        "items": items,
        "spans": [
            {
                "open": node.opened_at,
                "close": node.closed_at,
                "cursor": position == cursor,
                "past": 0 <= node.opened_at < start,
            }
            for position, node in enumerate(s.tree.nodes)
        ],
        "epoch": start,
        "observed": s.last_observed,
        "measured": s.gauge.length,
        "pending": None if s.pending is None else s.pending.carrier,
        "enabled": s.enabled,
    }


def _message(message: Message) -> dict[str, Any]:
    word = message.transition or WORDS[message.letter]
    return {"id": message.id, "letter": message.letter, "word": str(word), "tokens": message.tokens}


def _item(item: Item, kind: str) -> dict[str, Any]:
    if isinstance(item, Memory):
        return {"covers": list(item.covers), "tokens": item.tokens, "kind": kind}
    return {"id": item.id, "tokens": item.tokens}


def _pass_lane(state: PassState) -> Lane:
    """The history and the surface, where checkpoints stand for what they shadow."""
    items: list[dict[str, Any]] = []
    for item in state.surface:
        if isinstance(item, Checkpoint):
            items.append({"covers": _reach(item), "tokens": item.tokens, "kind": str(item.kind)})
        else:
            items.append({"id": item.id, "tokens": item.tokens})
    return {"messages": [_message(m) for m in state.history], "items": items, "spans": []}


def _reach(checkpoint: Checkpoint) -> list[int]:
    """Every message that a checkpoint shadows, however deep, in order."""
    reached: list[int] = []
    for item in checkpoint.covers:
        reached += _reach(item) if isinstance(item, Checkpoint) else [item.id]
    return reached


def _memories_lane(state: MemoriesState) -> Lane:
    """The history with the spans over it; this machine has no view of its own."""
    spans = [
        {
            "open": span.opened_at,
            "close": span.closed_at,
            "cursor": position == state.cursor,
            "past": False,
        }
        for position, span in enumerate(state.spans)
    ]
    return {"messages": [_message(m) for m in state.history], "items": None, "spans": spans}
