"""What a search found: the same record from every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from foldproof.model.machine import Violation


@dataclass(frozen=True)
class Counterexample:
    """A run to a state that violates an invariant; no shorter run reaches one."""

    invariant: str
    violation: Violation
    events: tuple[Any, ...]


@dataclass(frozen=True)
class SearchResult:
    """What an engine visited, and the counterexamples that it met, shortest first.

    ``states`` are canonical and distinct; ``transitions`` counts every enabled event of every
    expanded state, self-loops and repeats too; ``depth`` counts the layers that the search reached
    from the initial state, the last, empty one included. ``complete`` is false when a limit stopped
    the search: then an invariant without a counterexample is unchecked, not held.
    """

    machine: str
    bound: int
    without: tuple[str, ...]
    engine: str
    states: int
    transitions: int
    depth: int
    seconds: float
    invariants: tuple[str, ...]
    events: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    counterexamples: dict[str, tuple[Counterexample, ...]] = field(default_factory=dict)

    @property
    def violated(self) -> bool:
        return any(self.counterexamples.values())

    def verdict(self, invariant: str) -> str:
        """``held``, ``violated`` or ``unchecked``."""
        if self.counterexamples.get(invariant):
            return "violated"
        return "held" if self.complete and invariant in self.invariants else "unchecked"


@dataclass(frozen=True)
class Progress:
    """How far a running search is, told once in a while."""

    layer: int
    frontier: int
    states: int
    transitions: int
    seconds: float


OnProgress = Callable[[Progress], None]


class Engine(Protocol):
    """A search engine: every one gives the same result, at its own speed."""

    def __call__(
        self,
        machine: Any,
        bound: int,
        design: Any = None,
        *,
        invariants: tuple[str, ...] | None = None,
        limit: int = 1,
        on_progress: OnProgress | None = None,
    ) -> SearchResult: ...
