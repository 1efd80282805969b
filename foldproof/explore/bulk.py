"""The bulk engine: the plain engine's search, thousands of states at a time.

Same interface, same result (see `foldproof.explore.plain`), for machines over the core state. How it
works is told from the bottom up in `bulk_low`, `bulk_parts`, `bulk_tables`, `bulk_graph`, `bulk_layers`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from foldproof.explore.bulk_checkpoint import load, save
from foldproof.explore.bulk_dask import cluster
from foldproof.explore.bulk_low import BulkError, UnsupportedError
from foldproof.explore.bulk_parts import TooLargeError
from foldproof.explore.bulk_run import Run
from foldproof.explore.bulk_shard import Assignment
from foldproof.explore.bulk_tables import ROW_INVARIANTS, Shared, Tables
from foldproof.explore.bulk_workers import Tally, WorkerError, drive, processes
from foldproof.explore.result import Counterexample, OnProgress, SearchResult
from foldproof.model.machine import Clauses, Machine

__all__ = [
    "BulkError",
    "TooLargeError",
    "UnsupportedError",
    "WorkerError",
    "search",
]

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
    workers: int = 1,
    dask: str | None = None,
    memory: int | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: float = 60,
) -> SearchResult:
    """Visit every state that the machine reaches within its bound, layer by layer.

    As `foldproof.explore.plain.search`: a state that violates any invariant is counted, not expanded;
    counterexamples are shortest, ``limit`` for each of the ``invariants`` reported. ``shared`` lets
    searches of one machine share their tables. ``audited`` states of each layer are compared with the
    plain model. ``workers`` processes share the search, or the workers of the Dask cluster at the address
    ``dask``. ``memory`` bounds the bytes held for states and edges; a search that comes to hold more
    stops after its layer, and is not complete. With ``checkpoint`` a search in one process writes its
    state to that file after a layer, at most every ``checkpoint_every`` seconds and when ``memory`` stops
    it, goes on from the file if there is one, and removes it at the end. Raises `UnsupportedError` for
    another machine or too large a bound, `TooLargeError` when the search outgrows its encoding,
    `WorkerError` when a worker ends.
    """
    design = machine.design if design is None else design
    checked = tuple(map(str, machine.invariants))
    reported = checked if invariants is None else invariants
    started = time.perf_counter()
    with _without_collection():
        tables = Tables(Shared(machine) if shared is None else shared, bound, design, checked)
        if workers > 1 or dask is not None:
            if checkpoint is not None:
                raise UnsupportedError("a checkpoint is of a search in one process, not of several workers")

            def assignments(shards: int) -> list[Assignment]:
                work = (machine, bound, design, checked, audited)
                return [Assignment(*work, shard, shards) for shard in range(shards)]

            with processes(assignments(workers)) if dask is None else cluster(dask, assignments) as team:
                tally = drive(team, on_progress, memory)
            found = counterexamples_of(tally, tables, limit)
        else:
            run = Run(tables, checked, limit, audited, keep=design != machine.design)
            with _kept(run, checkpoint) as written:
                tally = _alone(run, on_progress, memory, written, checkpoint_every)
            found = run.counterexamples()
    return SearchResult(
        machine=machine.name,
        bound=bound,
        without=tuple(str(clause) for clause in machine.clauses if clause not in design),
        engine="bulk",
        states=tally.states,
        transitions=tally.transitions,
        depth=tally.depth,
        seconds=time.perf_counter() - started,
        invariants=reported,
        events=dict(sorted(tally.events.items())),
        complete=tally.complete,
        counterexamples={name: found[name] for name in reported},
    )


def _alone(
    run: Run,
    on_progress: OnProgress | None,
    memory: int | None,
    written: Callable[[], None],
    every: float,
) -> Tally:
    started = last = time.perf_counter()
    complete = True
    for progress in run.layers():
        now = time.perf_counter()
        if on_progress is not None:
            on_progress(replace(progress, seconds=now - started))
        if memory is not None and run.graph.nbytes + run.bits.nbytes > memory and progress.frontier:
            complete = False
            break
        if now - last > every:
            written()
            last = now
    if not complete:
        written()
    return Tally(run.states, run.transitions, run.depth, complete, run.transitions_by_event())


@contextmanager
def _kept(run: Run, path: Path | None) -> Iterator[Callable[[], None]]:
    """A way to write the run to a file, from which it first goes on; the file goes when the run is over."""
    if path is None:
        yield lambda: None
        return
    if path.exists():
        load(run, path)
    yield lambda: save(run, path)
    if not len(run.frontier.rows):
        path.unlink(missing_ok=True)


def counterexamples_of(tally: Tally, tables: Tables, limit: int) -> dict[str, tuple[Counterexample, ...]]:
    """The counterexamples of a sharded search: the first layers once more, in one process."""
    names = [name for name, bit in _bits(tables) if tables.checked & bit]
    deepest = 0
    for name in names:
        met = 0
        for depth, counts in enumerate(tally.violating):
            if counts.get(name) and met < limit:
                met += counts[name]
                deepest = max(deepest, depth)
    if not any(any(counts.values()) for counts in tally.violating):
        return dict.fromkeys(names, ())
    run = Run(tables, tuple(names), limit, 0, keep=True)
    for _ in run.layers(deepest):
        pass
    return run.counterexamples()


def _bits(tables: Tables) -> list[tuple[str, int]]:
    return [
        (str(name), 1 << ROW_INVARIANTS.index(name))
        for name in tables.machine.invariants
        if name in ROW_INVARIANTS
    ]


@contextmanager
def _without_collection() -> Iterator[None]:
    """No cyclic garbage collection: a search makes millions of tuples and no cycles (a quarter faster)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.unfreeze()  # what is left is old, and need not be looked through at once
            gc.enable()
