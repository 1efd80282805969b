"""The wheel and the sdist hold the package; the installed command works from another folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
        text=True,
    )
    return out


def test_the_wheel_holds_the_package_alone(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"foldproof", *(top for top in tops if top.endswith(".dist-info"))}
    assert "foldproof/py.typed" in names
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "foldproof").rglob("*.py")}
    assert sources <= set(names)


def test_the_sdist_holds_what_the_tests_need(built: Path) -> None:
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "Makefile", "tests/conftest.py"} <= names
    assert not any("__pycache__" in name for name in names)


def test_the_installed_command_runs_from_another_folder(built: Path, tmp_path: Path) -> None:
    [wheel] = built.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)],
        check=True,
        capture_output=True,
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [str(tmp_path / "env" / "bin" / "foldproof"), "check", "--bound", "3", "--json"],
        cwd=elsewhere, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["states"] == 5_713
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("link", ["model", "reference", "stateful_tests", "proofs"])
def test_the_top_level_shows_the_owner_s_rooms(link: str) -> None:
    assert (ROOT / link).resolve() == ROOT / "foldproof" / link
