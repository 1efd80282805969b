"""The state of the pass machine: history, surface, and a recallable compaction pass in micro-steps.

A checkpoint holds the items that it shadows, messages and superseded checkpoints alike. So how deep a
message lies is how many reads it takes from a visible footer to the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias, Union

from foldproof.model.alphabet import Alphabet, NamedEvent
from foldproof.model.fold import CORE_COSTS
from foldproof.model.machine import Clauses
from foldproof.model.state import Message, MessageId

STUB_TOKENS = STATE_TOKENS = CORE_COSTS.memory
INFLATED_TOKENS = 3
"""A state whose summary came out longer than the message that it stands for."""
PROVIDER_OVERHEAD = 2
"""What a provider counts for a request beyond the estimate of its messages."""


class Clause(StrEnum):
    """What makes a pass recallable, and safe against crashes."""

    R1_EDGES = "R1_edges"
    R2_FROZEN = "R2_frozen"
    R3_FOLD = "R3_fold"
    R4_TWO_HOPS = "R4_two_hops"
    R5_ADOPT = "R5_adopt"
    R6_OWN = "R6_own"
    R7_BUFFERED = "R7_buffered"
    R8_METRIC = "R8_metric"
    R9_DEFER = "R9_defer"
    R10_LEFT = "R10_left"
    R11_LAST = "R11_last"
    R12_FOOTER = "R12_footer"
    R13_RESUME = "R13_resume"
    R14_BASE = "R14_base"
    R15_STALED = "R15_staled"
    R16_CANCEL = "R16_cancel"
    R17_BOUNDARY = "R17_boundary"

    @property
    def says(self) -> str:
        """The rule, in one sentence."""
        return _SAYS[self]


_SAYS = {
    Clause.R1_EDGES: "boundaries snap to edges: a call stays with its result",
    Clause.R2_FROZEN: "selection begins after the last stub: no stub is ever compacted again",
    Clause.R3_FOLD: "a superseded state folds into the first chunk as ordinary history",
    Clause.R4_TWO_HOPS: "a superseded state never folds into the trailing slice",
    Clause.R5_ADOPT: "a legacy head checkpoint is adopted as the state",
    Clause.R6_OWN: "an answer belongs to the pass that asked",
    Clause.R7_BUFFERED: "nothing commits before all summaries exist and the guard has passed",
    Clause.R8_METRIC: "the guard compares both sides by one metric",
    Clause.R9_DEFER: "after the guard refused, a pass waits for more stale history",
    Clause.R10_LEFT: "chunks commit from left to right",
    Clause.R11_LAST: "the state commits after every chunk",
    Clause.R12_FOOTER: "footers are composed by code, never written by the model",
    Clause.R13_RESUME: "a resumed pass commits unconditionally",
    Clause.R14_BASE: "the merge base is the latest state in the log, not the one on the surface",
    Clause.R15_STALED: "a resumed state is written from all that the torn pass made stale",
    Clause.R16_CANCEL: "an undo into the range, or a clear, cancels the pass",
    Clause.R17_BOUNDARY: "the retain boundary of a pass that commits or is torn is undo's hard boundary",
}

FAULTS: dict[str, Clauses] = {
    "tombstone-skipped": frozenset({Clause.R3_FOLD}),
    "two-metrics": frozenset({Clause.R8_METRIC}),
    "resume-guards-again": frozenset({Clause.R13_RESUME}),
    "right-to-left": frozenset({Clause.R10_LEFT}),
    "state-before-stubs": frozenset({Clause.R11_LAST}),
    "model-written-pointers": frozenset({Clause.R12_FOOTER}),
    "stubs-consolidated": frozenset({Clause.R2_FROZEN}),
    "model-chosen-boundaries": frozenset({Clause.R1_EDGES}),
    "outputs-mixed-up": frozenset({Clause.R6_OWN}),
}
"""The seed's rejected alternatives that are safety faults."""


class Class(StrEnum):
    """A checkpoint is frozen (an index stub), mutable (the state), or another compactor's."""

    STUB = "stub"
    STATE = "state"
    LEGACY = "legacy"


class Checkpoint(NamedTuple):
    """What stands on the surface for the items that it shadows.

    ``told``: the messages that its text was written from; ``footer``: the first and the last message
    that it points to; ``tokens``: its size.
    """

    kind: Class
    covers: tuple[Item, ...]
    told: tuple[MessageId, ...]
    footer: tuple[MessageId, MessageId]
    tokens: int

    @property
    def label(self) -> str:
        """For people: ``stub(U#0 state(U#1) R#2)``."""
        shown = (f"{i.letter}#{i.id}" if isinstance(i, Message) else i.label for i in self.covers)
        return f"{self.kind}({' '.join(shown)})"

    @property
    def is_state(self) -> bool:
        """State-class: at most one, superseded by the next pass. A legacy head is adopted as such."""
        return self.kind is not Class.STUB


Item: TypeAlias = Union[Message, Checkpoint]  # noqa: UP007 - refers to itself, so it must be a call


class Answer(NamedTuple):
    """A summarise call's result; a pointer stub tells nothing."""

    told: tuple[MessageId, ...]
    tokens: int


class Region(NamedTuple):
    """A slice of the surface that becomes one checkpoint."""

    kind: Class
    items: tuple[Item, ...]
    answer: Answer | None = None
    committed: bool = False

    @property
    def label(self) -> str:
        """For people: what it will shadow, and how far it is."""
        planned = Checkpoint(self.kind, self.items, (), (0, 0), 0).label
        return (
            f"{planned} {'committed' if self.committed else 'asked' if self.answer is None else 'answered'}"
        )


