"""The notebooks are those of their sources, and a new run prints what is stored."""

from __future__ import annotations

import base64
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "notebooks"
NAMES = sorted(path.stem for path in (FOLDER / "sources").glob("*.py"))

nbformat = pytest.importorskip("nbformat", reason="notebooks need the extra: notebooks")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """``notebooks/make.py`` as a module."""
    pytest.importorskip("nbclient", reason="notebooks need the extra: notebooks")
    spec = importlib.util.spec_from_file_location("notebooks_make", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def test_there_are_five() -> None:
    assert len(NAMES) == 5
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_new_run_prints_what_is_stored(name: str) -> None:
    pytest.importorskip("nbclient", reason="notebooks need the extra: notebooks")
    done = subprocess.run(
        [sys.executable, str(FOLDER / "make.py"), "--check", name],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, f"run `make notebooks`\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_names_no_machine_and_has_no_error(name: str) -> None:
    text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|tmp|work|Users)/|site-packages", text)
    book = stored(name)
    nbformat.validate(book)
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text


@pytest.mark.parametrize("name", NAMES)
def test_prose_stands_between_the_cells(name: str) -> None:
    cells = stored(name).cells
    prose = [cell for cell in cells if cell.cell_type == "markdown"]
    assert cells[0].cell_type == "markdown"
    assert sum(len(cell.source.split()) for cell in prose) > 200
    for target in re.findall(r"\]\(([^)]+)\)", "\n".join(cell.source for cell in prose)):
        assert (FOLDER / target).exists(), target


def test_pictures_are_pictures() -> None:
    pictures = [
        base64.b64decode(output.data["image/png"])
        for name in NAMES
        for cell in stored(name).cells
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 5
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 5_000 for picture in pictures)


def test_they_are_small_enough_to_be_committed() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.ipynb")) < 3_000_000


def test_the_comparison_can_fail(maker: ModuleType) -> None:
    book = stored(NAMES[0])
    lines = list(maker.comparable(book))
    [cell] = [c for c in book.cells if any("188,043" in str(o.get("text")) for o in c.get("outputs", ()))]
    cell.outputs[0].text = cell.outputs[0].text.replace("188,043", "188,044")
    assert [a for a, b in zip(lines, maker.comparable(book), strict=True) if a != b] != []
    pages = stored(NAMES[1])
    before = list(maker.comparable(pages))
    [output, *_] = [o for c in pages.cells for o in c.get("outputs", ()) if "text/html" in o.get("data", {})]
    output.data["text/html"] = output.data["text/html"].replace("font-family", "font")
    assert list(maker.comparable(pages)) == before
    output.data["text/html"] = output.data["text/html"].replace("StepEnd", "StepEnds")
    assert list(maker.comparable(pages)) != before
    book = stored(NAMES[0])
    book.cells[0].source += " and more"
    assert list(maker.comparable(book)) != lines
