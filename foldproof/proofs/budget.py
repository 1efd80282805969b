"""The budget machine's invariants hold for histories of any length: an inductive proof over its own code.

`strengthened` is the invariant that is inductive; the machine's properties follow from it and from what an
event has just decided. Every event is executed symbolically (`foldproof.proofs.paths`) on an arbitrary
state that satisfies it, with an arbitrary argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

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
from foldproof.proofs.paths import Condition, Number, coverage, paths, truth_term

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


class Formula(NamedTuple):
    """Hypotheses and the goal that follows from them. ``taken``: the event's paths, to be shown possible."""

    hypotheses: list[Any]
    goal: Any
    taken: list[Any]


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
    yield "REMEMBERED", _not(s.remembered) | (s.archived >= 1)
    trigger = s.view
    inside: Any = True
    if s.gauge is not None:
        trigger = s.gauge.tokens + MESSAGE * (s.stored - s.gauge.length)
        inside = (s.gauge.length >= 0) & (s.gauge.length <= s.stored)
    yield "GAUGE", inside & (trigger == s.view)
    reason: Any = False if s.floor is None else s.floor >= s.window.limit
    yield "PAUSE", (s.futile == s.useless) & (_not(s.futile) | reason)
    yield "STATUS", (s.published.projected == trigger) & (s.published.raw == s.raw)


def arbitrary_states() -> Iterator[BudgetState]:
    """A state of each shape: either window, gauge and floor present or not; all the rest arbitrary."""
    for window, gauge, floor in product(Window, (False, True), (False, True)):
        yield BudgetState(
            archived=_number("archived"),
            folded=_number("folded"),
            shown=_number("shown"),
            remembered=_condition("remembered"),
            gauge=Gauge(_number("gauge_length"), _number("gauge_tokens")) if gauge else None,
            window=window,
            futile=_condition("futile"),
            floor=_number("floor") if floor else None,
            attempts=_number("attempts"),
            in_flight=_number("in_flight"),
            published=Sizes(_number("projected"), _number("raw")),
            useless=_condition("useless"),
        )


def inductive_steps(
    event_type: type[Event], design: Clauses, leaving_out: str | None = None
) -> dict[str, Formula]:
    """For one event: each invariant, each conjunct of the strengthening, and COVERAGE of the paths.

    ``leaving_out`` names a conjunct that is not assumed, to see what it is needed for.
    """
    goals: dict[str, list[Any]] = {name: [] for name in (*INVARIANTS, *STRENGTHENING, "COVERAGE")}
    taken: list[Any] = []
    for shape, before in enumerate(arbitrary_states()):
        known = [truth_term(truth) for name, truth in strengthened(before) if name != leaving_out]
        this_shape = z3.Int("shape") == shape
        found = list(paths(lambda s=before: _step(s, event_type, design), known))  # type: ignore[misc]
        known_here = z3.And(this_shape, *known)
        goals["COVERAGE"].append(z3.Implies(known_here, coverage(found)))
        for path in found:
            if path.result is not None:
                here = z3.And(known_here, path.condition)
                taken.append(here)
                for name, holds in path.result.items():
                    goals[name].append(z3.Implies(here, holds))
    return {name: Formula([], z3.And(*parts), taken) for name, parts in goals.items()}


def _step(before: BudgetState, event_type: type[Event], design: Clauses) -> dict[str, Any] | None:
    """What holds after the event, by name; None where its guard refuses it."""
    argument = (_number("argument"),) if event_type in (Land, Undo) else ()
    if argument and argument[0] < 0:
        return None
    event = event_type(*argument)
    if budget.guard(before, event, design) is not None:
        return None
    after = budget.effect(before, event, design)
    held = {name: z3.BoolVal(check(after) is None) for name, check in budget.BUDGET.invariants.items()}
    return held | {name: truth_term(truth) for name, truth in strengthened(after)}


def concrete(model: z3.ModelRef) -> tuple[BudgetState, int]:
    """A countermodel as a state of the machine, and the event's argument."""
    shape = model.eval(z3.Int("shape"), model_completion=True).as_long()
    symbolic = list(arbitrary_states())[shape]

    def value(part: Any) -> Any:
        if isinstance(part, Number):
            return model.eval(part.term, model_completion=True).as_long()
        if isinstance(part, Condition):
            return z3.is_true(model.eval(part.term, model_completion=True))
        if isinstance(part, Gauge):
            return part._replace(length=value(part.length), tokens=value(part.tokens))
        return Sizes(*map(value, part)) if isinstance(part, Sizes) else part

    argument = model.eval(z3.Int("argument"), model_completion=True).as_long()
    return BudgetState(*map(value, symbolic)), argument


def _number(name: str) -> Any:
    return Number(z3.Int(name))


def _condition(name: str) -> Any:
    return Condition(z3.Bool(name))


def _not(truth: Any) -> Any:
    return Condition(z3.Not(truth.term)) if isinstance(truth, Condition) else not truth
