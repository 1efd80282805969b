"""Options that several commands share, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from foldproof.cli.errors import IncompleteError, UsageError
from foldproof.explore.engines import ENGINES
from foldproof.model.machine import Clauses, Machine
from foldproof.model.machines import MACHINES

Result = TypeVar("Result")

MAX_BOUND = 64

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone: no progress.")]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed of every random choice; the same seed, the same output.")
]
Bound = Annotated[
    int | None,
    typer.Option(
        *("--bound", "-L"),
        help="The greatest length of the history. Each machine has a default that takes seconds: "
        f"{', '.join(f'{name} {machine.bounds.check}' for name, machine in MACHINES.items())}.",
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="CLAUSE", help="Take a clause of the design away. Repeatable."),
]
Fault = Annotated[
    list[str] | None,
    typer.Option("--fault", metavar="P1…", help="A known fault, by name. Repeatable."),
]
MachineName = Annotated[str, typer.Option("--machine", help=f"Which machine: {', '.join(MACHINES)}.")]
InvariantNames = Annotated[
    list[str] | None,
    typer.Option("--invariant", metavar="NAME", help="Check this invariant only. Repeatable."),
]
EngineName = Annotated[
    str,
    typer.Option("--engine", help="auto, plain or bulk (numpy, the core machine only); they find the same."),
]
TraceDir = Annotated[
    Path | None,
    typer.Option("--trace-dir", metavar="DIR", help="Write each counterexample there, as JSON and as ITF."),
]


def chosen_machine(name: str) -> Machine[Any, Any]:
    """The machine of this name. Raises `UsageError` for an unknown one."""
    if name not in MACHINES:
        raise UsageError(f"there is no machine {name!r}; choose from {', '.join(MACHINES)}")
    return MACHINES[name]


def chosen_design(machine: Machine[Any, Any], without: list[str] | None, faults: list[str] | None) -> Clauses:
    """The design without these clauses and faults. Raises `UsageError` for an unknown name."""
    missing = {str(clause) for clause in without or ()}
    for fault in faults or ():
        if fault not in machine.faults:
            elsewhere = [other.name for other in MACHINES.values() if fault in other.faults]
            hint = (
                f"it belongs to --machine {elsewhere[0]}"
                if elsewhere
                else f"it has {', '.join(machine.faults)}"
            )
            raise UsageError(f"the {machine.name} machine has no fault {fault!r}; {hint}")
        missing |= {str(clause) for clause in machine.faults[fault]}
    try:
        return machine.without(*sorted(missing))
    except ValueError as error:
        raise UsageError(str(error)) from error


def chosen_invariants(machine: Machine[Any, Any], names: list[str] | None) -> tuple[str, ...] | None:
    """The invariants of these names, with or without the prefix ``INV-``; None for all of them."""
    if not names:
        return None
    known = {str(name): str(name) for name in machine.invariants}
    plain = [name.upper().removeprefix("INV-") for name in names]
    for name in plain:
        if name not in known:
            raise UsageError(
                f"the {machine.name} machine has no invariant {name!r}; it has {', '.join(known)}"
            )
    return tuple(name for name in known if name in plain)


def checked_bound(bound: int | None, default: int = 0) -> int:
    """A bound that a search can take, ``default`` for none. Raises `UsageError` outside 0 to `MAX_BOUND`."""
    if bound is None:
        return default
    if not 0 <= bound <= MAX_BOUND:
        raise UsageError(f"--bound is the length of a history: from 0 to {MAX_BOUND}, not {bound}")
    return bound


def chosen_engine(name: str) -> str:
    """The name of an engine. Raises `UsageError` for an unknown one."""
    if name not in ENGINES:
        raise UsageError(f"there is no engine {name!r}; choose from {', '.join(ENGINES)}")
    return name


def searched(search: Callable[[], Result]) -> Result:
    """What a search gives; what an engine cannot do, or could not finish, becomes one line."""
    from foldproof.explore.bulk_low import BulkError, UnsupportedError  # noqa: PLC0415 - only here
    from foldproof.explore.forked import WorkerLostError  # noqa: PLC0415 - as above

    try:
        return search()
    except UnsupportedError as error:
        raise UsageError(f"{error}; use --engine plain") from error
    except (BulkError, WorkerLostError) as error:
        raise IncompleteError(str(error)) from error


def writable_directory(path: Path) -> Path:
    """The directory, made where it is missing. Raises `UsageError` when that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror}; name a directory") from error
    return path


def print_json(value: object) -> None:
    """One JSON object on stdout."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
