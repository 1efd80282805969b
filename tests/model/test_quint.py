"""The Quint twin: its traces are followed by our model, and our runs are taken by Quint."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from foldproof.explore import quint
from foldproof.explore.plain import transitions_breadth_first
from foldproof.explore.trace import run
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN
from foldproof.model.events import Event
from foldproof.model.state import INITIAL

INVARIANTS = ("invIdx", "invCal", "invView", "invSync")
Quint = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def quint_command(tmp_path_factory: pytest.TempPathFactory) -> Quint:
    """Quint, installed by npm for this session; skips, saying so, where that cannot be."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed, so the Quint twin is not run")
    home = tmp_path_factory.mktemp("quint")
    shutil.copy(str(files("foldproof.model") / "quint" / "package.json"), home / "package.json")
    install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    installed = subprocess.run(install, cwd=home, capture_output=True, text=True, timeout=300, check=False)
    if installed.returncode:
        pytest.skip(f"npm cannot install Quint here: {installed.stderr.strip().splitlines()[-1:]}")

    def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        program = [str(home / "node_modules" / ".bin" / "quint"), *arguments]
        return subprocess.run(program, cwd=cwd, capture_output=True, text=True, timeout=1_800, check=False)

    return command


def _simulate(quint_command: Quint, folder: Path, source: str, traces: int, seed: int) -> list[Path]:
    """ITF traces of random runs of a kernel."""
    (folder / quint.KERNEL).write_text(source)
    done = quint_command(
        *("run", "--backend", "typescript", "--max-steps", "30", "--seed", str(seed)),
        *("--max-samples", str(traces), "--n-traces", str(traces), "--out-itf", "run_{seq}.itf.json"),
        quint.KERNEL,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    written = sorted(folder.glob("run_*.itf.json"))
    assert len(written) == traces
    return written


def _take(
    quint_command: Quint, folder: Path, source: str, runs: Sequence[Sequence[Event]], bound: int
) -> bool:
    """Whether Quint takes our runs, expecting our states and enabled events."""
    (folder / quint.KERNEL).write_text(source)
    (folder / "runs.qnt").write_text(quint.runs_module(runs, bound))
    done = quint_command(
        *("test", "--backend", "typescript", "--max-samples", "1", "--main", "runs", "runs.qnt"), cwd=folder
    )
    assert f"{len(runs)} passing" in done.stdout or done.returncode != 0
    return done.returncode == 0


def _shortest_runs(bound: int, every: int) -> list[list[Event]]:
    """A shortest run to every so-many-th reachable state."""
    seen, runs = {INITIAL}, []
    for _, _, after, how in transitions_breadth_first(CORE, bound, DESIGN):
        if after not in seen:
            seen.add(after)
            if len(seen) % every == 0:
                runs.append(how())
    return runs


def test_the_twin_type_checks(quint_command: Quint, tmp_path: Path) -> None:
    (tmp_path / quint.KERNEL).write_text(quint.kernel_source(5))
    done = quint_command("typecheck", quint.KERNEL, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_quint_finds_no_violation(quint_command: Quint, tmp_path: Path) -> None:
    (tmp_path / quint.KERNEL).write_text(quint.kernel_source(6))
    options = ("--backend", "typescript", "--max-steps", "30", "--max-samples", "150", "--seed", "3")
    done = quint_command("run", quint.KERNEL, *options, "--invariants", *INVARIANTS, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("bound", "seed"), [(4, 1), (7, 2)])
def test_our_model_follows_quint(quint_command: Quint, tmp_path: Path, bound: int, seed: int) -> None:
    steps: set[str] = set()
    for path in _simulate(quint_command, tmp_path, quint.kernel_source(bound), 40, seed):
        steps |= {type(event).__name__ for event in quint.follow(json.loads(path.read_text()), bound)}
    assert len(steps) == 12  # every event of the alphabet was taken


def test_quint_takes_our_runs(quint_command: Quint, tmp_path: Path) -> None:
    runs = _shortest_runs(4, 700)
    assert len(runs) > 40
    assert _take(quint_command, tmp_path, quint.kernel_source(4), runs, 4)


@pytest.mark.nightly
@pytest.mark.parametrize(("bound", "every"), [(2, 1), (3, 5), (4, 40), (5, 300)])
def test_quint_takes_many_of_our_runs(quint_command: Quint, tmp_path: Path, bound: int, every: int) -> None:
    runs = _shortest_runs(bound, every)
    for start in range(0, len(runs), 25):  # small batches: each is a command with a time limit
        assert _take(quint_command, tmp_path, quint.kernel_source(bound), runs[start : start + 25], bound)


MUTANTS = {
    "undo does not clamp last_observed": (
        "lastObserved: min(s.lastObserved, cut),",
        "lastObserved: s.lastObserved,",
    ),
    "a close does not rebase": ("if (closes(kind)) rebased(after) else after", "after"),
    "a resume commits nothing": ("subseteq(known)) now else commit(now, p)", "subseteq(known)) now else now"),
    "nodes are not translated": ("openedAt: n.openedAt + 1 - k,", "openedAt: n.openedAt,"),
    "an edge may part a call": ('s.history[k].letter != "T" else true', "true else true"),
}


def _follows(path: Path, bound: int) -> bool:
    try:
        quint.follow(json.loads(path.read_text()), bound)
    except ValueError as error:
        if "step " not in str(error):
            raise
        return False
    return True


LATER = pytest.mark.nightly
MUTANT_NAMES = [n if number < 2 else pytest.param(n, marks=LATER) for number, n in enumerate(MUTANTS)]


@pytest.mark.parametrize("name", MUTANT_NAMES)
def test_a_mutant_of_the_twin_is_not_followed(quint_command: Quint, tmp_path: Path, name: str) -> None:
    right, wrong = MUTANTS[name]
    source = quint.kernel_source(6)
    assert source.count(right) == 1
    traces = _simulate(quint_command, tmp_path, source.replace(right, wrong), 60, 4)
    assert any(not _follows(path, 6) for path in traces)


def test_a_mutant_of_the_twin_does_not_take_our_runs(quint_command: Quint, tmp_path: Path) -> None:
    right, wrong = MUTANTS["an edge may part a call"]
    mutant = quint.kernel_source(3).replace(right, wrong)
    assert not _take(quint_command, tmp_path, mutant, _shortest_runs(3, 300), 3)


def test_quint_breaks_its_own_invariants_when_mutated(quint_command: Quint, tmp_path: Path) -> None:
    right, wrong = MUTANTS["a close does not rebase"]
    (tmp_path / quint.KERNEL).write_text(quint.kernel_source(6).replace(right, wrong))
    options = ("--backend", "typescript", "--max-steps", "30", "--max-samples", "500", "--seed", "3")
    done = quint_command("run", quint.KERNEL, *options, "--invariants", *INVARIANTS, cwd=tmp_path)
    assert done.returncode == 1
    assert "invCal" in done.stdout + done.stderr


def _as_itf(events: list[Event]) -> dict[str, object]:
    """What Quint would write of these events, made from our model."""
    states = run(CORE, events, DESIGN)
    first = {"name": "Init", "kind": "none", "k": -1}
    values = [first, *map(quint.event_value, events)]
    return {"states": [{"event": e, "s": quint.state_value(s)} for e, s in zip(values, states, strict=True)]}


def test_follow_without_node() -> None:
    events = [
        CORE.event_from_name(name) for name in ("Call(open)", "StepEnd", "AppendUser", "Undo(2)", "FlagFlip")
    ]
    assert quint.follow(_as_itf(events)) == tuple(events)


def test_follow_names_the_step_and_the_part_that_differ() -> None:
    document = _as_itf([CORE.event_from_name("AppendUser")])
    document["states"][1]["s"]["nextId"] = 7  # type: ignore[index]
    with pytest.raises(ValueError, match="step 1, AppendUser: nextId is 7 in Quint and 1 in the model"):
        quint.follow(document)


@pytest.mark.parametrize(
    "document", [{}, {"states": [{}]}, {"states": [3]}, {"states": []}, {"states": None}]
)
def test_follow_refuses_what_is_no_trace(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="ITF trace of kernel"):
        quint.follow(document)


def test_events_survive_both_forms() -> None:
    for text in ("Call(next)", "Undo(0)", "CommitState(3)", "Clear"):
        event = CORE.event_from_name(text)
        assert quint.event_of_value(quint.event_value(event)) == event
