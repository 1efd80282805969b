"""The recipes for CI: their YAML parses, and their foldproof commands do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs_site.building import ROOT

PAGE = (ROOT / "docs" / "how-to-ci.md").read_text(encoding="utf-8")
RECIPES = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)]
FAULT = ("[places[-prompts] :]", "[places[-prompts]]")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, str):
        yield value
    elif not isinstance(value, (bool, int, float, type(None))):
        for part in value:
            yield from strings(part)


def commands(recipe: Any) -> list[str]:
    return [text for text in strings(recipe) if text.startswith("foldproof ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the scaffold's adapter in it."""
    assert run("foldproof scaffold python my_adapter --quiet", tmp_path).returncode == 0
    return tmp_path


def break_it(project: Path) -> None:
    adapter = project / "my_adapter" / "adapter.py"
    text = adapter.read_text(encoding="utf-8")
    assert FAULT[0] in text
    adapter.write_text(text.replace(*FAULT), encoding="utf-8")


def test_there_is_a_recipe_for_each() -> None:
    actions, gitlab, pre_commit = RECIPES
    assert actions["jobs"]["conform"]["steps"]
    assert gitlab["foldproof"]["artifacts"]["reports"]["junit"] == "foldproof.xml"
    [hook] = pre_commit["repos"][0]["hooks"]
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert all(commands(recipe) for recipe in RECIPES)


@pytest.mark.parametrize("recipe", RECIPES, ids=["actions", "gitlab", "pre-commit"])
def test_a_recipe_passes_what_holds_and_fails_what_does_not(recipe: Any, project: Path) -> None:
    for command in commands(recipe):
        done = run(command, project)
        assert done.returncode == 0, done.stdout + done.stderr
    break_it(project)
    codes = {command: run(command, project).returncode for command in commands(recipe)}
    assert [code for command, code in codes.items() if " conform " in command] == [1]
    assert all(code == 0 for command, code in codes.items() if " conform " not in command)
    if any("--save faults" in command for command in codes):
        assert (project / "faults" / "faults.html").exists()
    for command in codes:
        for option in ("--junit", "--markdown"):
            if (match := re.search(rf" {option} (\S+)", command)) is not None:
                assert (project / match[1]).stat().st_size > 100


def test_the_pytest_recipe(project: Path) -> None:
    [program] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    (project / "test_it.py").write_text(program, encoding="utf-8")
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider test_it.py"
    assert run(command, project).returncode == 0
    break_it(project)
    done = run(command, project)
    assert done.returncode == 1
    assert "resurrected" in done.stdout
