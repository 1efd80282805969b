"""The two domains that a proof's terms live in: Z3 terms, and the integers that the model runs on.

Everything in this package that states a rule takes its connectives from a `Reasoning`, so that the
same statement is a formula when it is proved and a truth value when a countermodel is replayed. It
extends the `Logic` of `foldproof.model.index` by conjunction, disjunction and choice of whole records.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar, cast

import z3

from foldproof.model.index import Index, Logic, Truth

RecordT = TypeVar("RecordT")


class Reasoning(Logic, Protocol):
    """The connectives of one domain."""

    def truth(self, value: bool) -> Truth:
        """A constant truth of the domain."""
        ...

    def every(self, *truths: Truth) -> Truth:
        """All of them."""
        ...

    def some(self, *truths: Truth) -> Truth:
        """At least one of them."""
        ...


class Integers:
    """Python's integers and truth values."""

    def truth(self, value: bool) -> Truth:
        return value

    def negate(self, truth: Truth) -> Truth:
        return not truth

    def choose(self, condition: Truth, then: Index, otherwise: Index) -> Index:
        return then if condition else otherwise

    def every(self, *truths: Truth) -> Truth:
        return all(truths)

    def some(self, *truths: Truth) -> Truth:
        return any(truths)


class Terms:
    """Z3 terms; Python's own truths are folded away, so that formulas stay small."""

    def truth(self, value: bool) -> Truth:
        return z3.BoolVal(value)

    def negate(self, truth: Truth) -> Truth:
        return z3.BoolVal(not truth) if isinstance(truth, bool) else z3.Not(truth)

    def choose(self, condition: Truth, then: Index, otherwise: Index) -> Index:
        if isinstance(condition, bool):
            return then if condition else otherwise
        return then if then is otherwise else z3.If(condition, then, otherwise)

    def every(self, *truths: Truth) -> Truth:
        open_terms = [t for t in truths if not isinstance(t, bool)]
        if any(t is False for t in truths):
            return z3.BoolVal(False)
        return z3.And(*open_terms) if open_terms else z3.BoolVal(True)

    def some(self, *truths: Truth) -> Truth:
        open_terms = [t for t in truths if not isinstance(t, bool)]
        if any(t is True for t in truths):
            return z3.BoolVal(True)
        return z3.Or(*open_terms) if open_terms else z3.BoolVal(False)


INTEGERS: Reasoning = Integers()
TERMS: Reasoning = Terms()


def implies(logic: Reasoning, condition: Truth, *consequences: Truth) -> Truth:
    """If the condition holds, so do all consequences."""
    return logic.some(logic.negate(condition), logic.every(*consequences))


def pick(logic: Reasoning, condition: Truth, then: RecordT, otherwise: RecordT) -> RecordT:
    """One of two values of the same kind; records are chosen field by field."""
    if isinstance(then, tuple) and hasattr(then, "_make"):
        parts = zip(cast("Iterable[Any]", then), cast("Iterable[Any]", otherwise), strict=True)
        return cast("RecordT", then._make(pick(logic, condition, a, b) for a, b in parts))
    return cast("RecordT", logic.choose(condition, then, otherwise))


def same(logic: Reasoning, left: object, right: object) -> Truth:
    """Two values of the same kind are equal, field by field."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return logic.every(*(same(logic, a, b) for a, b in zip(left, right, strict=True)))
    return cast("Any", left) == right
