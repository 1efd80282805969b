"""Results of the model, remembered together with the clauses that they depend on.

A result that was computed under one design holds for every design that agrees on the clauses the model
asked for on the way. So the designs of a necessity matrix share nearly all of their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Generic, TypeVar

from foldproof.model.machine import Clauses

ResultT = TypeVar("ResultT")


class _Asked(frozenset[StrEnum]):
    """A design that notes which clauses it is asked for."""

    asked: list[object]

    def __contains__(self, clause: object) -> bool:
        self.asked.append(clause)
        return super().__contains__(clause)


class ClauseMemo(Generic[ResultT]):
    """A table whose entries are keyed by an argument and by the answers of the clauses asked."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, list[tuple[Clauses, Clauses, ResultT]]] = {}

    def get(self, key: Hashable, design: Clauses, compute: Callable[[Clauses], ResultT]) -> ResultT:
        """``compute(design)``, or what it gave under a design that answers the same questions alike."""
        entries = self._entries.setdefault(key, [])
        for asked, answers, result in entries:
            if design & asked == answers:
                return result
        noting = _Asked(design)
        noting.asked = []
        result = compute(noting)
        asked = frozenset(clause for clause in noting.asked if isinstance(clause, StrEnum))
        entries.append((asked, design & asked, result))
        return result
