"""Every command that the README and the docs show is run, and prints what they show.

A fenced ``console`` block holds commands (lines that start with ``$ ``), each followed by its exact
output; a line ``...`` there matches any number of lines, ``...`` within a line any text. A block behind
``<!-- nightly -->`` takes long and is run by the nightly campaign, one behind ``<!-- not run: why -->``
needs what no test has, and says what. All blocks of a page run in one folder, in which the project's
own samples are linked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SAMPLES = ("docs", "examples", "vectors", "tests", "benchmarks", "Makefile")
BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]*?) -->\n)?^```console\n(?P<body>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Command:
    line: int
    text: str
    output: str


@dataclass(frozen=True)
class Block:
    mark: str
    commands: tuple[Command, ...]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("body")) + 1
        commands: list[Command] = []
        for offset, row in enumerate(match["body"].splitlines()):
            if row.startswith("$ "):
                commands.append(Command(line + offset, row[2:], ""))
            elif not commands:
                raise AssertionError(f"{page.name}:{line + offset}: output before any command")
            else:
                last = commands[-1]
                commands[-1] = Command(last.line, last.text, last.output + row + "\n")
        found.append(Block(match["mark"] or "", tuple(commands)))
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether what was printed is what is shown, with ``...`` for any lines and any text."""
    rows = []
    for row in shown.rstrip("\n").split("\n"):
        if row.strip() == "...":
            rows.append(r"(?:[^\n]*\n)*?")
        else:
            rows.append(
                r"[^\n]*?".join(re.escape(part.rstrip()) for part in row.rstrip().split("...")) + r"\s*?\n"
            )
    return re.fullmatch("".join(rows), printed.rstrip("\n") + "\n") is not None


def run_blocks(page: Path, chosen: list[Block], folder: Path) -> None:
    for name in SAMPLES:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"}
    for block in chosen:
        for command in block.commands:
            done = subprocess.run(
                ["bash", "-c", command.text], cwd=folder, env=environment, capture_output=True, text=True,
                timeout=600, check=False,
            )  # fmt: skip
            printed = done.stdout + done.stderr
            assert done.returncode in (0, 1), f"{page.name}:{command.line}: exit {done.returncode}\n{printed}"
            assert "Traceback" not in printed, f"{page.name}:{command.line}:\n{printed}"
            assert matches(command.output or "\n", printed or "\n"), (
                f"{page.name}:{command.line}: $ {command.text}\n"
                f"--- shown\n{command.output}--- printed\n{printed}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    run_blocks(page, [block for block in blocks(page) if not block.mark], tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_long_commands_too(page: Path, tmp_path: Path) -> None:
    run_blocks(page, [block for block in blocks(page) if not block.mark.startswith("not run")], tmp_path)


def test_every_mark_is_one_that_we_know() -> None:
    marks = {block.mark for page in PAGES for block in blocks(page)}
    assert all(mark in ("", "nightly") or mark.startswith("not run: ") for mark in marks), marks


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"


def test_the_check_can_fail() -> None:
    assert matches("a\n...\nz\n", "a\nb\nc\nz\n")
    assert matches("took ... s\n", "took 1.5 s\n")
    assert not matches("a\n", "b\n")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a ... c\n", "a b\n")
