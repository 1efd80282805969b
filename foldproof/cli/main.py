"""The ``foldproof`` command: registers one module a command and turns mistakes into one line."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from foldproof import __version__
from foldproof.cli import (
    check,
    compact,
    conform,
    explore,
    export,
    gallery,
    matrix,
    mcp,
    probe,
    prove,
    recall,
    replay,
    scaffold,
    simulate,
    smoke,
    validate,
    version,
)
from foldproof.cli.errors import Exit, IncompleteError, UsageError

app = typer.Typer(
    name="foldproof",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Views of an agent's history, made right and checkable.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    asked: Annotated[
        bool,
        typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_tell_version),
    ] = False,
) -> None:
    """Views of an agent's history, made right and checkable."""


app.command(help=check.HELP)(check.check)
app.command(help=matrix.HELP)(matrix.matrix)
app.command(help=simulate.HELP)(simulate.simulate)
app.command(help=replay.HELP)(replay.replay)
app.command(help=validate.HELP)(validate.validate)
app.command(help=conform.HELP)(conform.conform)
app.command(help=smoke.HELP)(smoke.smoke)
app.command(help=scaffold.HELP)(scaffold.scaffold)
app.command(help=explore.HELP)(explore.explore)
app.command(help=gallery.HELP)(gallery.gallery)
app.command(help=export.HELP)(export.export)
app.command(help=compact.HELP)(compact.compact)
app.add_typer(recall.app, name="recall")
app.command(help=mcp.HELP)(mcp.mcp)
app.command(help=probe.HELP)(probe.probe)
app.command(help=prove.HELP)(prove.prove)
app.command(help=version.HELP)(version.version)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with one of the exit codes of `Exit`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a log may hold lone surrogates
    code = run(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except OSError:  # nobody reads, or the disk is full: not a result, whatever the code was
        code = Exit.ERRORED
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code. A user's mistake is one line on stderr."""
    try:
        code = app(args=arguments, prog_name="foldproof", standalone_mode=False)
    except TyperException as error:
        text = error.format_message()
        return _complain(text, Exit.USAGE) if text else Exit.USAGE
    except UsageError as error:
        return _complain(str(error), Exit.USAGE)
    except IncompleteError as error:
        return _complain(str(error), Exit.ERRORED)
    except (Abort, KeyboardInterrupt):
        return _complain("interrupted", Exit.ERRORED)
    except SystemExit:  # typer's way to leave when the reader of a pipe has gone
        return Exit.ERRORED
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}", Exit.ERRORED)
    except Exception as error:
        if os.environ.get("FOLDPROOF_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        return _complain(f"internal error: {what}; FOLDPROOF_DEBUG=1 shows where", Exit.ERRORED)
    if code == 130:  # typer's own code for an interrupt
        return _complain("interrupted", Exit.ERRORED)
    return code if isinstance(code, int) else Exit.HOLDS


def _complain(text: str, code: Exit) -> int:
    typer.echo(f"foldproof: {text}", err=True)
    return code