class Phase(StrEnum):
    """Where a pass stands. TORN: it crashed while it committed, and has to be resumed."""

    IDLE = "idle"
    SUMMARISING = "summarising"
    COMMITTING = "committing"
    TORN = "torn"


class PassState(NamedTuple):
    """One session with its pass.

    ``head``: stubs on the surface when the pass was planned; ``boundary``: the length of the history up to
    the retain boundary; ``base``, ``staled``: what the new state merges; ``logged``: what the log's latest
    state tells; ``refused``: the boundary at which the guard last refused; ``late``: an unanswered call of
    a pass that has ended, by region. ``frozen`` (all stubs ever committed) and ``shrinks`` (what the guard
    should have said) are history variables.
    """

    history: tuple[Message, ...] = ()
    surface: tuple[Item, ...] = ()
    phase: Phase = Phase.IDLE
    regions: tuple[Region, ...] = ()
    head: int = 0
    boundary: int = 0
    resumed: bool = False
    base: tuple[MessageId, ...] = ()
    staled: tuple[MessageId, ...] = ()
    logged: tuple[MessageId, ...] = ()
    refused: int = 0
    late: tuple[int, tuple[MessageId, ...]] | None = None
    frozen: tuple[Checkpoint, ...] = ()
    shrinks: bool = True
    next_id: MessageId = 0

    @property
    def hidden(self) -> int:
        """How many messages the surface's checkpoints shadow."""
        return len(self.history) - sum(isinstance(item, Message) for item in self.surface)

    @property
    def checkpoints(self) -> int:
        """How many checkpoints the surface shows; the messages that it shows come after them."""
        return sum(isinstance(item, Checkpoint) for item in self.surface)

    @property
    def answered(self) -> bool:
        return all(region.answer is not None for region in self.regions)

    @property
    def has_committed(self) -> bool:
        return any(region.committed for region in self.regions)


def flatten(items: Iterable[Item]) -> Iterator[MessageId]:
    """The ids of the messages that items show or shadow, in order."""
    for item in items:
        if isinstance(item, Message):
            yield item.id
        else:
            yield from flatten(item.covers)


def direct(items: Iterable[Item]) -> tuple[MessageId, ...]:
    """The ids of the messages among items: a superseded state among them is left out of a stub's text."""
    return tuple(item.id for item in items if isinstance(item, Message))


def est(items: Iterable[Item]) -> int:
    """The estimate: the sum of the items' tokens."""
    return sum(item.tokens for item in items)


def units(items: tuple[Item, ...], design: Clauses) -> list[tuple[Item, ...]]:
    """The messages among items from edge to edge: a call and its result are one."""
    found: list[tuple[Item, ...]] = []
    for item in items:
        if isinstance(item, Message) and item.is_receipt and found and Clause.R1_EDGES in design:
            found[-1] = (*found[-1], item)
        else:
            found.append((item,))
    return found


@dataclass(frozen=True, slots=True)
class AppendUser(NamedEvent):
    """The user sends a prompt."""


@dataclass(frozen=True, slots=True)
class AppendCall(NamedEvent):
    """The model calls a tool, and the result is stored."""


@dataclass(frozen=True, slots=True)
class Undo(NamedEvent):
    """The prompt at index ``cut`` and everything after it is taken back; what is shadowed is out of reach."""

    cut: int


@dataclass(frozen=True, slots=True)
class Clear(NamedEvent):
    """The session is emptied."""


@dataclass(frozen=True, slots=True)
class LegacyHead(NamedEvent):
    """Another compactor leaves a head checkpoint over the first ``k`` messages."""

    k: int


@dataclass(frozen=True, slots=True)
class Begin(NamedEvent):
    """A pass selects ``count`` units after the stubs and plans: chunks, then the trailing slice."""

    count: int


@dataclass(frozen=True, slots=True)
class StubDone(NamedEvent):
    """The stub call of region ``i`` succeeds."""

    i: int


@dataclass(frozen=True, slots=True)
class StubFails(NamedEvent):
    """The stub call of region ``i`` fails: its slice gets a pointer stub."""

    i: int


@dataclass(frozen=True, slots=True)
class StateDone(NamedEvent):
    """The state call succeeds."""


@dataclass(frozen=True, slots=True)
class StateInflates(NamedEvent):
    """The state call succeeds with a text that is too long."""


@dataclass(frozen=True, slots=True)
class StateFails(NamedEvent):
    """The state call fails, or the pass is cancelled: nothing commits."""


@dataclass(frozen=True, slots=True)
class LateAnswer(NamedEvent):
    """A call of a pass that has ended is answered."""


@dataclass(frozen=True, slots=True)
class Guard(NamedEvent):
    """All summaries exist: the pass goes on to commit, or it is refused."""


@dataclass(frozen=True, slots=True)
class Commit(NamedEvent):
    """The next region commits."""


@dataclass(frozen=True, slots=True)
class Crash(NamedEvent):
    """The process dies in the middle of a pass; the log remains."""


@dataclass(frozen=True, slots=True)
class Resume(NamedEvent):
    """Before the next step, a torn pass goes on with the regions that remain."""


Event: TypeAlias = (
    AppendUser
    | AppendCall
    | Undo
    | Clear
    | LegacyHead
    | Begin
    | StubDone
    | StubFails
    | StateDone
    | StateInflates
    | StateFails
    | LateAnswer
    | Guard
    | Commit
    | Crash
    | Resume
)

ALPHABET: Alphabet[Event] = Alphabet(
    AppendUser,
    AppendCall,
    Undo,
    Clear,
    LegacyHead,
    Begin,
    StubDone,
    StubFails,
    StateDone,
    StateInflates,
    StateFails,
    LateAnswer,
    Guard,
    Commit,
    Crash,
    Resume,
)
