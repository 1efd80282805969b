"""The state of the budget machine: a session reduced to its sizes, and what decides on compaction.

The history is three counts of messages: archived (earlier epochs, behind the state memory), folded
(the current epoch, behind a closed span's memory) and shown. A message costs `MESSAGE`, a memory
`MEMORY`, every request `OVERHEAD` tokens more. The last fields are history variables: nothing decides by
them, they only let an invariant speak of what was decided, and when.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from foldproof.model.alphabet import Alphabet, NamedEvent
from foldproof.model.fold import CORE_COSTS
from foldproof.model.machine import Clauses
from foldproof.model.state import Gauge

MESSAGE, MEMORY, OVERHEAD = CORE_COSTS.message, CORE_COSTS.memory, 1
RATIO = (4, 5)
"""The part of the window at which a compaction is due."""
MAX_ATTEMPTS = 1
"""Compactions that one turn may start because a provider called its request too large."""


class Window(StrEnum):
    """The context window of the session's model."""

    SMALL = "small"
    LARGE = "large"

    @property
    def tokens(self) -> int:
        return 5 if self is Window.SMALL else 8

    @property
    def limit(self) -> int:
        """The threshold: 4 tokens of the small window, 6 of the large one."""
        return self.tokens * RATIO[0] // RATIO[1]


class Clause(StrEnum):
    """What keeps compaction within the budget, and the budget honest."""

    B1_VIEW = "B1_view"
    B2_REJECTED = "B2_rejected"
    B3_INPUT = "B3_input"
    B4_FUTILE = "B4_futile"
    B5_TURN = "B5_turn"
    B6_REPLACED = "B6_replaced"
    B7_UP = "B7_up"
    B7_DOWN = "B7_down"
    B8_RESUME = "B8_resume"
    B9_ATTEMPTS = "B9_attempts"
    B10_SINGLE = "B10_single"
    B11_GAUGE = "B11_gauge"
    B11_HISTORY = "B11_history"
    B11_TAIL = "B11_tail"
    B12_REENTRY = "B12_reentry"

    @property
    def says(self) -> str:
        """The rule, in one sentence."""
        return _SAYS[self]


_SAYS = {
    Clause.B1_VIEW: "the threshold is compared with the size of the view, not of the stored history",
    Clause.B2_REJECTED: "a provider's 413 is judged by the size of the view, not of the stored history",
    Clause.B3_INPUT: "a summary is written from the current epoch and the previous memory only",
    Clause.B4_FUTILE: "a compaction whose result still reaches the threshold pauses further ones",
    Clause.B5_TURN: "the pause outlasts the turn",
    Clause.B6_REPLACED: "replacing the history (undo, clear) ends the pause",
    Clause.B7_UP: "a larger window ends the pause",
    Clause.B7_DOWN: "a smaller window ends the pause",
    Clause.B8_RESUME: "the pause is restored on a resume",
    Clause.B9_ATTEMPTS: "one turn compacts a limited number of times for a provider's 413",
    Clause.B10_SINGLE: "one compaction at a time",
    Clause.B11_GAUGE: "sizes are published again when the gauge changes",
    Clause.B11_HISTORY: "sizes are published again when the history changes",
    Clause.B11_TAIL: "the published size includes the messages after the gauge",
    Clause.B12_REENTRY: "an estimate of the size never asks for the size",
}

FAULTS: dict[str, Clauses] = {
    "P5": frozenset({Clause.B3_INPUT}),
    "P6": frozenset({Clause.B2_REJECTED}),
    "P7": frozenset({Clause.B4_FUTILE}),
    "P10": frozenset({Clause.B3_INPUT}),
    "P12": frozenset({Clause.B11_GAUGE, Clause.B11_HISTORY, Clause.B11_TAIL}),
    "v0.2.1-F2": frozenset({Clause.B7_UP}),
    "v0.2.0-reentry": frozenset({Clause.B12_REENTRY}),
}


