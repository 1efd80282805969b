"""Search results as a table, as JSON, and as trace files: the same for check and simulate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from foldproof.cli.options import writable_directory
from foldproof.explore.itf import to_itf
from foldproof.explore.result import Counterexample, SearchResult
from foldproof.explore.trace import record
from foldproof.model.machine import Clauses, Machine
from foldproof.report.text import statement, trace_lines

WIDTH = 110


def result_json(machine: Machine[Any, Any], result: SearchResult, design: Clauses) -> dict[str, Any]:
    """The JSON that ``check`` and ``simulate`` promise."""
    invariants: dict[str, Any] = {}
    for name in map(str, machine.invariants):
        entry: dict[str, Any] = {"verdict": result.verdict(name)}
        found = result.counterexamples.get(name, ())
        if found:
            first = found[0]
            entry |= {"trace": _names(first), "at": len(first.events), "why": str(first.violation)}
            if len(found) > 1:
                entry["others"] = [{"trace": _names(c), "why": str(c.violation)} for c in found[1:]]
        invariants[name] = entry
    return {
        "machine": result.machine,
        "bound": result.bound,
        "design": [str(clause) for clause in machine.clauses if clause in design],
        "without": list(result.without),
        "engine": result.engine,
        "states": result.states,
        "transitions": result.transitions,
        "depth": result.depth,
        "seconds": round(result.seconds, 3),
        "complete": result.complete,
        "events": result.events,
        "invariants": invariants,
    }


def show_result(machine: Machine[Any, Any], result: SearchResult, design: Clauses, *, quiet: bool) -> None:
    """A table of verdicts, then each counterexample step by step."""
    console = Console(width=WIDTH, highlight=False)
    missing = f" without {', '.join(result.without)}" if result.without else ""
    table = Table(title=f"The {result.machine} machine{missing}, histories of up to {result.bound} messages")
    table.add_column("invariant")
    table.add_column("says", overflow="fold")
    table.add_column("verdict")
    if result.violated:
        table.add_column("shortest counterexample", overflow="fold")
    for name in result.invariants:
        found = result.counterexamples.get(name, ())
        row = [name, statement(machine, name), result.verdict(name)]
        table.add_row(*row, *(["; ".join(_names(found[0])) if found else ""] if result.violated else []))
    console.print(table)
    extent = "every reachable state" if result.complete else "not every state: the search was cut off"
    console.print(
        f"{result.states:,} states, {result.transitions:,} transitions, {result.depth} layers; "
        f"{extent}; {result.engine} engine, {result.seconds:.1f} s"
    )
    if quiet:
        return
    shown: set[tuple[str, ...]] = set()
    for found in result.counterexamples.values():
        for counterexample in found:
            names = tuple(_names(counterexample))
            if names in shown:
                continue
            shown.add(names)
            typer.echo("")
            trace = record(machine, counterexample.events, design, result.bound)
            for line in trace_lines(trace):
                typer.echo(line)


def write_traces(
    machine: Machine[Any, Any], result: SearchResult, design: Clauses, directory: Path
) -> list[Path]:
    """Write each counterexample as JSON and as ITF, named by invariant and number."""
    directory = writable_directory(directory)
    written: list[Path] = []
    for name, found in result.counterexamples.items():
        for number, counterexample in enumerate(found, 1):
            trace = record(machine, counterexample.events, design, result.bound)
            stem = name if number == 1 else f"{name}-{number}"
            for path, value in (
                (directory / f"{stem}.json", trace.model_dump(mode="json")),
                (directory / f"{stem}.itf.json", to_itf(trace)),
            ):
                path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
                written.append(path)
    return written


def _names(counterexample: Counterexample) -> list[str]:
    return [str(event) for event in counterexample.events]
