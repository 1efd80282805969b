"""The parts of a state, interned: each distinct history, node vector, … gets a small number.

Parts are stored as the model's own tuples, whatever they hold: dead ids, voided nodes, dangling or
negative indices. A row key packs the numbers of a skeleton's parts, and the *error* of its gauge, into
one exact 64-bit integer.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from foldproof.explore.bulk_histories import Classes, Messages
from foldproof.explore.bulk_low import TOP, BulkError, gauge_of_slot, gauge_slot
from foldproof.model.fold import est, trigger, view
from foldproof.model.state import Gauge, Node, Pending, State, Tree

PartT = TypeVar("PartT", bound=Hashable)

Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint32]


class TooLargeError(BulkError):
    """The search outgrew the encoding."""


class Field(NamedTuple):
    """One field of a row key."""

    name: str
    bits: int
    shift: int


def _fields(**bits: int) -> dict[str, Field]:
    shift, fields = 0, {}
    for name, width in reversed(bits.items()):
        fields[name] = Field(name, width, shift)
        shift += width
    assert shift <= 63, "a row key is a non-negative 64-bit integer"
    return {name: fields[name] for name in bits}


KEY = _fields(history=18, nodes=13, borders=14, pending=9, enabled=1, error=8)
"""How a row key is packed, from the high bits down. No hashing: two rows never share a key.

At L=9 the design needs 14, 8, 11 and 7 bits of the first four; a search that outgrows a field stops
with `TooLargeError`."""

ERROR_ZERO = 1 << (KEY["error"].bits - 1)
"""The key's error field holds ``trigger(s) - est(view(s))`` plus this."""


def unpack(keys: Ints, name: str) -> Ints:
    """One field of every key."""
    field = KEY[name]
    return (keys >> field.shift) & ((1 << field.bits) - 1)


def check_room(name: str, largest: int) -> None:
    """Raise when a number does not fit its field."""
    field = KEY[name]
    if not 0 <= largest < 1 << field.bits:
        raise TooLargeError(
            f"the search has more distinct values of {name!r} than the {field.bits} bits of its key field "
            f"hold; lower the bound, or widen foldproof.explore.bulk_parts.KEY to two words"
        )


class Interner(Generic[PartT]):
    """Numbers for distinct parts, in order of first sight."""

    def __init__(self, field: str | None = None) -> None:
        self._number: dict[PartT, int] = {}
        self._field = field
        self.parts: list[PartT] = []

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, number: int) -> PartT:
        return self.parts[number]

    def since(self, number: int) -> list[PartT]:
        """The parts from a number on."""
        return self.parts[number:]

    def number(self, part: PartT) -> int:
        known = self._number.get(part)
        if known is None:
            known = len(self.parts)
            if self._field is not None:
                check_room(self._field, known)
            self._number[part] = known
            self.parts.append(part)
        return known


class Histories:
    """Numbers for distinct histories, which are kept as strings of classes."""

    def __init__(self, classes: Classes, field: str | None = None) -> None:
        self.classes = classes
        self._codes: Interner[bytes] = Interner(field)

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, number: int) -> Messages:
        return self.classes.decode(self._codes[number])

    @property
    def codes(self) -> list[bytes]:
        return self._codes.parts

    def since(self, number: int) -> list[Messages]:
        """The histories from a number on."""
        return [self.classes.decode(code) for code in self.codes[number:]]

    def number(self, messages: Messages) -> int:
        return self._codes.number(self.classes.encode(messages))

    def number_of(self, code: bytes) -> int:
        return self._codes.number(code)


Borders: TypeAlias = tuple[Any, ...]
"""A tree without its nodes: frozen, frozen_end, state, epoch_start_at, epoch_memory_at."""


def borders_of(tree: Tree) -> Borders:
    """Everything of a tree but its nodes."""
    return tuple(tree)[1:]


class Address(NamedTuple):
    """Where a state is stored: its row, and its bit in the row."""

    key: int
    observed: int
    slot: int


class Parts:
    """The interners of one family of searches, and the way between states and addresses."""

    def __init__(self) -> None:
        self.classes = Classes()
        self.histories = Histories(self.classes, "history")
        self.nodes: Interner[tuple[Node, ...]] = Interner("nodes")
        self.borders: Interner[Borders] = Interner("borders")
        self.pendings: Interner[Pending | None] = Interner("pending")
        self.pendings.number(None)

    def tree(self, nodes: int, borders: int) -> Tree:
        return Tree(self.nodes[nodes], *self.borders[borders])

    def skeleton(self, key: int) -> State:
        """The skeleton of a row, as a state with the initial low part."""
        fields = {name: (key >> field.shift) & ((1 << field.bits) - 1) for name, field in KEY.items()}
        history = self.histories[fields["history"]]
        return State(
            history,
            self.tree(fields["nodes"], fields["borders"]),
            pending=self.pendings[fields["pending"]],
            enabled=bool(fields["enabled"]),
            next_id=len(history),
        )

    def decode(self, address: Address) -> State:
        """The state at an address. Its tokens are what ``est(view)`` and the row's error demand."""
        skeleton = self.skeleton(address.key)
        error = (address.key & ((1 << KEY["error"].bits) - 1)) - ERROR_ZERO
        length, kind = gauge_of_slot(address.slot)
        tokens = est(view(skeleton)) + error - est(skeleton.history[length:])
        return skeleton._replace(gauge=Gauge(length, tokens, kind), last_observed=address.observed)

    def address(self, s: State) -> Address:
        """Where a canonical state is stored. Raises `TooLargeError` when an index or error does not fit."""
        error = trigger(s) - est(view(s)) + ERROR_ZERO
        check_room("error", error)
        if not (0 <= s.gauge.length <= TOP and 0 <= s.last_observed <= TOP):
            raise TooLargeError(f"a live index lies outside 0..{TOP}: {s.gauge}, {s.last_observed}")
        numbers = {
            "history": self.histories.number(s.history),
            "nodes": self.nodes.number(s.tree.nodes),
            "borders": self.borders.number(borders_of(s.tree)),
            "pending": self.pendings.number(s.pending),
            "enabled": int(s.enabled),
            "error": error,
        }
        key = sum(number << KEY[name].shift for name, number in numbers.items())
        return Address(key, s.last_observed, gauge_slot(s.gauge.length, s.gauge.kind))
