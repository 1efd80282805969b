"""`foldproof export`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from foldproof.cli.main import run
from foldproof.explore import plain
from foldproof.explore.trace import Trace
from foldproof.explore.tracefile import replay
from foldproof.explore.vectors import trace_vectors
from foldproof.model.core import CORE
from foldproof.model.machines import MACHINES
from foldproof.proofs import obligations
from foldproof.proofs.obligations import OBLIGATIONS
from foldproof.proofs.solve import ask_cvc5
from foldproof.report.dot import TooManyStatesError, state_graph


def test_quint_is_printed_for_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "quint", "--bound", "7"]) == 0
    text = capsys.readouterr().out
    assert "pure val L = 7\n" in text
    assert text.startswith("// The core kernel in Quint")


def test_quint_is_written_with_its_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "quint", "--out", str(tmp_path), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["files"] == [str(tmp_path / "kernel.qnt"), str(tmp_path / "package.json")]
    package = json.loads((tmp_path / "package.json").read_text())
    assert package["overrides"] == {"antlr4ts": "0.5.0-alpha.4"}


@pytest.mark.parametrize(("name", "bound"), [("core", 1), ("memories", 3), ("pass", 2), ("budget", 1)])
def test_a_graph_has_every_state_and_every_transition(name: str, bound: int) -> None:
    result = plain.search(MACHINES[name], bound)
    text = state_graph(MACHINES[name], bound)
    nodes = re.findall(r"^  \d+ \[label=", text, flags=re.MULTILINE)
    edges = re.findall(r'^  \d+ -> \d+ \[label="(.*)"\];$', text, flags=re.MULTILINE)
    assert len(nodes) == result.states
    assert sum(label.count("\\n") + 1 for label in edges) == result.transitions
    assert text.splitlines()[0] == f'digraph "{name}, bound {bound}" {{'
    assert text.endswith("}\n")


def test_a_graph_shows_what_is_violated() -> None:
    text = state_graph(CORE, 1, CORE.without("D2_resume"))
    assert re.search(r'label="\d+: U CAL", .*color=red', text)
    assert "color=red" not in state_graph(CORE, 1)


def test_a_graph_nobody_could_read_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TooManyStatesError):
        state_graph(CORE, 2, max_states=10)
    assert run(["export", "dot", "--bound", "3"]) == 2
    assert "lower --bound or raise --max-states" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "bound", "least"), [("memories", 3, 4), ("budget", 2, 13)])
def test_vectors_hold_the_fault_and_the_design(name: str, bound: int, least: int) -> None:
    machine = MACHINES[name]
    vectors = trace_vectors(machine, bound)
    assert len(vectors) >= least
    for file, text in vectors.items():
        vector = json.loads(text)
        fault, design = (Trace.model_validate(vector[key]) for key in ("fault", "design"))
        assert file == f"{name}-{vector['clause']}-{vector['invariant']}.json"
        replay(fault)
        replay(design)
        assert fault.verdicts[-1][vector["invariant"]].verdict == "violated"
        assert all(v.verdict == "held" for verdicts in design.verdicts for v in verdicts.values())
        if vector["refused"] is None:
            assert design.events == fault.events
        else:
            assert vector["refused"]["event"] == fault.events[len(design.events)]


def test_vectors_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "vectors", "--machine", "memories", "--bound", "2", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["memories-M1_ordinals-CITE.json"]
    assert capsys.readouterr().out == f"1 files in {tmp_path}\n"


def test_smt2_is_written_for_every_obligation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: o for name, o in OBLIGATIONS.items() if name.startswith(("budget/L", "pass/", "index/"))}
    monkeypatch.setattr(obligations, "OBLIGATIONS", few)
    assert run(["export", "smt2", "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"{name.replace('/', '-')}.smt2" for name in few}
    assert ask_cvc5((tmp_path / "budget-Land.smt2").read_text()) == "unsat"
    assert capsys.readouterr().out == f"{len(few)} files in {tmp_path}\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nonsense"], "choose quint, dot, vectors, smt2"),
        (["vectors"], "name a directory with --out"),
        (["quint", "--machine", "pass"], "the twin is of the core"),
        (["smt2"], "name a directory with --out"),
        (["quint", "--without", "D9"], "quint is of the whole design"),
        (["dot", "--bound", "-1"], "--bound is the length of a history"),
        (["dot", "--machine", "none"], "there is no machine 'none'"),
        (["quint", "--out", "/dev/null/x"], "cannot write to /dev/null/x"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert complaint in captured.err
    assert captured.err.count("\n") == 1
