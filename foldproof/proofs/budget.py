"""The budget machine's invariants hold for histories of any length: an inductive proof over its own code.

`strengthened` is the invariant that is inductive; the machine's properties follow from it and from what an
event has just decided. Every event is executed symbolically (`foldproof.proofs.paths`) on an arbitrary
state that satisfies it, with an arbitrary argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import z3

from foldproof.model import budget
from foldproof.model.budget_state import (
    MAX_ATTEMPTS,
    MESSAGE,
    AfterStep,
    AppendUser,
    BeforeStep,
    BudgetState,
    Clear,
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
from foldproof.model.machine import Clauses
from foldproof.model.state import Gauge
from foldproof.proofs import induction
from foldproof.proofs.induction import Steps, condition, negation, number
from foldproof.proofs.paths import Number

EVENTS = (
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
INVARIANTS = tuple(budget.BUDGET.invariants)
STRENGTHENING = ("COUNTS", "REMEMBERED", "GAUGE", "PAUSE", "STATUS")


def strengthened(s: BudgetState) -> Iterator[tuple[str, Any]]:
    """What an inductive step needs to know of the state before: true of every reachable state.

    REMEMBERED: a state memory speaks for archived messages; without it raw >= projected would not follow.
    PAUSE: the flag is up exactly while its reason stands; without it QUIET would not follow.
    """
    counts = (s.archived >= 0) & (s.folded >= 0) & (s.shown >= 0)
    yield (
        "COUNTS",
        counts & (s.attempts >= 0) & (s.attempts <= MAX_ATTEMPTS) & (s.in_flight >= 0) & (s.in_flight <= 1),
    )
    yield "REMEMBERED", negation(s.remembered) | (s.archived >= 1)
    trigger = s.view
    inside: Any = True
    if s.gauge is not None:
        trigger = s.gauge.tokens + MESSAGE * (s.stored - s.gauge.length)
        inside = (s.gauge.length >= 0) & (s.gauge.length <= s.stored)
    yield "GAUGE", inside & (trigger == s.view)
    reason: Any = False if s.floor is None else s.floor >= s.window.limit
    yield "PAUSE", (s.futile == s.useless) & (negation(s.futile) | reason)
    yield "STATUS", (s.published.projected == trigger) & (s.published.raw == s.raw)


def arbitrary_states() -> Iterator[BudgetState]:
    """A state of each shape: either window, gauge and floor present or not; all the rest arbitrary."""
    for window, gauge, floor in product(Window, (False, True), (False, True)):
        yield BudgetState(
            archived=number("archived"),
            folded=number("folded"),
            shown=number("shown"),
            remembered=condition("remembered"),
            gauge=Gauge(number("gauge_length"), number("gauge_tokens")) if gauge else None,
            window=window,
            futile=condition("futile"),
            floor=number("floor") if floor else None,
            attempts=number("attempts"),
            in_flight=number("in_flight"),
            published=Sizes(number("projected"), number("raw")),
            useless=condition("useless"),
        )


def inductive_steps(event_type: type[Event], design: Clauses, leaving_out: str | None = None) -> Steps:
    """For one event: each invariant, each conjunct of the strengthening, and COVERAGE of the paths."""
    return induction.inductive_steps(
        arbitrary_states(), strengthened, lambda before: _step(before, event_type, design), leaving_out
    )


def _step(before: BudgetState, event_type: type[Event], design: Clauses) -> dict[str, Any] | None:
    """What holds after the event, by name; None where its guard refuses it."""
    argument = (number("argument"),) if event_type in (Land, Undo) else ()
    if argument and argument[0] < 0:
        return None
    event = event_type(*argument)
    if budget.guard(before, event, design) is not None:
        return None
    after = budget.effect(before, event, design)
    held = {name: check(after) is None for name, check in budget.BUDGET.invariants.items()}
    return held | dict(strengthened(after))


def concrete(model: z3.ModelRef) -> tuple[BudgetState, int]:
    """A countermodel as a state of the machine, and the event's argument."""
    symbolic = list(arbitrary_states())[induction.concrete(model, Number(induction.SHAPE))]
    return induction.concrete(model, symbolic), induction.concrete(model, number("argument"))
