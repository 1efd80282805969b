"""Imports run downward: cli, then report, conformance and stateful_tests, then the rest, then model."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent.parent / "foldproof"

BELOW: dict[str, set[str]] = {
    "model": set(),
    "explore": {"model"},
    "proofs": {"model", "explore"},
    "reference": {"model"},
    "report": {"model", "explore", "proofs", "reference"},
    "conformance": {"model", "explore", "proofs", "reference", "report"},
    "stateful_tests": {"model", "explore", "proofs", "reference", "conformance"},
    "cli": {"model", "explore", "proofs", "reference", "report", "conformance", "stateful_tests"},
}
"""The rooms that each room may import from, itself aside."""


def imported(path: Path) -> set[str]:
    """Absolute names of all modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def rooms(names: set[str]) -> set[str]:
    parts = [name.split(".") for name in names if name.startswith("foldproof.")]
    return {part[1] for part in parts if (PACKAGE / part[1]).is_dir()}


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_from_below(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        upward = rooms(imported(path)) - BELOW[room] - {room}
        assert not upward, f"{path.relative_to(PACKAGE)} imports upward from {upward}"


def test_every_room_has_its_place() -> None:
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(BELOW)


def test_the_order_has_no_cycle() -> None:
    placed: set[str] = set()
    while len(placed) < len(BELOW):
        ready = {room for room, below in BELOW.items() if room not in placed and below <= placed}
        assert ready, "the rooms import in a circle"
        placed |= ready


def test_the_model_needs_the_standard_library_alone() -> None:
    for path in (PACKAGE / "model").rglob("*.py"):
        for name in imported(path):
            top = name.split(".")[0]
            assert (
                top in sys.stdlib_module_names or name.startswith("foldproof.model") or name == "foldproof"
            ), f"{path.name} imports {name}"


def test_the_check_can_fail(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text("from foldproof.cli import main\nimport numpy\n")
    assert rooms(imported(path)) == {"cli"}
    assert "numpy" in imported(path)
