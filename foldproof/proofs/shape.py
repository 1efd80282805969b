"""The pass machine seen by its shape: LAYOUT and FROZEN hold for histories and passes of any length.

The model's surface is a tuple, so here it is counted: stubs, what stands between them and the messages, and
the messages shown. `shape_of` counts a state of the machine, `move_of` an event; `effect` is the same step
on counts, held equal to the model's by a test over every reachable transition within a bound. It is
written with plain numbers and executed symbolically (`foldproof.proofs.paths`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from foldproof.model.machine import Clauses
from foldproof.model.passes_state import Checkpoint, Class, Clause, Event, Item, PassState, Phase, direct
from foldproof.model.state import Message
from foldproof.proofs import induction
from foldproof.proofs.induction import Steps, condition, negation, number

NOTHING, STATE, LEGACY = range(3)
"""What stands between the stubs and the messages."""

IDLE, SUMMARISING, COMMITTING, TORN = range(4)
PHASES = {Phase.IDLE: IDLE, Phase.SUMMARISING: SUMMARISING, Phase.COMMITTING: COMMITTING, Phase.TORN: TORN}
MIDDLES = {Class.STATE: STATE, Class.LEGACY: LEGACY}

KINDS = (
    "Append",
    "Undo",
    "Clear",
    "LegacyHead",
    "Begin",
    "Answer",
    "Refuse",
    "Pass",
    "CommitChunk",
    "CommitState",
    "Break",
    "Resume",
)
"""What an event does to the shape. Refuse: the guard refuses; Break: a crash, or a failed state call."""


class Shape(NamedTuple):
    """``ordered``: the surface is stubs, then the middle, then messages.

    ``chunks`` are the regions that wait to become stubs, ``stale`` the messages in all that wait;
    ``folds``: the next one takes the middle with it.
    """

    stubs: int = 0
    frozen: int = 0
    ordered: bool = True
    middle: int = NOTHING
    shown: int = 0
    phase: int = IDLE
    chunks: int = 0
    stale: int = 0
    folds: bool = False
    committed: bool = False
    resumed: bool = False


class Move(NamedTuple):
    """An event by what it does: messages added, removed, planned or committed; chunks planned."""

    kind: str
    messages: int = 0
    chunks: int = 0


def shape_of(s: PassState) -> Shape:
    """The shape of a state of the machine."""
    stubs = sum(isinstance(i, Checkpoint) and i.kind is Class.STUB for i in s.surface)
    others = [i.kind for i in s.surface if isinstance(i, Checkpoint) and i.kind is not Class.STUB]
    order = [_rank(item) for item in s.surface]
    waiting = [region for region in s.regions if not region.committed]
    torn = s.phase is Phase.TORN
    return Shape(
        stubs=stubs,
        frozen=len(s.frozen),
        ordered=order == sorted(order) and len(others) <= 1,
        middle=MIDDLES[others[0]] if others else NOTHING,
        shown=len(s.history) - s.hidden,
        phase=PHASES[s.phase],
        chunks=max(len(waiting) - 1, 0),
        stale=s.boundary - s.hidden if torn else sum(len(direct(region.items)) for region in waiting),
        folds=bool(waiting) and any(isinstance(item, Checkpoint) for item in waiting[0].items),
        committed=s.has_committed,
        resumed=s.resumed,
    )


def _rank(item: Item) -> int:
    """Where an item of this kind belongs: stubs first, then the middle, then messages."""
    return 2 if isinstance(item, Message) else 0 if item.kind is Class.STUB else 1


def move_of(s: PassState, event: Event, after: PassState) -> Move:
    """What an event of the machine does to the shape, its numbers read from the two states."""
    name = type(event).__name__
    waiting = [region for region in after.regions if not region.committed]
    planned = sum(len(direct(region.items)) for region in waiting)
    match name:
        case "AppendUser" | "AppendCall":
            return Move("Append", len(after.history) - len(s.history))
        case "Undo":
            return Move("Undo", len(s.history) - len(after.history))
        case "LegacyHead":
            return Move("LegacyHead", after.hidden)
        case "Begin" | "Resume":
            return Move(name, planned, len(waiting) - 1)
        case "Guard":
            return Move("Pass" if after.phase is Phase.COMMITTING else "Refuse")
        case "Commit":
            last = sum(not region.committed for region in s.regions) == 1
            return Move("CommitState" if last else "CommitChunk", after.hidden - s.hidden)
        case "Crash" | "StateFails":
            return Move("Break")
        case "Clear":
            return Move("Clear")
        case _:
            return Move("Answer")


def allowed(s: Shape, move: Move, design: Clauses) -> bool:
    """Whether the move's numbers fit the shape: what the machine's guards and its planning say."""
    n, chunks = move.messages, move.chunks
    running = s.phase == SUMMARISING or s.phase == COMMITTING  # noqa: PLR1714 - `in` would ask for hashes
    match move.kind:
        case "Append":
            return n >= 1
        case "Undo":
            bounded = Clause.R17_BOUNDARY in design and (s.phase != SUMMARISING or s.resumed)
            return n >= 1 and n <= s.shown and (not bounded or s.shown - n >= s.stale)
        case "LegacyHead":
            nothing_there = s.phase == IDLE and s.stubs == 0 and s.middle == NOTHING
            return nothing_there and n >= 1 and n <= s.shown
        case "Begin":
            least = 1 if s.middle != NOTHING and Clause.R4_TWO_HOPS in design else 0
            needed = chunks if s.middle != NOTHING else chunks + 1  # a chunk may be the middle alone
            return s.phase == IDLE and chunks >= least and n >= needed and n >= 1 and n <= s.shown
        case "Answer" | "Clear":
            return True
        case "Refuse":
            return s.phase == SUMMARISING and not (s.resumed and Clause.R13_RESUME in design)
        case "Pass":
            return bool(s.phase == SUMMARISING)
        case "CommitChunk":
            least = 0 if s.folds else 1
            return s.phase == COMMITTING and s.chunks >= 1 and n >= least and s.stale - n >= s.chunks
        case "CommitState":
            return s.phase == COMMITTING and s.chunks == 0 and n == s.stale
        case "Break":
            return running
        case _:  # Resume
            return s.phase == TORN and chunks >= 0 and n >= chunks + 1 and n == s.stale


def effect(s: Shape, move: Move, design: Clauses) -> Shape:
    """The shape after a move."""
    n = move.messages
    match move.kind:
        case "Append":
            return s._replace(shown=s.shown + n)
        case "Undo":
            cancels = s.phase == SUMMARISING and s.shown - n < s.stale and Clause.R16_CANCEL in design
            return (_broken_off(s) if cancels else s)._replace(shown=s.shown - n)
        case "Clear":
            if Clause.R16_CANCEL in design:
                return Shape()
            return s._replace(stubs=0, frozen=0, middle=NOTHING, shown=0)
        case "LegacyHead":
            return s._replace(middle=LEGACY, shown=s.shown - n)
        case "Begin":
            folds = s.middle != NOTHING
            return s._replace(phase=SUMMARISING, chunks=move.chunks, stale=n, folds=folds)
        case "Answer":
            return s
        case "Refuse":
            return _ended(s)
        case "Pass":
            return s._replace(phase=COMMITTING)
        case "CommitChunk":
            return _commit_chunk(s, n, design)
        case "CommitState":
            return _ended(s)._replace(middle=STATE, shown=s.shown - n)
        case "Break":
            return _broken_off(s)
        case _:  # Resume
            return s._replace(phase=SUMMARISING, chunks=move.chunks, resumed=True)


def _commit_chunk(s: Shape, n: int, design: Clauses) -> Shape:
    """A stub behind the last one, where the design commits from the left and begins after the stubs."""
    in_place = Clause.R10_LEFT in design or s.chunks == 1
    stubs = s.stubs if Clause.R2_FROZEN in design or not s.folds else 0
    middle = NOTHING if s.folds else s.middle
    return s._replace(
        stubs=stubs + 1,
        frozen=s.frozen + 1,
        ordered=s.ordered if in_place and Clause.R11_LAST in design else False,
        middle=middle,
        shown=s.shown - n,
        chunks=s.chunks - 1,
        stale=s.stale - n,
        folds=False,
        committed=True,
    )


def _broken_off(s: Shape) -> Shape:
    if s.resumed or s.committed:
        return s._replace(phase=TORN, chunks=0, folds=False, committed=False, resumed=False)
    return _ended(s)


def _ended(s: Shape) -> Shape:
    return s._replace(phase=IDLE, chunks=0, stale=0, folds=False, committed=False, resumed=False)


def layout(s: Shape) -> Any:
    """LAYOUT, of counts: between passes, stubs never stand without the state."""
    complete = (s.stubs == 0) | (s.middle == STATE)
    return (
        s.ordered & (negation(s.phase == IDLE) | complete) & (negation(s.middle == LEGACY) | (s.stubs == 0))
    )


def frozen(s: Shape) -> Any:
    """FROZEN, of counts: as many stubs stand on the surface as were ever committed."""
    return s.frozen == s.stubs


GOALS = ("LAYOUT", "FROZEN", "COUNTS")
"""What is to be proved; the other conjuncts are there because these alone are not inductive."""


def strengthened(s: Shape) -> Iterator[tuple[str, Any]]:
    """What is true of every reachable shape, and inductive. COUNTS: what is planned is still shown."""
    running = (s.phase == SUMMARISING) | (s.phase == COMMITTING)
    begun = s.committed | s.resumed
    untouched = running & negation(begun)
    yield "LAYOUT", layout(s)
    yield "FROZEN", frozen(s)
    yield "COUNTS", (s.stubs >= 0) & (s.shown >= 0) & (s.chunks >= 0) & (s.stale >= 0) & (s.stale <= s.shown)
    quiet = negation(begun | s.folds) & (s.chunks == 0)
    yield (
        "PHASES",
        (negation(s.phase == IDLE) | (quiet & (s.stale == 0))) & (negation(s.phase == TORN) | quiet),
    )
    yield "COMMITTED", negation(s.committed) | (s.phase == COMMITTING)
    yield "SUPERSEDED", negation(untouched) | (s.folds == negation(s.middle == NOTHING))
    yield "WHOLE", negation(untouched) | (s.stubs == 0) | (s.middle == STATE)
    yield "TORN", negation(begun | (s.phase == TORN)) | ((s.middle == NOTHING) & (s.folds == False))  # noqa: E712


CONJUNCTS = tuple(name for name, _ in strengthened(Shape()))


def arbitrary() -> Shape:
    """A shape whose every count is arbitrary."""
    names, truths = Shape._fields, ("ordered", "folds", "committed", "resumed")
    return Shape(*(condition(name) if name in truths else number(name) for name in names))


def inductive_steps(kind: str, design: Clauses, leaving_out: str | None = None) -> Steps:
    """For one kind of move: each conjunct of the strengthened invariant, LAYOUT and FROZEN among them."""

    def step(before: Shape) -> dict[str, Any] | None:
        move = Move(kind, number("messages"), number("planned"))
        return dict(strengthened(effect(before, move, design))) if allowed(before, move, design) else None

    return induction.inductive_steps([arbitrary()], strengthened, step, leaving_out)
