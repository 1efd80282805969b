"""``foldproof prove``: the invariants for histories of any length, by two solvers."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from foldproof.cli.countermodels import write_countermodels
from foldproof.cli.errors import Exit, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json, writable_directory

if TYPE_CHECKING:
    from foldproof.proofs.solve import Outcome

HELP = """Prove the invariants for histories of any length, with Z3 and with cvc5.

Each obligation is proved over the index arithmetic that the model runs on; its hypotheses are shown to
be satisfiable, and a wrong rule, its mutant, is shown to be refuted. A solver that does not know, or
takes too long, fails the obligation by name.

\b
Examples:
  foldproof prove                              every obligation, both solvers
  foldproof prove --obligation 'Undo/*'        the inductive steps of one event
  foldproof prove --obligation 'index/*' --solver z3
  foldproof prove --smt2 out                   write each obligation as SMT-LIB 2
  foldproof prove --countermodels out          what each missing clause breaks, as traces
  foldproof prove --list                       names and statements, without proving anything

\b
Exit codes: 0 proved, 1 refuted, 2 usage, 3 unknown, timed out, vacuous, or a mutant missed.
"""

WIDTH = 110
MAX_TIMEOUT = 86_400


def prove(  # noqa: D103 - its help is HELP
    obligation: Annotated[
        list[str] | None,
        typer.Option(
            "--obligation", metavar="NAME", help="Prove this one; * stands for anything. Repeatable."
        ),
    ] = None,
    solver: Annotated[str, typer.Option(help="z3, cvc5 or both.")] = "both",
    smt2: Annotated[
        Path | None, typer.Option("--smt2", metavar="DIR", help="Write each obligation there, as SMT-LIB 2.")
    ] = None,
    countermodels: Annotated[
        Path | None,
        typer.Option(
            "--countermodels",
            metavar="DIR",
            help="Prove nothing: for each missing clause write a concrete countermodel there, as a trace.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds a solver has for one question.")] = 120,
    workers: Annotated[int, typer.Option(help="Processes; 0 for two, where there are two cores.")] = 0,
    only_list: Annotated[bool, typer.Option("--list", help="List the obligations, prove nothing.")] = False,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.proofs.obligations import OBLIGATIONS  # noqa: PLC0415 - loads z3
    from foldproof.proofs.solve import Solvers, decide_all  # noqa: PLC0415 - loads z3

    names = _chosen(obligation, list(OBLIGATIONS))
    if solver not in tuple(Solvers):
        raise UsageError(f"there is no solver {solver!r}; choose {', '.join(Solvers)}")
    if not 0.001 <= timeout <= MAX_TIMEOUT:
        raise UsageError(f"--timeout is in seconds, from 0.001 to {MAX_TIMEOUT:,}, not {timeout:g}")
    if workers < 0:
        raise UsageError(f"--workers counts processes: 1 or more, or 0 to choose, not {workers}")
    if only_list:
        return _list(names, json_output)
    if countermodels is not None:
        return write_countermodels(names, countermodels, json_output=json_output, quiet=quiet)
    directory = None if smt2 is None else writable_directory(smt2)
    outcomes: dict[str, Outcome] = {}
    processes = workers or min(2, os.cpu_count() or 1)
    with _progress(len(names), quiet=quiet or json_output) as show:
        for outcome, text in decide_all(names, Solvers(solver), timeout, processes):
            outcomes[outcome.name] = outcome
            if directory is not None:
                _write(directory / f"{outcome.name.replace('/', '-')}.smt2", text)
            show(outcome)
    ordered = [outcomes[name] for name in names]
    if json_output:
        print_json({"solver": solver, "obligations": [_entry(outcome) for outcome in ordered]})
    else:
        _show(ordered)
    if any(outcome.refuted for outcome in ordered):
        return Exit.VIOLATED
    return Exit.ERRORED if any(outcome.failures for outcome in ordered) else Exit.HOLDS


def _chosen(wanted: list[str] | None, known: list[str]) -> list[str]:
    if not wanted:
        return known
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in known):
            kinds = sorted({name.partition("/")[0] for name in known})
            raise UsageError(
                f"there is no obligation {pattern!r}; names are KIND/NAME with KIND one of "
                f"{', '.join(kinds)}: see foldproof prove --list"
            )
    return [name for name in known if any(fnmatchcase(name, pattern) for pattern in wanted)]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another directory") from error


def _list(names: list[str], json_output: bool) -> int:
    from foldproof.proofs.obligations import OBLIGATIONS  # noqa: PLC0415 - loads z3

    chosen = [OBLIGATIONS[name] for name in names]
    if json_output:
        print_json({"obligations": [{"name": o.name, "statement": o.statement} for o in chosen]})
    else:
        for o in chosen:
            typer.echo(f"{o.name:24} {o.statement}")
    return Exit.HOLDS


def _entry(outcome: Outcome) -> dict[str, Any]:
    from foldproof.proofs.obligations import OBLIGATIONS  # noqa: PLC0415 - loads z3
    from foldproof.proofs.solve import Answer  # noqa: PLC0415 - loads z3

    o = OBLIGATIONS[outcome.name]
    place = {} if o.event is None else {"event": o.event, "invariant": str(o.invariant)}
    solvers = {"z3": outcome.z3, "cvc5": outcome.cvc5}
    return {
        "name": o.name,
        "statement": o.statement,
        **place,
        **{name: str(answer) for name, answer in solvers.items() if answer is not None},
        "seconds": round(outcome.seconds, 3),
        "satisfiable": outcome.satisfiable,
        "mutant": o.mutant.name if outcome.mutant is Answer.REFUTED else None,
        "failures": outcome.failures,
    }


def _show(outcomes: list[Outcome]) -> None:
    from rich.console import Console  # noqa: PLC0415 - not for --json
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from foldproof.proofs.obligations import OBLIGATIONS  # noqa: PLC0415 - loads z3

    table = Table()
    table.add_column("obligation", no_wrap=True)
    table.add_column("says", overflow="fold")
    for name in ("z3", "cvc5", "seconds"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    table.add_column("mutant caught", overflow="fold")
    for outcome in outcomes:
        o = OBLIGATIONS[outcome.name]
        answers = [str(answer) if answer is not None else "-" for answer in (outcome.z3, outcome.cvc5)]
        caught = str(o.mutant.name) if outcome.mutant == "refuted" else "none"
        table.add_row(o.name, escape(o.statement), *answers, f"{outcome.seconds:.1f}", escape(caught))
    console = Console(width=WIDTH, highlight=False)
    console.print(table)
    failed = [outcome for outcome in outcomes if outcome.failures]
    for outcome in failed:
        typer.echo(f"{outcome.name}: {'; '.join(outcome.failures)}")
    typer.echo(f"{len(outcomes) - len(failed)} of {len(outcomes)} obligations proved")


class _Shower(Protocol):
    def __call__(self, outcome: Outcome) -> None: ...


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[_Shower]:
    """A progress bar on a terminal's stderr; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda outcome: None
        return

    from rich.console import Console  # noqa: PLC0415 - nothing to draw in a pipe
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("proving", total=total)
        yield lambda outcome: bar.update(task, advance=1, description=f"proved {outcome.name}")
