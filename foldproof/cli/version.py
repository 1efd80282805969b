"""``foldproof version``: what a report should name."""

from __future__ import annotations

import json
import platform

import typer

from foldproof import __version__
from foldproof.cli.options import Json, Quiet, Seed

HELP = """Print the version; with --json also Python's and the system's.

\b
Examples:
  foldproof version
  foldproof --version
"""


def version(as_json: Json = False, quiet: Quiet = False, seed: Seed = 0) -> None:  # noqa: D103 - see HELP
    del quiet, seed  # every command takes them; here there is nothing to leave out or to choose
    if as_json:
        told = {"version": __version__, "python": platform.python_version(), "system": platform.system()}
        typer.echo(json.dumps(told))
    else:
        typer.echo(__version__)
