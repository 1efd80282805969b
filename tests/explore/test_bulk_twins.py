"""The benchmark's peers are exact twins: the C explorer and the SPIN model count what the model counts."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "bulk"
PINNED = {3: (5_713, 45_977), 4: (34_220, 304_509), 5: (188_043, 1_810_003), 6: (979_558, 10_049_525)}

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: the C twin cannot be compiled")
needs_spin = pytest.mark.skipif(shutil.which("spin") is None, reason="no spin: the SPIN twin cannot be built")


def explore(folder: Path, bound: int, source: Path = FOLDER) -> dict[str, float]:
    program = folder / "explorer"
    command = ["gcc", "-O2", f"-DBOUND={bound}", "-o", str(program), str(source / "explorer.c")]
    subprocess.run(command, check=True)
    found: dict[str, float] = json.loads(subprocess.run([program], capture_output=True, check=False).stdout)
    return found


def spin_twin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("spin_twin", FOLDER / "spin_twin.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_gcc
@pytest.mark.parametrize("bound", [3, 4, 5, 6])
def test_the_c_twin_counts_the_same(tmp_path: Path, bound: int) -> None:
    found = explore(tmp_path, bound)
    assert (found["states"], found["transitions"]) == PINNED[bound]
    assert found["violations"] == 0


@needs_gcc
def test_the_c_twin_checks_its_invariants(tmp_path: Path) -> None:
    """Without the rebase of D7, it finds violations: its zero is not for want of looking."""
    for name in ("kernel.h", "explorer.c"):
        source = (FOLDER / name).read_text()
        (tmp_path / name).write_text(source.replace("if (kind != OPEN) rebase(s);", ""))
    assert explore(tmp_path, 4, tmp_path)["violations"] > 0


@needs_gcc
@needs_spin
@pytest.mark.parametrize("bound", [3, 4, 5])
def test_the_spin_twin_counts_the_same(tmp_path: Path, bound: int) -> None:
    twin = spin_twin()
    pan = twin.build(bound, tmp_path)
    run = subprocess.run([pan, "-m1000000", "-w20"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = twin.figures(run.stdout)
    states, transitions = PINNED[bound]
    assert found["errors"] == 0
    assert (found["states"], found["transitions"] - 1) == (states, transitions)  # one step into the loop


@needs_gcc
@needs_spin
def test_spin_with_too_little_depth_is_not_believed(tmp_path: Path) -> None:
    twin = spin_twin()
    pan = twin.build(3, tmp_path)
    run = subprocess.run([pan, "-m50", "-w20"], cwd=tmp_path, capture_output=True, text=True, check=True)
    with pytest.raises(ValueError, match="lost states"):
        twin.figures(run.stdout)
