"""No block of code on a page is unchecked: each kind is run, parsed, or held against the command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from docs_site.building import ROOT
from foldproof.cli.main import app

PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/README.md"),
     *ROOT.glob("examples/*/README.md"), *ROOT.glob("examples/*/*/README.md")]
)  # fmt: skip
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.M | re.S)

RUN_BY = {
    "console": {"tests/test_docs.py"},
    "python": {"tests/reference_io/test_docs_library.py", "tests/docs_site/test_recipes.py"},
    "yaml": {"tests/docs_site/test_recipes.py"},
}
"""Kinds of blocks that a test runs, and the tests that do; a page with one is named by its test."""
TOLD = {"text", "{toctree}", "{eval-rst}"}
"""Kinds that hold no code of a reader's: what is printed, and what the site itself is made of."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def wrong_options(line: str) -> list[str]:
    """What a ``foldproof`` command line names that the command does not have."""
    words = shlex.split(line.partition("  #")[0])[1:]
    command: Any = get_command(app)
    while words and hasattr(command, "commands"):
        if words[0] not in command.commands:
            return [words[0]]
        command = command.commands[words.pop(0)]
    own = words[: words.index("--")] if "--" in words else words
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    return [word for word in own if word.startswith("-") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    for kind, body in blocks(page):
        assert kind in {*RUN_BY, *TOLD, "sh", "json"}, f"{page.name}: a block of kind {kind!r}"
        if kind in ("python", "yaml"):
            tests = [ROOT / name for name in RUN_BY[kind]]
            assert any(page.name in test.read_text(encoding="utf-8") for test in tests), f"{kind} block"
        if kind == "sh":
            for line in body.splitlines():
                if line.startswith("foldproof "):
                    assert not wrong_options(line), f"{page.name}: {line}"


def test_the_check_can_fail() -> None:
    assert wrong_options("foldproof check --bound 3 --fault P1") == []
    assert wrong_options("foldproof recall search log word --limit 3") == []
    assert wrong_options("foldproof conform --exhaustive 2 -- python x.py --whatever") == []
    assert wrong_options("foldproof check --depth 3") == ["--depth"]
    assert wrong_options("foldproof chekc") == ["chekc"]
