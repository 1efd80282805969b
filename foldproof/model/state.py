"""The state of one session: history, tree, gauge, last_observed, pending, enabled.

Every part is an immutable named tuple, so a state can be a dictionary key and two states are equal
exactly when all their fields are. Indices count from 0 and point into ``State.history``; token
counts are whole tokens.

Source: the seed's kernel (``Msg``, ``Node``, ``Gauge``, ``State``), extended by the two classes of
memory (index and state) of recallable compaction.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias

MessageId: TypeAlias = int

GONE: MessageId = -1
"""What a canonical state writes for the id of a message that is no longer stored."""


class Role(StrEnum):
    """Who speaks, in the vocabulary of chat APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Origin(StrEnum):
    """Where a message comes from. Only a message of origin USER is a prompt that undo can target."""

    USER = "user"
    MODEL = "model"
    TOOL = "tool"
    INJECTION = "injection"
    SUMMARY = "summary"


class Kind(StrEnum):
    """What a transition does to the tree: open a node, close the cursor, or close and open."""

    OPEN = "open"
    CLOSE = "close"
    NEXT = "next"

    @property
    def opens(self) -> bool:
        return self is not Kind.CLOSE

    @property
    def closes(self) -> bool:
        return self is not Kind.OPEN


class Message(NamedTuple):
    """One stored message.

    ``call`` pairs a carrier with its receipt: on both it is the carrier's id. ``transition`` is set
    on carriers only.
    """

    id: MessageId
    role: Role
    origin: Origin
    tokens: int
    call: MessageId | None = None
    transition: Kind | None = None

    @property
    def is_prompt(self) -> bool:
        return self.origin is Origin.USER

    @property
    def is_carrier(self) -> bool:
        return self.transition is not None

    @property
    def is_receipt(self) -> bool:
        return self.role is Role.TOOL

    @property
    def is_summary(self) -> bool:
        return self.origin is Origin.SUMMARY

    @property
    def letter(self) -> str:
        """The message in the core alphabet: U prompt, R reply, C carrier, T receipt, S summary."""
        if self.is_summary:
            return "S"
        if self.is_carrier:
            return "C"
        return {Role.USER: "U", Role.ASSISTANT: "R", Role.TOOL: "T"}[self.role]


class Memory(NamedTuple):
    """A synthetic message that speaks for others: its size, and the ids it covers, in order."""

    tokens: int
    covers: tuple[MessageId, ...]


class Node(NamedTuple):
    """A span of the task tree, ``[opened_at, closed_at]`` inclusive; open while ``closed_at`` is None."""

    opened_at: int
    closed_at: int | None = None
    memory: Memory | None = None

    @property
    def is_open(self) -> bool:
        return self.closed_at is None


class Frozen(NamedTuple):
    """An index memory. It covers ``history[start:end]`` and is never rewritten."""

    start: int
    end: int
    memory: Memory


class Tree(NamedTuple):
    """What folds the history.

    ``frozen`` covers ``history[:frozen_end]``, ``state`` covers ``history[frozen_end:epoch_start_at]``.
    Nodes stand in the order of their opening. ``epoch_memory_at`` is for implementations that store
    the epoch's summary as a message of its own; the core never sets it.
    """

    nodes: tuple[Node, ...] = ()
    frozen: tuple[Frozen, ...] = ()
    frozen_end: int = 0
    state: Memory | None = None
    epoch_start_at: int = 0
    epoch_memory_at: int | None = None


class GaugeKind(StrEnum):
    """Whether the gauge's tokens were measured by a provider or estimated by us."""

    MEASURED = "measured"
    ESTIMATE = "estimate"


class Gauge(NamedTuple):
    """The token gauge: ``tokens`` is the size of the view of ``history[:length]``. Live only."""

    length: int = 0
    tokens: int = 0
    kind: GaugeKind = GaugeKind.ESTIMATE


class Pending(NamedTuple):
    """An accepted transition that no step has committed yet.

    ``cursor`` is the ``opened_at`` of the cursor when the call was accepted, or None: a record of
    what the model saw. A commit goes by the cursor of its own time.
    """

    transition: Kind
    carrier: MessageId
    cursor: int | None


class State(NamedTuple):
    """One session. ``next_id`` supplies fresh ids, so that no id ever names two messages."""

    history: tuple[Message, ...] = ()
    tree: Tree = Tree()
    gauge: Gauge = Gauge()
    last_observed: int = 0
    pending: Pending | None = None
    enabled: bool = True
    next_id: MessageId = 0

    @property
    def open_stack(self) -> tuple[int, ...]:
        """Positions in ``tree.nodes`` of the open nodes of the current epoch, in order of opening."""
        start = self.tree.epoch_start_at
        return tuple(
            position
            for position, node in enumerate(self.tree.nodes)
            if node.is_open and node.opened_at >= start
        )

    @property
    def cursor(self) -> int | None:
        """Position in ``tree.nodes`` of the innermost open node of the current epoch."""
        stack = self.open_stack
        return stack[-1] if stack else None

    def _repr_html_(self) -> str:
        """The state as a table, for a notebook."""
        from foldproof.model.labels import core_parts, history_label, view_label  # noqa: PLC0415 - see below
        from foldproof.model.markup import table  # noqa: PLC0415 - labels are of states, states need none

        parts = {"history": history_label(self), "view": view_label(self)} | core_parts(self)
        return table("A session's state", (), parts.items())


INITIAL = State()


def ids(messages: tuple[Message, ...]) -> tuple[MessageId, ...]:
    """The ids of messages, in order: the right-hand side of INV-VIEW."""
    return tuple(message.id for message in messages)
