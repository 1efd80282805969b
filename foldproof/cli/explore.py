"""``foldproof explore``: a failing run as a page that one can look at, step through and go on from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import (
    Fault,
    Json,
    MachineName,
    Quiet,
    Seed,
    Without,
    checked_bound,
    chosen_design,
    chosen_machine,
    print_json,
    searched,
)
from foldproof.cli.progress import progress_line
from foldproof.explore import engines
from foldproof.explore.tracefile import TraceError, read_trace
from foldproof.model.machine import Machine

CORE_BOUND = 5
OTHER_BOUND = 4
"""Bounds of a search where none is asked for: enough for every fault that is known, within seconds."""

HELP = """Make a page to look at: one self-contained HTML file that works offline.

It shows traces that are given, the shortest counterexamples of a fault, or one run that is spelled out;
the fault stands beside the design over the same events. The page opens at the violation.

\b
Examples:
  foldproof explore --fault P1 -o p1.html
  foldproof explore VIEW.json SYNC.itf.json -o traces.html
  foldproof explore --run faults/recorded.jsonl -o run.html
  foldproof explore --without D7 --events "Call(open); StepEnd; Call(close); StepEnd" -o d7.html

\b
Exit codes: 0 the page is written, whatever it shows; 2 usage, 3 a file is not a trace.
"""


def explore(  # noqa: D103 - its help is HELP
    traces: Annotated[
        list[Path] | None, typer.Argument(metavar="[TRACE]…", help="Traces, .json or .itf.json.")
    ] = None,
    fault: Fault = None,
    without: Without = None,
    machine: MachineName = "core",
    bound: Annotated[
        int | None,
        typer.Option(
            help="Most messages in a history.", show_default="5; 4 for other machines than the core"
        ),
    ] = None,
    events: Annotated[
        str | None, typer.Option(metavar="EVENTS", help="A run, its events separated by semicolons.")
    ] = None,
    run: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="A recorded conformance run, .jsonl, beside the model. Repeatable."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("run.html"),
    states: Annotated[
        int, typer.Option(min=0, help="States embedded around each run, for going on from it.")
    ] = 240,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    spec = chosen_machine(machine)
    asked = bool(fault or without or events is not None)
    if bool(traces) + bool(run) + asked != 1:
        raise UsageError(
            "give either traces, or --run FILE, or what to search or run: "
            "--fault P1, --without CLAUSE, --events RUN"
        )
    limit = checked_bound((CORE_BOUND if spec.name == "core" else OTHER_BOUND) if bound is None else bound)
    if traces:
        exhibits = _of_files(traces, states)
        title = ", ".join(path.name for path in traces)
    elif run:
        exhibits = _of_runs(run)
        title = ", ".join(path.name for path in run)
    elif events is not None:
        exhibits = [_of_events(spec, events, without, fault, limit, states)]
        title = "A run"
    else:
        exhibits = _of_search(spec, without, fault, limit, states, quiet=quiet or json_output)
        title = _title(spec, without, fault)
    _write(output, exhibits, title)
    if json_output:
        print_json({"file": str(output), "exhibits": [_entry(exhibit) for exhibit in exhibits]})
    elif not quiet:
        for exhibit in exhibits:
            first = exhibit["first"]
            end = f"{first['invariant']} breaks at step {first['step']}" if first else "nothing breaks"
            typer.echo(f"{exhibit['key'] or exhibit['machine']}: {len(exhibit['events'])} steps; {end}")
        typer.echo(f"{output}: written; open it in a browser")
    return Exit.HOLDS


def _of_files(paths: list[Path], states: int) -> list[dict[str, Any]]:
    from foldproof.report.explorer.exhibits import trace_exhibit  # noqa: PLC0415 - jinja2

    exhibits = []
    for path in paths:
        try:
            exhibits.append(trace_exhibit(read_trace(path), path.name.split(".")[0], states))
        except TraceError as error:
            text = str(error)
            raise IncompleteError(text if text.startswith(str(path)) else f"{path}: {text}") from error
    return exhibits


def _of_runs(paths: list[Path]) -> list[dict[str, Any]]:
    from foldproof.conformance.exhibits import run_exhibit  # noqa: PLC0415 - pydantic models
    from foldproof.conformance.runfile import RunError  # noqa: PLC0415

    try:
        return [run_exhibit(path) for path in paths]
    except RunError as error:
        raise IncompleteError(str(error)) from error


def _of_events(
    machine: Machine[Any, Any],
    text: str,
    without: list[str] | None,
    fault: list[str] | None,
    bound: int,
    states: int,
) -> dict[str, Any]:
    from foldproof.report.explorer.exhibits import exhibit  # noqa: PLC0415 - jinja2

    try:
        events = [machine.event_from_name(name) for part in text.split(";") if (name := part.strip())]
        return exhibit(machine, events, _lacks(machine, without, fault), bound, key="run", max_states=states)
    except ValueError as error:
        raise UsageError(f"--events: {error}") from error


def _of_search(
    machine: Machine[Any, Any],
    without: list[str] | None,
    fault: list[str] | None,
    bound: int,
    states: int,
    *,
    quiet: bool,
) -> list[dict[str, Any]]:
    from foldproof.report.explorer.exhibits import search_exhibits  # noqa: PLC0415 - jinja2

    design = chosen_design(machine, without, fault)
    with progress_line(f"searching {machine.name} at bound {bound}", quiet=quiet) as on_progress:
        result = searched(lambda: engines.search(machine, bound, design, on_progress=on_progress))
    if not result.violated:
        lacking = ", ".join(result.without)
        raise UsageError(
            f"nothing breaks without {lacking} up to bound {bound}, so there is no trace to show; "
            "give a greater --bound, or a run with --events"
        )
    return search_exhibits(machine, result, states)


def _lacks(machine: Machine[Any, Any], without: list[str] | None, fault: list[str] | None) -> tuple[str, ...]:
    design = chosen_design(machine, without, fault)
    return tuple(str(clause) for clause in machine.clauses if clause not in design)


def _title(machine: Machine[Any, Any], without: list[str] | None, fault: list[str] | None) -> str:
    names = [*(fault or ()), *(without or ())]
    return f"{' and '.join(names)}: what breaks in the {machine.name} machine"


def _write(path: Path, exhibits: list[dict[str, Any]], title: str) -> None:
    from foldproof.report.explorer.page import explorer_page  # noqa: PLC0415 - jinja2

    page = explorer_page(exhibits, title)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; name a file in a directory that exists"
        ) from error


def _entry(exhibit: dict[str, Any]) -> dict[str, Any]:
    return {
        "trace": exhibit["key"],
        "machine": exhibit["machine"],
        "without": exhibit["runs"][0]["without"],
        "events": exhibit["events"],
        "first": exhibit["first"],
    }
