"""``foldproof scaffold``: write a ready adapter, to be filled in."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from foldproof.cli.errors import Exit, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json, writable_directory

HELP = """Write a ready adapter into a folder: it runs and passes as it is, with a toy session to be replaced.

\b
Examples:
  foldproof scaffold python my_adapter
  foldproof scaffold typescript my_adapter
"""
LANGUAGES = ("python", "typescript")


def scaffold(  # noqa: D103 - its help is HELP
    language: Annotated[str, typer.Argument(help="python or typescript.", show_default=False)],
    directory: Annotated[
        Path, typer.Argument(help="A folder, new or without these files.", show_default=False)
    ],
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    if language not in LANGUAGES:
        raise UsageError(f"there is no scaffold for {language!r}; choose from {', '.join(LANGUAGES)}")
    package = files("foldproof.conformance")
    contents = {
        entry.name: entry.read_bytes()
        for entry in package.joinpath("templates", language).iterdir()
        if entry.is_file()
    }
    if language == "python":
        contents["foldproof_adapter.py"] = package.joinpath("adapter.py").read_bytes()
    there = [name for name in sorted(contents) if (directory / name).exists()]
    if there:
        raise UsageError(f"{directory / there[0]} exists already; name another folder")
    writable_directory(directory)
    for name, content in sorted(contents.items()):
        (directory / name).write_bytes(content)
        if not quiet and not json_output:
            typer.echo(f"wrote {directory / name}")
    command = ["python", "adapter.py"] if language == "python" else ["node", "adapter.js"]
    if json_output:
        written = [str(directory / name) for name in sorted(contents)]
        print_json({"language": language, "files": written, "command": command})
    elif not quiet:
        typer.echo(f"now: cd {directory} && foldproof smoke -- {' '.join(command)}")
    return Exit.HOLDS
