"""An inductive step over code: any state of a strengthened invariant, one event, and what holds then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import z3

from foldproof.proofs.formula import Formula
from foldproof.proofs.paths import Condition, Number, coverage, paths, truth_term

StateT = TypeVar("StateT")
Conjuncts = Callable[[StateT], Iterator[tuple[str, Any]]]
"""The strengthened invariant: its conjuncts by name, each a ``bool`` or a `Condition`."""

SHAPE = z3.Int("shape")
"""Which of the arbitrary states a formula speaks of."""


class Steps(NamedTuple):
    """One event's inductive step. ``known``: the strengthened invariant before; ``taken``: the conditions of
    the event's paths, each to be shown possible; ``goals``: what is to follow, by name.
    """

    known: Any
    taken: list[Any]
    goals: dict[str, Any]

    def formula(self, *names: str) -> Formula:
        """The named goals (all of them without names), from the invariant before."""
        return Formula([self.known], z3.And(*(self.goals[name] for name in names or self.goals)))


def inductive_steps(
    states: Iterable[StateT],
    conjuncts: Conjuncts[StateT],
    step: Callable[[StateT], dict[str, Any] | None],
    leaving_out: str | None = None,
) -> Steps:
    """A goal for each name that ``step`` gives, and COVERAGE: the paths leave nothing out.

    ``states`` are symbolic, one for each combination of what is present and what is not. ``step`` returns
    what holds after the event, by name, or None where the event is not enabled. ``leaving_out`` names a
    conjunct that is not assumed, to see what it is needed for.
    """
    goals: dict[str, list[Any]] = {}
    taken: list[Any] = []
    possible: list[Any] = []
    for shape, before in enumerate(states):
        known = [truth_term(truth) for name, truth in conjuncts(before) if name != leaving_out]
        known_here = z3.And(shape == SHAPE, *known)
        possible.append(known_here)
        found = list(paths(lambda s=before: step(s), known))  # type: ignore[misc]
        for path in found:
            if path.result is None:
                continue
            here = z3.And(known_here, path.condition)
            taken.append(here)
            for name, holds in path.result.items():
                goals.setdefault(name, []).append(z3.Implies(here, truth_term(holds)))
        goals.setdefault("COVERAGE", []).append(z3.Implies(known_here, coverage(found)))
    return Steps(z3.Or(*possible), taken, {name: z3.And(*parts) for name, parts in goals.items()})


def number(name: str) -> Any:
    """An arbitrary integer."""
    return Number(z3.Int(name))


def condition(name: str) -> Any:
    """An arbitrary truth."""
    return Condition(z3.Bool(name))


def negation(truth: Any) -> Any:
    """Not, of a ``bool`` or a `Condition`, without asking for its truth."""
    return Condition(z3.Not(truth.term)) if isinstance(truth, Condition) else not truth


def concrete(model: z3.ModelRef, value: Any) -> Any:
    """What a countermodel says of a symbolic value: tuples part by part, all else as it is."""
    if isinstance(value, Number):
        return model.eval(value.term, model_completion=True).as_long()
    if isinstance(value, Condition):
        return z3.is_true(model.eval(value.term, model_completion=True))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(concrete(model, part) for part in value))
    return value
