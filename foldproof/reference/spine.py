"""The spine: the tree of tasks over the history, and the boundaries of what passes have folded.

It says what is shown in place of what. All anchors are indices into the history, and every rule that
moves one is `foldproof.model.index`: the arithmetic that the model runs, and that the proofs quantify over.

Source: the kernel's ``Tree``, ``view``, truncation, ``CommitIndex``, ``CommitState`` and ``ApplyCompaction``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from foldproof.model import index
from foldproof.reference.surface import Item, ItemClass, Transition

TransitionKind = Literal["open", "close", "next"]
OPENS: frozenset[str] = frozenset({"open", "next"})
CLOSES: frozenset[str] = frozenset({"close", "next"})

Repair = Callable[[index.Span, int], index.Span]


@dataclass(frozen=True, slots=True)
class Task:
    """One task: the span ``[opened_at, closed_at]`` of the history, both inclusive; open without an end.

    ``memory`` is the item that is shown in place of a closed task's span.
    """

    opened_at: int
    closed_at: int | None = None
    memory: Item | None = None

    @property
    def span(self) -> index.Span:
        return index.Span(True, self.opened_at, self.closed_at is not None, self.closed_at or 0)

    def after(self, span: index.Span) -> Task | None:
        """The task once its span was moved: gone, or with other ends."""
        if not span.present:
            return None
        closed = bool(span.closed)
        return replace(
            self,
            opened_at=span.opened_at,
            closed_at=span.closed_at if closed else None,
            memory=self.memory if closed else None,
        )


class Pending(NamedTuple):
    """An accepted transition that no step has committed yet; ``carrier`` is the seq of its message.

    ``cursor`` is where the innermost open task opened when the call was accepted: a record only.
    """

    transition: Transition
    carrier: int
    cursor: int | None


@dataclass(slots=True)
class Spine:
    """Tasks in order of their opening, and the two boundaries that passes have moved.

    The frozen stubs cover ``history[:frozen_end]``, the state covers ``history[frozen_end:epoch_start]``.
    Tasks that opened before ``epoch_start`` are a record only: nothing closes them.
    """

    tasks: list[Task] = field(default_factory=list)
    frozen: list[Item] = field(default_factory=list)
    frozen_end: int = 0
    state: Item | None = None
    epoch_start: int = 0

    @property
    def cursor(self) -> int | None:
        """Position in ``tasks`` of the innermost open task of the current epoch."""
        for position in range(len(self.tasks) - 1, -1, -1):
            task = self.tasks[position]
            if task.opened_at < self.epoch_start:
                return None
            if task.closed_at is None:
                return position
        return None

    def open(self, carrier: int) -> None:
        """A task opens at the carrier's index."""
        self.tasks.append(Task(index.carrier_opens_at(carrier)))

    def close(self, carrier: int, memory: Item) -> None:
        """The cursor's task closes before the carrier; ``memory`` is shown for it from now on."""
        cursor = self.cursor
        if cursor is not None:
            closed_at = index.carrier_closes_at(carrier)
            self.tasks[cursor] = replace(self.tasks[cursor], closed_at=closed_at, memory=memory)

    def records(self, carrier: int, kind: str) -> bool:
        """Whether the tree has what the accepted call at this index asked for."""
        spans = [task.span for task in self.tasks]
        opened = kind not in OPENS or any(index.opening_carrier(span) == carrier for span in spans)
        closed = kind not in CLOSES or any(
            bool(span.closed) and index.closing_carrier(span) == carrier for span in spans
        )
        return opened and closed

    def truncate(self, cut: int, repair: Repair = index.rolled_back) -> list[Item]:
        """Roll every task back to a history of length ``cut``; returns the memories that are gone.

        ``cut`` does not lie before the epoch, so the stubs and the state stay.
        """
        return self._change(lambda span: repair(span, cut))

    def touched_by(self, cut: int) -> bool:
        """Whether a truncation to ``cut`` takes a carrier of some task."""
        return any(
            task.opened_at >= cut or (task.closed_at is not None and index.closing_carrier(task.span) >= cut)
            for task in reversed(self.tasks)
        )

    def freeze(self, end: int, stub: Item) -> None:
        """A stub covers ``history[frozen_end:end]`` from now on; a state that lay in it went with it."""
        self.frozen.append(stub)
        self.frozen_end = self.epoch_start = end
        self.state = None

    def remember(self, end: int, state: Item) -> None:
        """The state covers ``history[frozen_end:end]`` from now on."""
        self.epoch_start, self.state = end, state

    def replace_prefix(self, end: int, *, repair: bool = True) -> None:
        """``history[:end]`` was replaced by one message: all that folded it goes, the tasks move."""
        if repair:
            self._change(lambda span: index.translated(span, end))
            self.frozen, self.state = [], None
            self.frozen_end = self.epoch_start = 0

    def _change(self, change: Callable[[index.Span], index.Span]) -> list[Item]:
        gone: list[Item] = []
        kept: list[Task] = []
        for task in self.tasks:
            moved = task.after(change(task.span))
            if moved is not None:
                kept.append(moved)
            if task.memory is not None and (moved is None or moved.memory is None):
                gone.append(task.memory)
        self.tasks = kept
        return gone

    # --- what is shown ---------------------------------------------------------------------------

    def shown(self, history: Sequence[Item]) -> Iterator[Item]:
        """The surface: stubs, state, and the current epoch with its outermost closed tasks folded."""
        yield from self.frozen
        if self.state is not None:
            yield self.state
        yield from self.folded(history, self.epoch_start, len(history))

    def folded(self, history: Sequence[Item], start: int, end: int) -> Iterator[Item]:
        """``history[start:end]`` with each outermost task that closed inside replaced by its memory."""
        place = start
        for first, last, memory in self._outermost(start, end):
            yield from history[place:first]
            yield memory
            place = last + 1
        yield from history[place:end]

    def parted(self, start: int = 0) -> Iterator[range]:
        """Where a boundary would part a closed task, or part it from the carrier that closed it."""
        place = start
        for task in self.tasks:
            closed_at = task.closed_at
            if closed_at is not None and closed_at >= place:
                yield range(max(place, task.opened_at + 1), index.closing_carrier(task.span) + 1)
                place = closed_at + 1

    def _outermost(self, start: int, end: int) -> Iterator[tuple[int, int, Item]]:
        place = start
        # Tasks stand in order of opening, and of two that nest the outer one opens first.
        for task in self.tasks[self._first_from(start) :]:
            if task.closed_at is None or task.memory is None or task.closed_at >= end:
                continue
            if task.opened_at >= place:
                yield task.opened_at, task.closed_at, task.memory
                place = task.closed_at + 1

    def _first_from(self, start: int) -> int:
        low, high = 0, len(self.tasks)
        while low < high:
            middle = (low + high) // 2
            if self.tasks[middle].opened_at < start:
                low = middle + 1
            else:
                high = middle
        return low


def covers(items: Sequence[Item]) -> int:
    """How many messages of the history these items stand for."""
    return sum(item.covers for item in items)


def is_content(item: Item) -> bool:
    """Something that a pass can summarise: a message, or the memory of a closed task."""
    return item.kind in (ItemClass.MESSAGE, ItemClass.TASK)
