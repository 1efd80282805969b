"""``foldproof matrix``: which invariants break without each clause."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from foldproof.cli.errors import Exit, UsageError
from foldproof.cli.options import (
    EngineName,
    Json,
    MachineName,
    Quiet,
    Seed,
    checked_bound,
    chosen_engine,
    chosen_machine,
    print_json,
    searched,
)
from foldproof.cli.progress import progress_rows
from foldproof.cli.results import WIDTH
from foldproof.explore.engines import for_matrix
from foldproof.explore.forked import cores
from foldproof.explore.matrix import Break, Matrix, Row, necessity
from foldproof.model.machines import MACHINES

HELP = """Take each clause of the design away and show what breaks: the necessity matrix.

Each cell is a shortest trace, with the least bound that has one of its length. A clause that breaks
nothing by itself says so; with --pairs, a pair is listed when it breaks what neither of its clauses
breaks alone.

\b
Examples:
  foldproof matrix
  foldproof matrix --machine pass
  foldproof matrix --bound 3 --pairs --json
"""


def matrix(  # noqa: D103 - its help is HELP
    bound: Annotated[
        int | None,
        typer.Option(
            *("--bound", "-L"),
            help="The greatest length of the history. Each machine has a default: "
            f"{', '.join(f'{name} {machine.bounds.matrix}' for name, machine in MACHINES.items())}.",
        ),
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Take every two clauses away as well.")] = False,
    machine: MachineName = "core",
    engine: EngineName = "auto",
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that share the designs; by default one for each processor core."),
    ] = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    spec = chosen_machine(machine)
    bound = checked_bound(bound, spec.bounds.matrix)
    search = for_matrix(chosen_engine(engine), spec, bound)
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is a number of processes, at least 1, not {workers}")
    shared_by = cores() if workers is None else workers
    rows = progress_rows(f"searching the {machine} machine", quiet=quiet or json_output)
    with rows as on_row:
        result = searched(
            lambda: necessity(spec, bound, pairs=pairs, engine=search, workers=shared_by, on_row=on_row)
        )
    if json_output:
        print_json(matrix_json(result))
    else:
        _show(result, quiet=quiet)
    return Exit.HOLDS


def matrix_json(result: Matrix) -> dict[str, Any]:
    """The JSON that ``matrix`` promises."""
    return {
        "machine": result.machine,
        "bound": result.bound,
        "rows": [
            {
                "without": list(row.without),
                "broken": {name: _break_json(found) for name, found in row.broken.items()},
                "beyond_parts": list(row.beyond_parts),
            }
            for row in result.rows
        ],
    }


def _break_json(found: Break) -> dict[str, Any]:
    return {
        "bound": found.bound,
        "trace": [str(event) for event in found.shortest.events],
        "why": str(found.shortest.violation),
        "least_bound": found.least_bound,
        "least_trace": [str(event) for event in found.least.events],
        "consequence": found.consequence,
    }


def _show(result: Matrix, *, quiet: bool) -> None:
    console = Console(width=WIDTH, highlight=False)
    table = Table(title=f"What breaks without each clause, histories of up to {result.bound} messages")
    table.add_column("without")
    for name in result.invariants:
        table.add_column(name, justify="center")
    table.add_column("says, or what the pair adds", overflow="fold")
    clauses = {str(clause): getattr(clause, "says", "") for clause in _clauses(result.machine)}
    listed = [row for row in result.rows if len(row.without) == 1 or row.beyond_parts]
    for row in listed:
        cells = [_cell(row, name) for name in result.invariants]
        note = clauses[row.without[0]] if len(row.without) == 1 else f"adds {', '.join(row.beyond_parts)}"
        table.add_row(" + ".join(row.without), *cells, note)
    console.print(table)
    console.print(
        "A cell gives the events of a shortest trace and the history it needs; (…) breaks only after another."
    )
    pairs = sum(len(row.without) > 1 for row in result.rows)
    if pairs:
        shown = sum(len(row.without) > 1 for row in listed)
        console.print(f"{pairs} pairs searched; {shown} break what neither of their clauses breaks alone.")
    if quiet:
        return
    for row in listed:
        for name, found in row.broken.items():
            trace = "; ".join(map(str, found.shortest.events))
            late = " (in consequence)" if found.consequence else ""
            console.print(f"{' + '.join(row.without)}: {name}{late}: {trace}", soft_wrap=True)


def _cell(row: Row, invariant: str) -> str:
    found = row.broken.get(invariant)
    if found is None:
        return "-"
    text = f"{len(found.shortest.events)} @ L={found.bound}"
    return f"({text})" if found.consequence else text


def _clauses(machine: str) -> tuple[Any, ...]:
    return chosen_machine(machine).clauses
