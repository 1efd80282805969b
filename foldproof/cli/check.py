"""``foldproof check``: the main job, all reachable states within a bound against all invariants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import (
    Bound,
    EngineName,
    Fault,
    InvariantNames,
    Json,
    MachineName,
    Quiet,
    Seed,
    TraceDir,
    Without,
    checked_bound,
    chosen_design,
    chosen_engine,
    chosen_invariants,
    chosen_machine,
    print_json,
    searched,
)
from foldproof.cli.progress import progress_line
from foldproof.cli.results import result_json, show_result, write_traces
from foldproof.explore import engines, plain
from foldproof.explore.result import SearchResult
from foldproof.explore.witness import SITUATIONS, witness
from foldproof.model.machine import Clauses, Machine
from foldproof.model.seed_invariants import SEED_INVARIANTS

MAX_MEMORY = 2**20
"""Gibibytes: what no machine has."""

HELP = """Check every reachable state within a bound against every invariant.

A state that violates an invariant is counted and not expanded, so a counterexample shows the first
violation of its run, and no run that shows it is shorter.

\b
Examples:
  foldproof check                           the design, histories of up to 6 messages
  foldproof check --bound 4 --fault P1      a known fault, its shortest traces
  foldproof check --without D9 --invariant IDX --trace-dir out
  foldproof check --machine pass            another machine, up to its own default bound
  foldproof check --witness nested-spans    show that a situation is reached

\b
Exit codes: 0 holds, 1 violated, 2 usage, 3 errored or incomplete.
"""


def check(  # noqa: D103 - its help is HELP
    bound: Bound = None,
    without: Without = None,
    fault: Fault = None,
    machine: MachineName = "core",
    invariant: InvariantNames = None,
    engine: EngineName = "auto",
    all_violations: Annotated[
        bool, typer.Option("--all-violations", help="Keep several counterexamples an invariant.")
    ] = False,
    limit: Annotated[int, typer.Option(help="How many, with --all-violations.")] = 10,
    past_violations: Annotated[
        int,
        typer.Option(
            metavar="DEPTH",
            help="Go on past violations, for runs of up to DEPTH events: what breaks only in consequence.",
        ),
    ] = 0,
    max_states: Annotated[int | None, typer.Option(help="Stop, incomplete, above this many states.")] = None,
    witness_of: Annotated[
        str | None, typer.Option("--witness", metavar="NAME", help="A shortest trace to a named situation.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Say which events were taken, with a witness for each clause.")
    ] = False,
    literal: Annotated[
        bool,
        typer.Option("--literal", help="Check the seed's invariants to the letter, not the stronger ones."),
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes that share the search (bulk engine).")] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Search on the Dask cluster with this scheduler.")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(metavar="GIB", help="Stop, incomplete, above this (bulk engine).")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the search there each minute; go on from it if it exists."),
    ] = None,
    trace_dir: TraceDir = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    spec = chosen_machine(machine)
    if literal:
        if spec.name != "core":
            raise UsageError(f"--literal is for the core machine, not for {machine}")
        spec = replace(spec, invariants=SEED_INVARIANTS)
    design = chosen_design(spec, without, fault)
    bound = checked_bound(bound, spec.bounds.check)
    if limit < 1 or past_violations < 0 or (max_states is not None and max_states < 1):
        raise UsageError("--limit and --max-states count from 1 on, --past-violations from 0 on")
    if witness_of is not None:
        return _witness(spec, witness_of, bound, design, json_output)
    with progress_line(f"checking {machine} at bound {bound}", quiet=quiet or json_output) as on_progress:
        result = _search(
            spec,
            bound,
            design,
            engine=chosen_engine(engine),
            invariants=chosen_invariants(spec, invariant),
            limit=limit if all_violations else 1,
            past_violations=past_violations,
            max_states=max_states,
            bulk_options=_bulk_options(workers, dask, memory, checkpoint),
            on_progress=on_progress,
        )
    covered = _coverage(spec, bound, design) if coverage else None
    if trace_dir is not None:
        write_traces(spec, result, design, trace_dir)
    if json_output:
        print_json(result_json(spec, result, design) | ({} if covered is None else {"coverage": covered}))
    else:
        show_result(spec, result, design, quiet=quiet)
        if covered is not None:
            for name, run in covered.items():
                typer.echo(f"{name}: {'; '.join(run) if run else 'never exercised within the bound'}")
    if result.violated:
        return Exit.VIOLATED
    return Exit.HOLDS if result.complete else Exit.ERRORED


def _search(
    machine: Machine[Any, Any],
    bound: int,
    design: Clauses,
    *,
    engine: str,
    past_violations: int,
    max_states: int | None,
    bulk_options: dict[str, Any],
    **options: Any,
) -> SearchResult:
    if bulk_options and (past_violations or max_states is not None or engine == "plain"):
        raise UsageError(
            "--workers, --dask, --memory and --checkpoint are for the bulk engine: leave out the other option"
        )
    if bulk_options:
        engine = "bulk"
        options |= bulk_options
    if not past_violations and max_states is None:
        return searched(lambda: engines.search(machine, bound, design, engine=engine, **options))
    if engine == "bulk":
        raise UsageError("--past-violations and --max-states need --engine plain")
    return plain.search(
        machine,
        bound,
        design,
        max_states=max_states,
        past_violations=past_violations > 0,
        max_depth=past_violations or None,
        **options,
    )


def _bulk_options(
    workers: int, dask: str | None, memory: float | None, checkpoint: Path | None
) -> dict[str, Any]:
    """What the bulk engine is asked beyond the ordinary; empty when it is asked nothing."""
    if workers < 1:
        raise UsageError(f"--workers is a number of processes, at least 1, not {workers}")
    if memory is not None and not 0 < memory < MAX_MEMORY:
        raise UsageError(f"--memory is an amount in GiB, above 0 and below {MAX_MEMORY:,}, not {memory}")
    if dask is not None and workers > 1:
        raise UsageError("--dask uses the workers of the cluster: leave out --workers")
    if checkpoint is not None and (workers > 1 or dask is not None):
        raise UsageError("--checkpoint is for a search in one process: leave out --workers and --dask")
    asked: dict[str, Any] = {} if checkpoint is None else {"checkpoint": checkpoint}
    if workers > 1:
        asked["workers"] = workers
    if dask is not None:
        asked["dask"] = dask
    if memory is not None:
        asked["memory"] = int(memory * 2**30)
    return asked


def _witness(machine: Machine[Any, Any], name: str, bound: int, design: Clauses, json_output: bool) -> int:
    if machine.name != "core" or name not in SITUATIONS:
        raise UsageError(f"there is no situation {name!r} of the core; there are {', '.join(SITUATIONS)}")
    run = witness(SITUATIONS[name], bound, design)
    if run is None:
        raise IncompleteError(f"no run within bound {bound} reaches {name}; try a greater --bound")
    events = [str(event) for event in run]
    if json_output:
        print_json({"witness": name, "bound": bound, "trace": events})
    else:
        typer.echo(f"{name}: {'; '.join(events)}")
    return Exit.HOLDS


def _coverage(machine: Machine[Any, Any], bound: int, design: Clauses) -> dict[str, list[str]]:
    """For each clause, a shortest run in which it matters; empty where there is none within bound."""
    from foldproof.explore.coverage import coverage as measure  # noqa: PLC0415 - only when asked for

    found = measure(machine, [], (), min(bound, 4), design)
    return {name: [str(event) for event in run or ()] for name, run in found.witnesses.items()}
