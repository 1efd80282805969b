"""States, and parts of them, as short texts in the core's alphabet: ``U#0 C#1(open) [#2 #3]``."""

from __future__ import annotations

from typing import Any

from foldproof.model.fold import Item, est, trigger, view
from foldproof.model.state import Frozen, Memory, Message, Node, State

NOTHING = "(empty)"


def core_parts(s: State) -> dict[str, str]:
    """The parts of a core state other than history and view, each as one short text."""
    tree, gauge, pending = s.tree, s.gauge, s.pending
    return {
        "nodes": " ".join(map(node_label, tree.nodes)) or "none",
        "index memories": " ".join(map(frozen_label, tree.frozen)) or "none",
        "state memory": "none" if tree.state is None else memory_label(tree.state),
        "epoch starts at": str(tree.epoch_start_at),
        "pending": "none" if pending is None else f"{pending.transition} by #{pending.carrier}",
        "last observed": str(s.last_observed),
        "gauge": f"{gauge.tokens} for {gauge.length} ({gauge.kind})",
        "trigger": f"{trigger(s)} against a view of {est(view(s))}",
        "fold": "on" if s.enabled else "off",
    }


def history_label(s: State) -> str:
    """The history as letters and ids: ``U#0 C#1(open) T#2``."""
    return " ".join(map(message_label, s.history)) or NOTHING


def view_label(s: State) -> str:
    """The view in the same letters, memories in brackets with the ids that they cover."""
    return " ".join(map(item_label, view(s))) or NOTHING


def item_label(item: Item) -> str:
    """One item of a view."""
    return memory_label(item) if isinstance(item, Memory) else message_label(item)


def message_label(message: Message) -> str:
    """A stored message: its letter in the core alphabet, its id, and a carrier's transition."""
    kind = f"({message.transition})" if message.transition is not None else ""
    return f"{message.letter}#{message.id}{kind}"


def memory_label(memory: Memory) -> str:
    """A memory by the ids that it covers: ``[#1 #2]``."""
    return f"[{' '.join(f'#{i}' for i in memory.covers)}]"


def node_label(node: Node) -> str:
    """A node by its span: ``3..7`` closed, ``3..`` open, ``void`` voided by a clamping repair."""
    if node.opened_at < 0:
        return "void"
    return f"{node.opened_at}..{'' if node.closed_at is None else node.closed_at}"


def frozen_label(frozen: Frozen) -> str:
    """An index memory by its boundaries and the ids that it covers."""
    return f"{frozen.start}..{frozen.end - 1}{memory_label(frozen.memory)}"


def part_label(value: Any) -> str:
    """Any part of a state in one line: by its own ``label``, or field by field."""
    if isinstance(value, Message):
        return message_label(value)
    if hasattr(value, "label"):
        return str(value.label)
    if hasattr(value, "_asdict"):
        return "{" + ", ".join(f"{name} {part_label(part)}" for name, part in value._asdict().items()) + "}"
    if isinstance(value, tuple):
        return "[" + " ".join(map(part_label, value)) + "]"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
