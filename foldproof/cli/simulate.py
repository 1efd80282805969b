"""``foldproof simulate``: seeded random runs, for bounds beyond exhaustion."""

from __future__ import annotations

from typing import Annotated

import typer

from foldproof.cli.errors import Exit, UsageError
from foldproof.cli.options import (
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
    chosen_invariants,
    chosen_machine,
    print_json,
)
from foldproof.cli.progress import progress_line
from foldproof.cli.results import result_json, show_result, write_traces
from foldproof.explore.simulate import simulate as walk

HELP = """Walk at random through a machine and check every state on the way.

For bounds that no exhaustive search reaches. What violates an invariant is shrunk: no single event of
the trace shown can be left out. Simulation never proves: an invariant without a counterexample stays
unchecked, and the exit code is 0.

\b
Examples:
  foldproof simulate --bound 30 --runs 1000 --depth 100
  foldproof simulate --bound 12 --fault P8 --seed 7
"""


def simulate(  # noqa: D103 - its help is HELP
    bound: Annotated[int, typer.Option("--bound", "-L", help="The greatest length of the history.")] = 20,
    runs: Annotated[int, typer.Option(help="How many walks.")] = 200,
    depth: Annotated[int, typer.Option(help="How many events a walk takes at most.")] = 100,
    without: Without = None,
    fault: Fault = None,
    machine: MachineName = "core",
    invariant: InvariantNames = None,
    all_violations: Annotated[
        bool, typer.Option("--all-violations", help="Keep up to 10 counterexamples an invariant.")
    ] = False,
    trace_dir: TraceDir = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    if runs < 1 or depth < 1:
        raise UsageError(f"--runs and --depth count walks and events: 1 or more, not {runs} and {depth}")
    spec = chosen_machine(machine)
    design = chosen_design(spec, without, fault)
    with progress_line(f"walking through {machine}", quiet=quiet or json_output) as on_progress:
        result = walk(
            spec,
            checked_bound(bound),
            design,
            runs=runs,
            depth=depth,
            seed=seed,
            invariants=chosen_invariants(spec, invariant),
            limit=10 if all_violations else 1,
            on_progress=on_progress,
        )
    if trace_dir is not None:
        write_traces(spec, result, design, trace_dir)
    if json_output:
        print_json(result_json(spec, result, design) | {"runs": runs, "seed": seed})
    else:
        show_result(spec, result, design, quiet=quiet)
    return Exit.VIOLATED if result.violated else Exit.HOLDS
