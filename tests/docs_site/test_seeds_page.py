"""The page "from the seeds" names what exists, and leaves out nothing that the seeds number."""

from __future__ import annotations

import importlib
import re

import pytest

from docs_site.building import ROOT
from foldproof.model.machines import MACHINES

PAGE = (ROOT / "docs" / "from-the-seeds.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`([a-z_.]+:[A-Za-z_.]+)`", PAGE)))
TESTS = sorted(set(re.findall(r"`(test_\w+)`", PAGE)))
DEFINED = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
}


def resolve(name: str) -> object:
    module, _, path = name.partition(":")
    found: object = importlib.import_module(f"foldproof.{module}")
    for part in path.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_one_of_the_package(name: str) -> None:
    assert resolve(name) is not None


def test_every_test_that_is_named_exists() -> None:
    assert len(TESTS) > 60
    assert not set(TESTS) - DEFINED


def test_clauses_and_vectors_exist() -> None:
    clauses = {str(clause) for machine in MACHINES.values() for clause in machine.clauses}
    assert not set(re.findall(r"`([A-Z]\d+\w*)`", PAGE)) - clauses
    for name in re.findall(r"vector `([\w-]+)`", PAGE):
        assert (ROOT / "vectors" / f"{name}.json").exists(), name


def test_faults_are_named_as_the_command_line_takes_them() -> None:
    found = re.findall(r"`(?:--machine (\w+) )?--fault (P\d+)`", PAGE)
    assert len(found) == 12
    for machine, fault in found:
        assert fault in MACHINES[machine or "core"].faults


@pytest.mark.parametrize(
    "name",
    [
        *(f"P{n}" for n in range(1, 13)),
        *(f"repro {letter}" for letter in "ABCDEFG"),
        *(f"INV-{name}" for name in ("IDX", "CAL", "VIEW", "SYNC")),
        *("D1a", "D1b", "D1c", "D2", "D3", "D4"),
        *("F1", "F2", "F3", "F4", "0.2.0", "0.2.1"),
        *("history_read", "history_search"),
    ],
)
def test_nothing_that_is_numbered_is_left_out(name: str) -> None:
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", PAGE)


def test_the_check_can_fail() -> None:
    with pytest.raises(AttributeError):
        resolve("model.fold:sight")
    with pytest.raises(ModuleNotFoundError):
        resolve("model.vision:view")
