"""Symbolic execution of the model's own functions: every path, with the condition under which it is taken.

A function of the model runs unchanged on `Number` and `Condition` in place of ``int`` and ``bool``. Where it
asks a condition for its truth, the run decides for one side and comes back later for the other. So what is
proved about all the paths is proved about the code that runs, for numbers of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Generic, NamedTuple, TypeVar

import z3

ResultT = TypeVar("ResultT")
MAX_DECISIONS = 200
"""Decisions in one path, beyond which the function does not look as if it ended."""


class Number:
    """An integer term that computes and compares as ``int`` does."""

    __hash__ = None  # type: ignore[assignment]  # equality is a term, so there is no hash that agrees with it

    def __init__(self, term: z3.ArithRef) -> None:
        self.term = term

    def __add__(self, other: Any) -> Number:
        return Number(self.term + number_term(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Number:
        return Number(self.term - number_term(other))

    def __mul__(self, other: int) -> Number:
        return Number(self.term * number_term(other))

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> Condition:
        return Condition(self.term < number_term(other))

    def __le__(self, other: Any) -> Condition:
        return Condition(self.term <= number_term(other))

    def __gt__(self, other: Any) -> Condition:
        return Condition(self.term > number_term(other))

    def __ge__(self, other: Any) -> Condition:
        return Condition(self.term >= number_term(other))

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self.term == number_term(other))

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self.term != number_term(other))

    def __bool__(self) -> bool:
        return _decide(self.term != 0)


class Condition:
    """A Boolean term: it counts as 0 or 1, joins with ``&`` and ``|``, and forks the run when asked."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: z3.BoolRef) -> None:
        self.term = term

    def __and__(self, other: Any) -> Condition:
        return Condition(z3.And(self.term, truth_term(other)))

    __rand__ = __and__

    def __or__(self, other: Any) -> Condition:
        return Condition(z3.Or(self.term, truth_term(other)))

    __ror__ = __or__

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return Condition(self.term == truth_term(other))

    def __add__(self, other: Any) -> Number:
        return Number(number_term(self) + number_term(other))

    __radd__ = __add__

    def __mul__(self, other: int) -> Number:
        return Number(number_term(self) * other)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return _decide(self.term)


def number_term(value: Any) -> Any:
    """The integer term of a number, a condition (0 or 1), an ``int`` or a ``bool``."""
    if isinstance(value, Number):
        return value.term
    if isinstance(value, Condition):
        return z3.If(value.term, z3.IntVal(1), z3.IntVal(0))
    return z3.IntVal(int(value))


def truth_term(value: Any) -> Any:
    """The Boolean term of a condition or a ``bool``."""
    return value.term if isinstance(value, Condition) else z3.BoolVal(bool(value))


class Path(NamedTuple, Generic[ResultT]):
    """One way through a function: what must hold for it to be taken, and what it returns."""

    condition: Any
    result: ResultT


class _Run:
    """One execution: it repeats the decisions it was given, then takes the true side where it can."""

    def __init__(self, hypotheses: list[Any], given: list[bool]) -> None:
        self.given, self.taken, self.conditions = given, [], []  # type: tuple[list[bool], list[bool], list[Any]]
        self.alternatives: list[list[bool]] = []
        self.solver = z3.Solver()
        self.solver.add(*hypotheses)

    def decide(self, term: Any) -> bool:
        term = z3.simplify(term)
        if z3.is_true(term) or z3.is_false(term):
            return bool(z3.is_true(term))
        if len(self.taken) >= MAX_DECISIONS:
            raise RecursionError(f"more than {MAX_DECISIONS} decisions on one path")
        if len(self.taken) < len(self.given):
            side = self.given[len(self.taken)]
        else:
            side = self._possible(term)
            if side and self._possible(z3.Not(term)):
                self.alternatives.append([*self.taken, False])
        self.taken.append(side)
        self.conditions.append(term if side else z3.Not(term))
        self.solver.add(self.conditions[-1])
        return side

    def _possible(self, term: Any) -> bool:
        """Unless it is refuted: what the solver does not know counts as possible."""
        return bool(self.solver.check(term) != z3.unsat)


_RUN: ContextVar[_Run] = ContextVar("run")


def _decide(term: Any) -> bool:
    return _RUN.get().decide(term)


def paths(function: Callable[[], ResultT], hypotheses: list[Any]) -> Iterator[Path[ResultT]]:
    """Every path of a function that the hypotheses allow, each with its condition.

    The conditions cover all that the hypotheses allow; `coverage` is the formula that says so.
    """
    waiting: list[list[bool]] = [[]]
    while waiting:
        run = _Run(hypotheses, waiting.pop())
        token = _RUN.set(run)
        try:
            result = function()
        finally:
            _RUN.reset(token)
        waiting += run.alternatives
        yield Path(z3.And(*run.conditions) if run.conditions else z3.BoolVal(True), result)


def coverage(found: list[Path[ResultT]]) -> Any:
    """At least one of the paths is taken: a goal for a second solver, since the first one pruned them."""
    return z3.Or(*(path.condition for path in found))
