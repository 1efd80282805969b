"""The page of the command line ends in every command's own help, so that the two cannot differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from foldproof.cli.main import app as command_line

PAGE = "cli"
KINDS: dict[Any, str] = {int: "N", float: "NUMBER", Path: "PATH"}
"""What a value is called where the option gives it no name of its own."""


def reference() -> str:
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


def _append(app: Any, docname: str, source: list[str]) -> None:
    if docname == PAGE:
        source[0] += reference()


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True}
