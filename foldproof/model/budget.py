"""The budget machine: when a compaction starts, what it is given, and which sizes are published.

Source: the seed's P5, P6, P7, P10, P12, and two of its remarks: a larger window that did not end the
pause (v0.2.1, F2), and an estimate of the size that asked for the size (v0.2.0).
"""

from __future__ import annotations

from collections.abc import Iterator

from foldproof.model.budget_invariants import INVARIANTS
from foldproof.model.budget_state import (
    ALPHABET,
    FAULTS,
    MAX_ATTEMPTS,
    MEMORY,
    MESSAGE,
    OVERHEAD,
    AfterStep,
    AppendUser,
    BeforeStep,
    BudgetState,
    Clause,
    Clear,
    Decision,
    Event,
    Fail,
    Fold,
    Land,
    Measure,
    Rejected,
    Restore,
    Sizes,
    SwitchModel,
    Undo,
    Window,
)
from foldproof.model.machine import Bounds, Clauses, Machine
from foldproof.model.state import Gauge, GaugeKind


def enabled(s: BudgetState, bound: int, design: Clauses) -> Iterator[Event]:
    """The events that a state whose history may hold at most ``bound`` messages can take, in order."""
    candidates: tuple[Event, ...] = (
        AppendUser(),
        BeforeStep(),
        AfterStep(),
        Rejected(),
        Measure(),
        Fold(),
        *map(Land, range(s.shown + 1)),
        Fail(),
        SwitchModel(),
        *map(Undo, range(1, s.shown + 1)),
        Clear(),
        Restore(),
    )
    yield from (event for event in candidates if guard(s, event, design, bound) is None)


def guard(s: BudgetState, event: Event, design: Clauses, bound: int | None = None) -> str | None:
    """Why an event is not enabled, or None when it is."""
    match event:
        case AppendUser() | AfterStep():
            if bound is not None and s.stored >= bound:
                return "the history has reached its bound"
        case Fold():
            return None if s.shown else "no message is shown"
        case Land(kept):
            if not s.in_flight:
                return "no compaction is in flight"
            if kept > s.shown or s.folded + s.shown == kept:
                return "nothing would be compacted"
        case Fail():
            return None if s.in_flight else "no compaction is in flight"
        case Undo(count):
            return None if 1 <= count <= s.shown else f"{count} messages are not shown"
        case Clear():
            return None if s.stored else "the history is empty"
        case _:
            return None
    return None


def effect(s: BudgetState, event: Event, design: Clauses) -> BudgetState:
    """The state after an event whose guard holds."""
    s = s._replace(decision=None, depth=0)
    match event:
        case AppendUser():
            s = s._replace(shown=s.shown + 1, attempts=0)
            if Clause.B5_TURN not in design:
                s = s._replace(futile=False, floor=None)
        case BeforeStep():
            return _before_step(s, design)
        case Rejected():
            return _rejected(s, design)
        case AfterStep():
            gauge = Gauge(s.stored, s.view, GaugeKind.MEASURED)
            s = s._replace(shown=s.shown + 1, gauge=gauge)
        case Measure():
            s = s._replace(gauge=Gauge(s.stored, s.view, GaugeKind.MEASURED))
        case Fold():
            s = _rebased(s._replace(folded=s.folded + s.shown, shown=0))
        case Land(kept):
            s = _landed(s, kept, design)
        case Fail():
            s = s._replace(in_flight=0)
        case SwitchModel():
            s = _switched(s, design)
        case Undo(count):
            s = _replaced(s._replace(shown=s.shown - count), design)
            if s.gauge is not None and s.gauge.length > s.stored:
                s = _rebased(s)
        case Clear():
            cleared = BudgetState(window=s.window, futile=s.futile, floor=s.floor, published=s.published)
            s = _replaced(cleared, design)
        case Restore():
            s = s._replace(gauge=None, in_flight=0)
            if Clause.B8_RESUME not in design:
                s = s._replace(futile=False, floor=None)
    return _published(s, event, design)


