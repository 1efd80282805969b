"""``foldproof gallery``: every fault's shortest trace as pages, with one page that leads to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.explore import CORE_BOUND
from foldproof.cli.options import (
    EngineName,
    Json,
    Quiet,
    Seed,
    checked_bound,
    chosen_engine,
    chosen_machine,
    print_json,
    searched,
    writable_directory,
)
from foldproof.cli.progress import progress_rows
from foldproof.explore.engines import for_matrix
from foldproof.explore.matrix import necessity
from foldproof.model.machine import Machine
from foldproof.model.machines import MACHINES

OTHER_BOUND = 3

HELP = """Make a gallery: the shortest traces of each clause and fault as pages, and an index of them.

The index shows how an undo makes a prompt invisible, each invariant with what is known of it, the faults,
and for each machine a map of what breaks without each clause; every cell leads to its trace.

\b
Examples:
  foldproof gallery -o gallery
  foldproof gallery -o gallery --machine core --bound 4
  foldproof prove --json > prove.json; foldproof gallery -o gallery --results prove.json

\b
Exit codes: 0 the pages are written, 2 usage, 3 a results file cannot be used.
"""


def gallery(  # noqa: D103 - its help is HELP
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write to.")] = Path(
        "gallery"
    ),
    machine: Annotated[
        list[str] | None, typer.Option(help="Show this machine. Repeatable. [default: all]")
    ] = None,
    bound: Annotated[
        int | None,
        typer.Option(
            help="Most messages in a history.", show_default="5; 3 for other machines than the core"
        ),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="JSON of prove, conform, validate, mutation or refinement. Repeatable."
        ),
    ] = None,
    states: Annotated[
        int, typer.Option(min=0, help="States embedded around each run, for going on from it.")
    ] = 40,
    engine: EngineName = "auto",
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.report.explorer.gallery import gallery_pages  # noqa: PLC0415 - jinja2
    from foldproof.report.explorer.results import ResultError, read_results  # noqa: PLC0415

    specs = [chosen_machine(name) for name in machine or MACHINES]
    if bound is not None:
        checked_bound(bound)
    try:
        joined = read_results(results or [])
    except ResultError as error:
        raise IncompleteError(str(error)) from error
    directory = writable_directory(output)
    chosen = chosen_engine(engine)
    wings = [_wing(spec, bound, chosen, quiet=quiet or json_output) for spec in specs]
    written: list[str] = []
    for name, page in gallery_pages(wings, joined, states):
        try:
            (directory / name).write_text(page, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {directory / name}: {error.strerror}") from error
        written.append(name)
    index = directory / written[-1]
    if json_output:
        print_json({"index": str(index), "pages": written})
    elif not quiet:
        typer.echo(f"{index}: {len(written)} pages; open it in a browser")
    return Exit.HOLDS


def _wing(machine: Machine[Any, Any], bound: int | None, engine: str, *, quiet: bool) -> Any:
    from foldproof.report.explorer.gallery import Wing  # noqa: PLC0415 - jinja2

    limit = bound if bound is not None else CORE_BOUND if machine.name == "core" else OTHER_BOUND
    search = for_matrix(engine, machine, limit)
    with progress_rows(f"searching the {machine.name} machine", quiet=quiet) as on_row:
        return searched(
            lambda: Wing(
                machine,
                search(machine, limit, machine.design),
                necessity(machine, limit, engine=search, on_row=on_row),
                {
                    fault: search(machine, limit, machine.without(*map(str, clauses)))
                    for fault, clauses in machine.faults.items()
                },
            )
        )
