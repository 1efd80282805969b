"""The choice of engine: the same search, by whichever engine fits the machine and the bound."""

from __future__ import annotations

from typing import Any

from foldproof.explore import plain
from foldproof.explore.result import Engine, OnProgress, SearchResult
from foldproof.model.core import CORE
from foldproof.model.machine import Clauses, Machine

ENGINES = ("auto", "plain", "bulk")

BULK_FROM = 4
"""The bound from which the bulk engine, which has tables to fill first, is the faster one."""

MATRIX_FROM = 3
"""The same for a matrix, whose searches share their tables."""


def chosen(engine: str, machine: Machine[Any, Any], bound: int, bulk_from: int = BULK_FROM) -> str:
    """``plain`` or ``bulk`` for ``auto``; any other name as it is."""
    if engine != "auto":
        return engine
    return "bulk" if machine is CORE and bound >= bulk_from else "plain"


def search(
    machine: Machine[Any, Any],
    bound: int,
    design: Clauses | None = None,
    *,
    engine: str = "auto",
    invariants: tuple[str, ...] | None = None,
    limit: int = 1,
    on_progress: OnProgress | None = None,
    **bulk_options: Any,
) -> SearchResult:
    """Search exhaustively. Raises `foldproof.explore.bulk_low.BulkError` for what bulk cannot do.

    ``bulk_options`` (workers, dask, memory) are the bulk engine's, see `foldproof.explore.bulk.search`.
    """
    if chosen(engine, machine, bound) == "plain":
        return plain.search(
            machine, bound, design, invariants=invariants, limit=limit, on_progress=on_progress
        )

    from foldproof.explore import bulk  # noqa: PLC0415 - numpy is not needed for the plain engine

    return bulk.search(
        machine,
        bound,
        design,
        invariants=invariants,
        limit=limit,
        on_progress=on_progress,
        **bulk_options,
    )


def for_matrix(engine: str, machine: Machine[Any, Any], bound: int) -> Engine:
    """An engine for many searches of one machine, which share what they can."""
    if chosen(engine, machine, bound, MATRIX_FROM) == "plain":
        return plain.search

    from foldproof.explore import bulk  # noqa: PLC0415 - numpy is not needed for the plain engine
    from foldproof.explore.bulk_tables import Shared  # noqa: PLC0415 - as above

    shared = Shared(machine)

    def search_sharing(machine: Any, bound: int, design: Any = None, **options: Any) -> SearchResult:
        return bulk.search(machine, bound, design, shared=shared, **options)

    return search_sharing