def size(s: BudgetState, design: Clauses) -> tuple[int, int]:
    """The size of the view as the session reads it, in tokens, and how deep the reading went.

    An unmeasured gauge is estimated from the view; the view has a status line, and the status line shows
    the size. Without B12 that asks again, for ever: the second reading is enough to see it.
    """
    if s.gauge is not None:
        return s.gauge.tokens + MESSAGE * (s.stored - s.gauge.length), 1
    return s.view, 1 if Clause.B12_REENTRY in design else 2


def _before_step(s: BudgetState, design: Clauses) -> BudgetState:
    seen, depth = size(s, design)
    seen = seen if Clause.B1_VIEW in design else s.raw
    starts = seen + OVERHEAD >= s.window.limit and _may_start(s, design)
    return _decided(s, starts, None, design)._replace(depth=depth)


def _rejected(s: BudgetState, design: Clauses) -> BudgetState:
    seen, depth = size(s, design)
    seen = seen if Clause.B2_REJECTED in design else s.raw
    overflow = seen + OVERHEAD >= s.window.limit
    left = s.attempts < MAX_ATTEMPTS or Clause.B9_ATTEMPTS not in design
    starts = overflow and left and _may_start(s, design)
    return _decided(s, starts, overflow, design)._replace(depth=depth, attempts=s.attempts + starts)


def _may_start(s: BudgetState, design: Clauses) -> bool:
    idle = not s.in_flight or Clause.B10_SINGLE not in design
    return idle and not s.futile and s.folded + s.shown > 0


def _decided(s: BudgetState, starts: bool, overflow: bool | None, design: Clauses) -> BudgetState:
    given = s.epoch if Clause.B3_INPUT in design else s.raw + MEMORY * s.remembered
    decision = Decision(
        starts,
        overflow,
        s.view + OVERHEAD,
        s.window.limit,
        paused=s.useless,
        busy=s.in_flight > 0,
        given=given if starts else 0,
        needed=s.epoch,
    )
    return s._replace(decision=decision, in_flight=s.in_flight + starts)


def _landed(s: BudgetState, kept: int, design: Clauses) -> BudgetState:
    archived = s.archived + s.folded + s.shown - kept
    s = s._replace(archived=archived, folded=0, shown=kept, remembered=True, in_flight=0)
    reaches = s.view + OVERHEAD >= s.window.limit
    futile = reaches and Clause.B4_FUTILE in design
    return _rebased(s._replace(floor=s.view + OVERHEAD, futile=futile, useless=reaches))


def _switched(s: BudgetState, design: Clauses) -> BudgetState:
    up = s.window is Window.SMALL
    s = s._replace(window=Window.LARGE if up else Window.SMALL, useless=False)
    if (Clause.B7_UP if up else Clause.B7_DOWN) in design:
        s = s._replace(futile=False, floor=None)
    return s


def _replaced(s: BudgetState, design: Clauses) -> BudgetState:
    s = s._replace(useless=False)
    return s._replace(futile=False, floor=None) if Clause.B6_REPLACED in design else s


def _rebased(s: BudgetState) -> BudgetState:
    return s._replace(gauge=Gauge(s.stored, s.view, GaugeKind.ESTIMATE))


def _published(s: BudgetState, event: Event, design: Clauses) -> BudgetState:
    """The status line after an event that changed the history or the gauge."""
    changes_history = isinstance(event, (AppendUser, AfterStep, Undo, Clear))
    clause = Clause.B11_HISTORY if changes_history else Clause.B11_GAUGE
    if isinstance(event, (Fail, SwitchModel)) or clause not in design:
        return s
    projected, depth = size(s, design)
    if Clause.B11_TAIL not in design and s.gauge is not None:
        projected = s.gauge.tokens
    return s._replace(published=Sizes(projected, s.raw), depth=depth)


BUDGET: Machine[BudgetState, Event] = Machine(
    name="budget",
    initial=BudgetState(),
    clauses=tuple(Clause),
    faults=FAULTS,
    invariants=INVARIANTS,
    enabled=enabled,
    guard=guard,
    effect=effect,
    canonical=lambda s: s,
    event_from_name=ALPHABET.read,
    bounds=Bounds(check=4, matrix=3),
)
