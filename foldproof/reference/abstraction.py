"""The abstraction function: what a session is in the kernel's terms.

What a memory covers is not computed from indices but read off the checkpoints, down to the messages
that `history_read` would show: so a state that is equal to the model's says that recall is complete, too.
"""

from __future__ import annotations

from foldproof.model import state as kernel
from foldproof.model.fold import Item as KernelItem
from foldproof.model.state import Frozen, GaugeKind, Kind, Memory, Message, Node, Origin, Role, State, Tree
from foldproof.reference.pairing import owners
from foldproof.reference.spine import Spine
from foldproof.reference.state import SessionState
from foldproof.reference.surface import Item, ItemClass


def alpha(session: SessionState) -> State:
    """The kernel's state of a session. Ids are seqs; compare canonical states."""
    pending = session.pending
    return State(
        history=tuple(_messages(session)),
        tree=_tree(session, session.spine),
        gauge=kernel.Gauge(session.gauge.length, session.gauge.tokens, GaugeKind(session.gauge.kind)),
        last_observed=session.last_observed,
        pending=None
        if pending is None
        else kernel.Pending(Kind(pending.transition.kind), pending.carrier, pending.cursor),
        enabled=session.fold_enabled,
        next_id=session.last_seq + 1,
    )


def alpha_view(session: SessionState) -> tuple[KernelItem, ...]:
    """The view, item by item: stored messages, and memories with what they cover."""
    stored = {message.id: message for message in _messages(session)}
    return tuple(
        stored[item.seq] if item.kind in (ItemClass.MESSAGE, ItemClass.BASIC) else _memory(session, item)
        for item in session.view()
    )


def _messages(session: SessionState) -> list[Message]:
    history = session.history
    answered = owners(item.message for item in history)
    return [
        _message(item, kernel.GONE if owner is None else history[owner].seq)
        for item, owner in zip(history, answered, strict=True)
    ]


def _message(item: Item, answers: int) -> Message:
    if item.kind is ItemClass.BASIC:
        return Message(item.seq, Role.USER, Origin.SUMMARY, item.tokens)
    match item.message.role:
        case "user":
            return Message(item.seq, Role.USER, Origin.USER, item.tokens)
        case "tool":
            return Message(item.seq, Role.TOOL, Origin.TOOL, item.tokens, answers)
        case _:
            transition = None if item.transition is None else Kind(item.transition.kind)
            call = item.seq if item.message.calls else None
            return Message(item.seq, Role.ASSISTANT, Origin.MODEL, item.tokens, call, transition)


def _tree(session: SessionState, spine: Spine) -> Tree:
    frozen, start = [], 0
    for stub in spine.frozen:
        frozen.append(Frozen(start, start + stub.covers, _memory(session, stub)))
        start += stub.covers
    return Tree(
        nodes=tuple(
            Node(
                task.opened_at,
                task.closed_at,
                None if task.memory is None else _memory(session, task.memory),
            )
            for task in spine.tasks
        ),
        frozen=tuple(frozen),
        frozen_end=spine.frozen_end,
        state=None if spine.state is None else _memory(session, spine.state),
        epoch_start_at=spine.epoch_start,
    )


def _memory(session: SessionState, item: Item) -> Memory:
    return Memory(item.tokens, tuple(_shadowed(session, item)))


def _shadowed(session: SessionState, item: Item) -> list[int]:
    """The seqs of the messages that a checkpoint speaks for, through the checkpoints that it replaced."""
    covered: list[int] = []
    waiting = [item]
    while waiting:
        next_item = waiting.pop()
        if next_item.kind in (ItemClass.MESSAGE, ItemClass.BASIC):
            covered.append(next_item.seq)
        else:
            checkpoint = session.checkpoints[next_item.checkpoint or 0]
            waiting += [session.items[seq] for seq in reversed(checkpoint.shadowed)]
    return covered
