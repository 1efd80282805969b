"""``foldproof recall``: the recall tools on a log, from the shell."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from foldproof.cli.errors import Exit, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json

HELP = """Read and search what compaction took out of a session's context.

\b
Examples:
  foldproof recall search session.log ENOENT
  foldproof recall search session.log ENOENT --checkpoint c42 --limit 3
  foldproof recall read session.log c42
  foldproof recall read session.log c42 --offset 12000
"""

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode="rich")

Log = Annotated[Path, typer.Argument(help="A log, as foldproof compact --out writes it.", show_default=False)]
T = TypeVar("T")


@app.command()
def read(
    log: Log,
    checkpoint: Annotated[
        str, typer.Argument(help="The id in a checkpoint's footer: c42.", show_default=False)
    ],
    offset: Annotated[int, typer.Option(help="Go on from this character.")] = 0,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    """Read the original span that a checkpoint replaced, a page at a time."""
    from foldproof.cli.recall_options import read_session  # noqa: PLC0415
    from foldproof.reference.recall import RecallTools, as_json, read_text  # noqa: PLC0415

    page = _run(RecallTools(read_session(log)).history_read(checkpoint, offset))
    if json_output:
        print_json(as_json(page))
    else:
        typer.echo(page.text if quiet else read_text(page))
    return Exit.HOLDS


@app.command()
def search(
    log: Log,
    query: Annotated[str, typer.Argument(help="A literal text; case is ignored.", show_default=False)],
    checkpoint: Annotated[str | None, typer.Option(help="Search this checkpoint's span only.")] = None,
    limit: Annotated[int | None, typer.Option(help="How many snippets at most (20).")] = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    """Search every span that a checkpoint replaced."""
    from foldproof.cli.recall_options import read_session  # noqa: PLC0415
    from foldproof.reference.recall import RecallTools, as_json, search_text  # noqa: PLC0415

    page = _run(RecallTools(read_session(log)).history_search(query, checkpoint, limit))
    if json_output:
        print_json(as_json(page))
    elif quiet:
        for match in page.matches:
            typer.echo(f"{match.checkpoint} #{match.seq} {match.role}: {match.snippet}")
    else:
        typer.echo(search_text(page))
    return Exit.HOLDS


def _run(job: Coroutine[Any, Any, T]) -> T:
    from foldproof.reference.errors import RecallError  # noqa: PLC0415

    try:
        return asyncio.run(job)
    except RecallError as error:
        raise UsageError(str(error)) from error
