"""The asynchronous machine: a compaction begins, summarises and lands while everything else goes on.

A session of the core, and beside it at most one compaction in flight. It fixes what it will tell when
it begins, and what it replaces when it lands; between the two the session may append, undo, clear,
crash, or be interrupted in the middle of a step. The invariants are the core's, of the session, and EDGE:
the boundary of the epoch never parts a call from its result, nor a closed span from its carrier.

Source: the seed's P9 (a transition pending while a compaction lands), and the interrupted step: a
call accepted, its receipt stored, the step aborted, the compaction lands, the next step begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import NamedTuple, TypeAlias

from foldproof.model import design as core
from foldproof.model import events, guards, step
from foldproof.model.alphabet import Alphabet, NamedEvent
from foldproof.model.canonical import canonical as canonical_session
from foldproof.model.fold import CORE_COSTS
from foldproof.model.invariants import INVARIANTS
from foldproof.model.machine import Bounds, Clauses, Machine, Violation
from foldproof.model.receipts import accepted_receipts
from foldproof.model.state import GONE, INITIAL, Memory, MessageId, Node, State, ids
from foldproof.model.tree import is_edge


class Clause(StrEnum):
    """What keeps a compaction in flight from harm."""

    A1_MUTEX = "A1_mutex"
    A2_SETTLE = "A2_settle"
    A3_ANCHOR = "A3_anchor"
    A4_FRESH = "A4_fresh"
    A5_TARGET = "A5_target"
    A6_EDGE = "A6_edge"

    @property
    def says(self) -> str:
        """The rule, in one sentence."""
        return _SAYS[self]


_SAYS = {
    Clause.A1_MUTEX: "a compaction does not land while a transition is pending",
    Clause.A2_SETTLE: "an interrupted step settles the transition whose receipt is stored",
    Clause.A3_ANCHOR: "a transition left over is settled at its carrier, not at the end of the history",
    Clause.A4_FRESH: "a compaction lands only on the messages that it was written from",
    Clause.A5_TARGET: "a compaction replaces what it was given when it began, not what is there later",
    Clause.A6_EDGE: "where a compaction lands is still an edge",
}

FAULTS: dict[str, Clauses] = {
    "P9": frozenset({Clause.A1_MUTEX}),
    "interrupted": frozenset({Clause.A1_MUTEX, Clause.A2_SETTLE, Clause.A3_ANCHOR}),
}


class InFlight(NamedTuple):
    """A compaction that has begun: the edge it replaces up to, what it tells, whether it is written."""

    k: int
    covers: tuple[MessageId, ...]
    summarised: bool


class AsyncState(NamedTuple):
    """A session and its compaction. ``interrupted``: the pending transition's step was aborted."""

    session: State = INITIAL
    interrupted: bool = False
    in_flight: InFlight | None = None


@dataclass(frozen=True, slots=True)
class Begin(NamedEvent):
    """A compaction of the state memory up to edge ``k`` begins; its input is fixed."""

    k: int


@dataclass(frozen=True, slots=True)
class Summarise(NamedEvent):
    """The summary is written."""


@dataclass(frozen=True, slots=True)
class Land(NamedEvent):
    """The compaction lands, or is dropped where the clauses refuse it for good."""


@dataclass(frozen=True, slots=True)
class Fail(NamedEvent):
    """The compaction fails or is cancelled; nothing lands."""


@dataclass(frozen=True, slots=True)
class Abort(NamedEvent):
    """The step is interrupted after its call was accepted and its receipt stored."""


Event: TypeAlias = events.Event | Begin | Summarise | Land | Fail | Abort

_OWN: Alphabet[Event] = Alphabet(Begin, Summarise, Land, Fail, Abort)
_REPLACED = (events.CommitState, events.CommitIndex, events.ApplyCompaction)
_NEEDS_IDLE = (events.AppendUser, events.AppendReply, events.Call)


def enabled(s: AsyncState, bound: int, design: Clauses) -> Iterator[Event]:
    """The events that a state can take, in order: the session's own, then the compaction's."""
    idle = _idle(s)
    for event in guards.enabled(idle, bound):
        if not isinstance(event, _REPLACED) and guard(s, event, design, bound) is None:
            yield event
    own: tuple[Event, ...] = (
        *map(Begin, range(len(s.session.history) + 1)),
        Summarise(),
        Land(),
        Fail(),
        Abort(),
    )
    yield from (event for event in own if guard(s, event, design, bound) is None)


def guard(s: AsyncState, event: Event, design: Clauses, bound: int | None = None) -> str | None:
    """Why an event is not enabled, or None when it is."""
    work = s.in_flight
    match event:
        case Begin(k):
            if work is not None:
                return "a compaction is in flight"
            return guards.guard(s.session._replace(pending=None), events.CommitState(k))
        case Summarise():
            return None if work is not None and not work.summarised else "no summary is being written"
        case Land():
            if work is None or not work.summarised:
                return "no summary is ready"
            if Clause.A1_MUTEX in design and s.session.pending is not None:
                return "a transition is pending"
        case Fail():
            return "no compaction is in flight" if work is None else None
        case Abort():
            return "no transition is pending" if s.session.pending is None or s.interrupted else None
        case events.CommitState() | events.CommitIndex() | events.ApplyCompaction():
            return "compactions begin and land here"
        case _:
            session = _idle(s) if isinstance(event, _NEEDS_IDLE) else s.session
            return guards.guard(session, event, core.DESIGN, bound)
    return None


