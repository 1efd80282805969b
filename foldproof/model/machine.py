"""A machine: everything that a search, a trace or a proof needs to know of a specification.

The core kernel is one machine; budget, pass and async are others. The engines know only this
interface, so that each machine is searched, replayed and shown by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, TypeAlias, TypeVar

StateT = TypeVar("StateT")
EventT = TypeVar("EventT")

Clauses: TypeAlias = frozenset[StrEnum]
"""A design, of whichever machine: the clauses that it keeps."""


class Violation(NamedTuple):
    """Why an invariant does not hold.

    ``left`` and ``right`` are the two sides of the equation as text, with ``equation`` naming them;
    ``place`` is the first place where they differ, in words.
    """

    invariant: str
    equation: str
    left: str
    right: str
    place: str

    def __str__(self) -> str:
        return f"{self.equation}: {self.left} against {self.right} ({self.place})"


class Bounds(NamedTuple):
    """How far a search goes unless it is told otherwise, so that it takes seconds with the plain engine."""

    check: int
    matrix: int


@dataclass(frozen=True)
class Machine(Generic[StateT, EventT]):
    """A specification as functions over immutable, hashable states.

    ``enabled(state, bound, design)`` yields the events in a fixed order; ``effect(state, event,
    design)`` is defined for those only; ``guard(state, event, design, bound)`` says why an event is
    not enabled, or None; ``canonical`` picks one of the states that differ in names alone;
    ``event_from_name`` inverts ``str(event)`` and raises ValueError. ``faults`` name sets of missing
    clauses; ``bounds`` are the default bounds of a check and of a matrix.
    """

    name: str
    initial: StateT
    clauses: tuple[StrEnum, ...]
    faults: Mapping[str, Clauses]
    invariants: Mapping[str, Callable[[StateT], Violation | None]]
    enabled: Callable[[StateT, int, Clauses], Iterable[EventT]]
    guard: Callable[[StateT, EventT, Clauses, int | None], str | None]
    effect: Callable[[StateT, EventT, Clauses], StateT]
    canonical: Callable[[StateT], StateT]
    event_from_name: Callable[[str], EventT]
    bounds: Bounds

    @property
    def design(self) -> Clauses:
        """Every clause of the machine."""
        return frozenset(self.clauses)

    def without(self, *clauses: str) -> Clauses:
        """The design that lacks the clauses of these names. Raises ValueError for an unknown name."""
        names = {str(clause) for clause in self.clauses}
        for clause in clauses:
            if clause not in names:
                known = ", ".join(map(str, self.clauses))
                raise ValueError(f"the {self.name} machine has no clause {clause!r}; it has {known}")
        return frozenset(clause for clause in self.clauses if str(clause) not in clauses)

    def violations(self, state: StateT, invariants: Iterable[str] | None = None) -> list[Violation]:
        """The violations of a state, of all or of the named invariants, in the machine's order."""
        chosen = self.invariants if invariants is None else tuple(invariants)
        found = (self.invariants[name](state) for name in chosen)
        return [violation for violation in found if violation is not None]
