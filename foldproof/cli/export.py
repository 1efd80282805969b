"""``foldproof export``: the specification in the languages of other tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, UsageError
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
    writable_directory,
)
from foldproof.model.machine import Clauses, Machine

HELP = """Export the specification for other tools.

\b
  quint    the core kernel in Quint, with a package.json that installs the tool
  dot      the reachable states of a machine within a small bound, for Graphviz
  vectors  a shortest trace for every missing clause of a machine, as JSON, one file each
  smt2     the proof obligations as SMT-LIB 2, one file each: unsat is proved

quint and dot print one text unless --out names a directory; vectors and smt2 need --out.

\b
Examples:
  foldproof export quint --bound 6 > kernel.qnt
  foldproof export dot --machine memories --bound 2 | dot -Tsvg -o memories.svg
  foldproof export dot --bound 1 --fault P3 --out graphs
  foldproof export vectors --machine pass --bound 3 --out traces
"""

_WITHOUT_MACHINE = {"quint": "the twin is of the core", "smt2": "every machine's obligations are written"}

Files = dict[str, str]
"""What is exported: texts by file name."""

_DEFAULT_BOUND = {"quint": 5, "dot": 1, "vectors": 3, "smt2": 0}


def export(  # noqa: D103 - its help is HELP
    what: Annotated[str, typer.Argument(metavar="quint|dot|vectors|smt2", help="What to export.")],
    bound: Annotated[
        int | None, typer.Option("--bound", "-L", help="The greatest length of the history.")
    ] = None,
    machine: MachineName = "core",
    without: Without = None,
    fault: Fault = None,
    max_states: Annotated[int, typer.Option(help="dot: refuse graphs with more states.")] = 500,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the files there, not to stdout.")
    ] = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    if what not in _EXPORTS:
        raise UsageError(f"there is nothing called {what!r} to export; choose {', '.join(_EXPORTS)}")
    if out is None and what in ("vectors", "smt2"):
        raise UsageError(f"{what} means many files: name a directory with --out")
    spec = chosen_machine(machine)
    if spec.name != "core" and what in ("quint", "smt2"):
        raise UsageError(f"{what} has no --machine: {_WITHOUT_MACHINE[what]}")
    design = chosen_design(spec, without, fault)
    if design != spec.design and what != "dot":
        raise UsageError(f"{what} is of the whole design; --without and --fault are for dot")
    bound = checked_bound(_DEFAULT_BOUND[what] if bound is None else bound)
    files = _EXPORTS[what](spec, bound, design, max_states)
    written = [] if out is None else _write(files, out)
    if json_output:
        shown = {"text": next(iter(files.values()))} if out is None else {"files": written}
        print_json({"what": what, "machine": spec.name, "bound": bound, **shown})
    elif out is None:
        typer.echo(next(iter(files.values())), nl=False)
    elif not quiet:
        typer.echo(f"{len(written)} files in {out}")
    return Exit.HOLDS


def _write(files: Files, out: Path) -> list[str]:
    folder = writable_directory(out)
    for name, text in files.items():
        try:
            (folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {folder / name}: {error.strerror}") from error
    return [str(folder / name) for name in files]


def _quint(machine: Machine[Any, Any], bound: int, design: Clauses, max_states: int) -> Files:
    from foldproof.explore.quint import KERNEL, kernel_source, package_file  # noqa: PLC0415

    return {KERNEL: kernel_source(bound), "package.json": package_file()}


def _dot(machine: Machine[Any, Any], bound: int, design: Clauses, max_states: int) -> Files:
    from foldproof.report.dot import TooManyStatesError, state_graph  # noqa: PLC0415

    try:
        return {f"{machine.name}-{bound}.dot": state_graph(machine, bound, design, max_states)}
    except TooManyStatesError as error:
        raise UsageError(f"{error}; lower --bound or raise --max-states") from error


def _vectors(machine: Machine[Any, Any], bound: int, design: Clauses, max_states: int) -> Files:
    from foldproof.explore.vectors import trace_vectors  # noqa: PLC0415

    return trace_vectors(machine, bound)


def _smt2(machine: Machine[Any, Any], bound: int, design: Clauses, max_states: int) -> Files:
    from foldproof.proofs.obligations import OBLIGATIONS  # noqa: PLC0415
    from foldproof.proofs.solve import smt2  # noqa: PLC0415

    return {f"{name.replace('/', '-')}.smt2": smt2(o.formula()) for name, o in OBLIGATIONS.items()}


_EXPORTS: dict[str, Callable[[Machine[Any, Any], int, Clauses, int], Files]] = {
    "quint": _quint,
    "dot": _dot,
    "vectors": _vectors,
    "smt2": _smt2,
}
