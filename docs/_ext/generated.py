"""What a page can be made of needs no upkeep: every command's own help, every module's own docstrings.

The page of the command line ends in the first, each page of the API in the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import foldproof
from foldproof.cli.main import app as command_line

PACKAGE = Path(foldproof.__file__).parent
KINDS: dict[Any, str] = {int: "N", float: "NUMBER", Path: "PATH"}
"""What a value is called where the option gives it no name of its own."""


def commands() -> str:
    """Every command as Markdown: its help, its examples, its arguments and options."""
    return "\n".join(_group(get_command(command_line), "foldproof"))


def _group(group: Any, prefix: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        full = f"{prefix} {name}"
        yield f"\n## `{full}`\n"
        yield from _help(command.help or "")
        if hasattr(command, "commands"):
            yield from _group(command, full)
        else:
            yield from _parameters(command)


def _help(text: str) -> Iterator[str]:
    """A help text: paragraphs as they are, indented examples as a block."""
    for paragraph in text.replace("\b\n", "").split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        if any(line.startswith("  ") for line in lines):
            yield "\n".join(line for line in lines if not line.startswith("  "))
            yield "```text"
            yield from (line[2:] for line in lines if line.startswith("  "))
            yield "```\n"
        else:
            yield "\n".join(lines) + "\n"


def _parameters(command: Any) -> Iterator[str]:
    rows = [_row(one) for one in command.params if one.name != "help"]
    if rows:
        yield "| | default | |"
        yield "|---|---|---|"
        yield from rows
        yield ""


def _row(one: Any) -> str:
    named = (
        one.param_type_name == "option" if hasattr(one, "param_type_name") else one.opts[0].startswith("-")
    )
    flag = bool(getattr(one, "is_flag", False))
    kind = KINDS.get(getattr(one.type_descriptor, "annotation", None), "TEXT")
    value = "" if flag or not named else f" {one.metavar or kind}"
    name = ", ".join(f"`{option}{value}`" for option in (*one.opts, *one.secondary_opts))
    default = one.default if isinstance(one.show_default, bool) else one.show_default
    shown = "" if flag or default in (None, False, ()) else f"`{default}`"
    return f"| {name} | {shown} | {_cell(one.help or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def modules(room: str) -> str:
    """Every module of a room as Markdown that lets autodoc write it."""
    names = sorted(
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in (PACKAGE / room).rglob("*.py")
        if "templates" not in path.parts and path != PACKAGE / room / "__init__.py"
    )
    return "\n".join(_module(room, name) for name in names)


def _module(room: str, name: str) -> str:
    options = "\n".join(f"   :{option}:" for option in ("members", "undoc-members", "show-inheritance"))
    title = name.removeprefix(f"foldproof.{room}.")
    return f"\n## {title}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}\n```\n"


def _append(app: Any, docname: str, source: list[str]) -> None:
    if docname == "cli":
        source[0] += commands()
    elif docname.startswith("api/"):
        source[0] += modules(docname.removeprefix("api/"))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True}
