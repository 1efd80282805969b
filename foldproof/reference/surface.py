"""The surface: the ordered items that the model will be sent, messages and checkpoints.

It is a pure function of the log. Items are only ever appended to the list in place; whatever shortens
or replaces makes a new list. So a snapshot of the surface is a reference and a length: taking one
after an append costs the same however long the session is, and it never changes afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, overload

from foldproof.reference.messages import ChatMessage


class ItemClass(StrEnum):
    """What an item is: a stored message, or which kind of checkpoint (a task's is its memory)."""

    MESSAGE = "message"
    INDEX = "index"
    STATE = "state"
    BASIC = "basic"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class Transition:
    """What an accepted call asks of the task tree; ``memory`` is the text that a close leaves behind."""

    kind: Literal["open", "close", "next"]
    memory: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One item. ``seq`` is the event that put it on the surface.

    ``checkpoint`` is the seq of its summary, if it is a checkpoint; ``tokens`` is the session's estimate
    of what it costs in a request. ``covers`` counts the messages of the history that it stands for.
    ``transition`` is set on the message that carries an accepted call of the task tree.
    """

    seq: int
    message: ChatMessage
    tokens: int
    kind: ItemClass = ItemClass.MESSAGE
    checkpoint: int | None = None
    covers: int = 1
    transition: Transition | None = None

    @property
    def is_prompt(self) -> bool:
        """A message of the user: the start of a turn."""
        return self.kind is ItemClass.MESSAGE and self.message.role == "user"


class SurfaceView(Sequence[Item]):
    """An immutable snapshot, in constant time."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[Item], length: int) -> None:
        self._items, self._length = items, length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self._items[n] for n in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._items[index % self._length]

    def __iter__(self) -> Iterator[Item]:
        for number in range(self._length):
            yield self._items[number]

    def messages(self) -> list[ChatMessage]:
        """The request's messages, in order."""
        return [item.message for item in self]


class Surface:
    """The live surface with its running size."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items: list[Item] = list(items)
        self.tokens = sum(item.tokens for item in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def view(self) -> SurfaceView:
        return SurfaceView(self._items, len(self._items))

    def append(self, item: Item) -> None:
        self._items.append(item)
        self.tokens += item.tokens

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` items."""
        self.tokens -= sum(item.tokens for item in self._items[length:])
        self._items = self._items[:length]

    def replace(self, start: int, end: int, item: Item) -> None:
        """Put ``item`` in place of the items at positions ``start`` to ``end``, ``end`` excluded."""
        self.tokens += item.tokens - sum(old.tokens for old in self._items[start:end])
        self._items = [*self._items[:start], item, *self._items[end:]]

    def position(self, seq: int) -> int | None:
        """Position of the item that event ``seq`` put here, none if it is not here (any more)."""
        # From the end: what is asked for is nearly always young. Replacements break the order of seqs.
        for number in range(len(self._items) - 1, -1, -1):
            if self._items[number].seq == seq:
                return number
        return None