def effect(s: AsyncState, event: Event, design: Clauses) -> AsyncState:
    """The state after an event whose guard holds."""
    match event:
        case Begin(k):
            covers = ids(s.session.history[s.session.tree.frozen_end : k])
            return s._replace(in_flight=InFlight(k, covers, summarised=False))
        case Summarise():
            return s._replace(in_flight=s.in_flight and s.in_flight._replace(summarised=True))
        case Land():
            return _land(s, design)._replace(in_flight=None)
        case Fail():
            return s._replace(in_flight=None)
        case Abort():
            if Clause.A2_SETTLE in design:
                return s._replace(session=step.effect(s.session, events.StepEnd()))
            return s._replace(interrupted=True)
        case events.Restore():
            return AsyncState(step.effect(s.session, event))  # a crash loses the compaction with the rest
        case events.StepEnd() if s.interrupted and Clause.A3_ANCHOR not in design:
            return s._replace(session=_settle_at_the_end(s.session), interrupted=False)
        case _:
            session = step.effect(s.session, event)
            return s._replace(session=session, interrupted=s.interrupted and _left_over(s, session))


def _idle(s: AsyncState) -> State:
    """The session as one that waits for its next message sees itself: what was interrupted is over."""
    return s.session._replace(pending=None) if s.interrupted else s.session


def _left_over(s: AsyncState, after: State) -> bool:
    """The pending transition is still the one whose step was interrupted."""
    return after.pending is not None and after.pending == s.session.pending


def _land(s: AsyncState, design: Clauses) -> AsyncState:
    work, session = s.in_flight, s.session
    assert work is not None
    if not session.enabled:
        return s
    k = work.k if Clause.A5_TARGET in design else len(session.history)
    written_from = ids(session.history[session.tree.frozen_end : work.k])
    if Clause.A4_FRESH in design and work.covers != written_from:
        return s
    if Clause.A6_EDGE in design and not is_edge(session, k):
        return s
    memory = Memory(CORE_COSTS.memory, work.covers)
    tree = session.tree._replace(state=memory, epoch_start_at=min(k, len(session.history)))
    return s._replace(session=step.rebased(session._replace(tree=tree)))


def _settle_at_the_end(session: State) -> State:
    """The fault of A3: what was left over is committed as if its carrier had just been stored.

    The memory still tells only what it was written from when the call was accepted.
    """
    pending, end = session.pending, len(session.history) - 1
    assert pending is not None
    position = next(
        (r.position for r in accepted_receipts(session, 0) if r.carrier.id == pending.carrier), None
    )
    nodes, cursor = session.tree.nodes, session.cursor
    if position is not None and pending.transition.closes and cursor is not None:
        opened_at = nodes[cursor].opened_at
        memory = Memory(CORE_COSTS.memory, ids(session.history[opened_at:position]))
        nodes = (*nodes[:cursor], Node(opened_at, end, memory), *nodes[cursor + 1 :])
    if position is not None and pending.transition.opens:
        nodes = (*nodes, Node(end))
    settled = session._replace(
        tree=session.tree._replace(nodes=nodes), pending=None, last_observed=len(session.history)
    )
    return step.rebased(settled)


def canonical(s: AsyncState) -> AsyncState:
    """The representative of a state: ids are renamed by position, those no longer stored are alike."""
    work = s.in_flight
    if work is not None:
        names = {message.id: position for position, message in enumerate(s.session.history)}
        work = work._replace(covers=tuple(names.get(i, GONE) for i in work.covers))
    return s._replace(session=canonical_session(s.session), in_flight=work)


def event_from_name(text: str) -> Event:
    """The event that a trace spells this way; ValueError names the events that exist."""
    try:
        return _OWN.read(text)
    except ValueError:
        event = events.event_from_name(text)
    if isinstance(event, _REPLACED):
        raise ValueError(f"{text}: compactions begin and land here: {', '.join(_OWN.spellings)}")
    return event


def _of_session(check: Callable[[State], Violation | None]) -> Callable[[AsyncState], Violation | None]:
    @wraps(check)
    def of_session(s: AsyncState) -> Violation | None:
        return check(s.session)

    return of_session


def inv_edge(s: AsyncState) -> Violation | None:
    """EDGE: the epoch begins at an edge."""
    start = s.session.tree.epoch_start_at
    if is_edge(s.session, start):
        return None
    return Violation(
        "EDGE", "epoch_start_at is an edge", f"epoch_start_at = {start}", "parted", f"index {start}"
    )


ASYNC: Machine[AsyncState, Event] = Machine(
    name="async",
    initial=AsyncState(),
    clauses=tuple(Clause),
    faults=FAULTS,
    invariants={name: _of_session(check) for name, check in INVARIANTS.items()} | {"EDGE": inv_edge},
    enabled=enabled,
    guard=guard,
    effect=effect,
    canonical=canonical,
    event_from_name=event_from_name,
    bounds=Bounds(check=3, matrix=3),
)