class Sizes(NamedTuple):
    """What a status line shows: the size of the view, and of the stored history, in tokens."""

    projected: int = 0
    raw: int = 0


class Decision(NamedTuple):
    """What was decided, with what was true then: ``size`` and ``limit`` in tokens, both of the request.

    ``overflow``: a rejection was taken for an overflow (None before a step); ``paused``: a compaction
    whose result reached the threshold still stands; ``busy``: one was in flight; ``given`` and ``needed``:
    the summarizer's input, and the current epoch with its previous memory, in tokens.
    """

    starts: bool
    overflow: bool | None
    size: int
    limit: int
    paused: bool
    busy: bool
    given: int
    needed: int


class BudgetState(NamedTuple):
    """One session's budget. ``gauge`` is None until something was measured or rebased."""

    archived: int = 0
    folded: int = 0
    shown: int = 0
    remembered: bool = False
    gauge: Gauge | None = None
    window: Window = Window.SMALL
    futile: bool = False
    floor: int | None = None
    attempts: int = 0
    in_flight: int = 0
    published: Sizes = Sizes()
    useless: bool = False
    decision: Decision | None = None
    depth: int = 0

    @property
    def stored(self) -> int:
        """Messages in the history."""
        return self.archived + self.folded + self.shown

    @property
    def raw(self) -> int:
        """``est(history)``, in tokens."""
        return MESSAGE * self.stored

    @property
    def view(self) -> int:
        """``est(view)``, in tokens."""
        return MEMORY * (self.remembered + (self.folded > 0)) + MESSAGE * self.shown

    @property
    def epoch(self) -> int:
        """The messages of the current epoch and the previous epoch's memory, in tokens."""
        return MESSAGE * (self.folded + self.shown) + MEMORY * self.remembered


@dataclass(frozen=True, slots=True)
class AppendUser(NamedEvent):
    """The user sends a prompt: a turn begins."""


@dataclass(frozen=True, slots=True)
class BeforeStep(NamedEvent):
    """Before a request: a compaction starts, or it does not."""


@dataclass(frozen=True, slots=True)
class AfterStep(NamedEvent):
    """The reply is stored, and the provider's usage measures all before it."""


@dataclass(frozen=True, slots=True)
class Rejected(NamedEvent):
    """The provider answers 413: an overflow, or not."""


@dataclass(frozen=True, slots=True)
class Measure(NamedEvent):
    """The view is measured."""


@dataclass(frozen=True, slots=True)
class Fold(NamedEvent):
    """A span closes over all the messages shown."""


@dataclass(frozen=True, slots=True)
class Land(NamedEvent):
    """The compaction lands and keeps the last ``kept`` messages verbatim."""

    kept: int


@dataclass(frozen=True, slots=True)
class Fail(NamedEvent):
    """The compaction fails or is cancelled."""


@dataclass(frozen=True, slots=True)
class SwitchModel(NamedEvent):
    """The session goes on with a model of the other window."""


@dataclass(frozen=True, slots=True)
class Undo(NamedEvent):
    """The last ``count`` messages are taken back; the boundary of what is folded is a hard one."""

    count: int


@dataclass(frozen=True, slots=True)
class Clear(NamedEvent):
    """The session is emptied."""


@dataclass(frozen=True, slots=True)
class Restore(NamedEvent):
    """A crash and a resume: the gauge and the compaction in flight are lost; the log has the rest."""


Event: TypeAlias = (
    AppendUser
    | BeforeStep
    | AfterStep
    | Rejected
    | Measure
    | Fold
    | Land
    | Fail
    | SwitchModel
    | Undo
    | Clear
    | Restore
)

ALPHABET: Alphabet[Event] = Alphabet(
    AppendUser,
    BeforeStep,
    AfterStep,
    Rejected,
    Measure,
    Fold,
    Land,
    Fail,
    SwitchModel,
    Undo,
    Clear,
    Restore,
)
