"""The bulk engine: the plain engine's search, thousands of states at a time.

Same interface, same result (see `foldproof.explore.plain`), for machines over the core state. How it
works is told from the bottom up in `bulk_low`, `bulk_parts`, `bulk_tables`, `bulk_graph`, `bulk_layers`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from foldproof.explore.bulk_run import Run
from foldproof.explore.bulk_tables import Shared, Tables
from foldproof.explore.result import OnProgress, SearchResult
from foldproof.model.machine import Clauses, Machine

AUDITED = 3
"""States of each layer that are compared with the plain model."""


def search(
    machine: Machine[Any, Any],
    bound: int,
    design: Clauses | None = None,
    *,
    invariants: tuple[str, ...] | None = None,
    limit: int = 1,
    on_progress: OnProgress | None = None,
    shared: Shared | None = None,
    audited: int = AUDITED,
) -> SearchResult:
    """Visit every state that the machine reaches within its bound, layer by layer.

    As `foldproof.explore.plain.search`: a violating state is counted, not expanded; counterexamples are
    shortest, ``limit`` for each invariant. ``shared`` lets searches of one machine share their tables.
    ``audited`` states of each layer are compared with the plain model. Raises `UnsupportedError` for
    another machine or too large a bound, `TooLargeError` when the search outgrows its encoding.
    """
    design = machine.design if design is None else design
    checked = tuple(map(str, machine.invariants)) if invariants is None else invariants
    shared = Shared(machine) if shared is None else shared
    started = time.perf_counter()
    with _without_collection():
        run = Run(Tables(shared, bound, design, checked), checked, limit, audited, design != machine.design)
        for progress in run.layers():
            if on_progress is not None:
                on_progress(replace(progress, seconds=time.perf_counter() - started))
        found = run.counterexamples()
    return SearchResult(
        machine=machine.name,
        bound=bound,
        without=tuple(str(clause) for clause in machine.clauses if clause not in design),
        engine="bulk",
        states=run.states,
        transitions=run.transitions,
        depth=run.depth,
        seconds=time.perf_counter() - started,
        invariants=checked,
        events=run.transitions_by_event(),
        complete=True,
        counterexamples=found,
    )


@contextmanager
def _without_collection() -> Iterator[None]:
    """No cyclic garbage collection: a search makes millions of tuples and no cycles (a quarter faster)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
