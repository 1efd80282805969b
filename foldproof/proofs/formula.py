"""Formulas to prove, obligations that name them, and the mutants that keep them honest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import z3

from foldproof.model.index import Truth


class Formula(NamedTuple):
    """Hypotheses and the goal that follows from them."""

    hypotheses: list[Truth]
    goal: Truth

    @property
    def negation(self) -> list[Truth]:
        """What is satisfiable exactly when the goal does not follow."""
        return [*self.hypotheses, z3.Not(self.goal)]


@dataclass(frozen=True)
class Mutant:
    """The same obligation of a wrong rule: it must be refuted."""

    name: str
    formula: Callable[[], Formula]


@dataclass(frozen=True)
class Obligation:
    """Something to prove. ``event`` and ``invariant`` place it in the grid, where it belongs there.

    Formulas are built when they are asked for: the list of obligations is cheap.
    """

    name: str
    statement: str
    formula: Callable[[], Formula]
    mutant: Mutant
    event: str | None = None
    invariant: str | None = None
