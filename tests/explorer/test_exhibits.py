"""Exhibits without a browser: graph, words, the design beside the fault, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import REPRO_D7, REPRO_F, core_exhibit

from foldproof.cli.main import run as cli
from foldproof.explore import plain
from foldproof.explore.trace import record, run
from foldproof.model.core import CORE
from foldproof.model.machine import Machine
from foldproof.model.machines import MACHINES
from foldproof.report.explorer.cards import card
from foldproof.report.explorer.exhibits import exhibit, search_exhibits
from foldproof.report.explorer.graph import around
from foldproof.report.explorer.page import SCRIPTS, asset, embedded, explorer_page
from foldproof.report.explorer.pool import pooled
from foldproof.report.explorer.words import explain

SEARCH_BOUND = 2


def counterexamples(machine: Machine) -> list[tuple[str, str, tuple]]:
    """A shortest counterexample for each clause and invariant of a machine at a small bound."""
    found = []
    for clause in machine.clauses:
        result = plain.search(machine, SEARCH_BOUND, machine.without(clause))
        found += [(str(clause), n, c[0].events) for n, c in result.counterexamples.items() if c]
    return found


def test_the_graph_holds_what_its_states_lead_to() -> None:
    design = CORE.without("D1a_undo")
    states = run(CORE, [CORE.event_from_name(e) for e in REPRO_F.split("; ")], design)
    graph, path = around(CORE, design, 5, states, 240)
    assert [graph.states[place] for place in path] == states
    assert len(graph.states) <= len(set(states)) + 240
    assert len(set(graph.states)) == len(graph.states)
    for place, steps in graph.edges.items():
        state = graph.states[place]
        assert [(e, graph.states[j]) for e, j in steps] == [
            (str(e), CORE.effect(state, e, design)) for e in CORE.enabled(state, 5, design)
        ]
    assert path[-1] in graph.edges, "the end of the run is what a reader goes on from"
    assert len(graph.edges) < len(graph.states), "the graph ends somewhere, and says where"


def test_a_graph_without_room_has_the_run_only() -> None:
    states = run(CORE, [CORE.event_from_name("AppendUser")], CORE.design)
    graph, path = around(CORE, CORE.design, 3, states, 0)
    assert graph.states == states
    assert path == [0, 1]


def test_the_design_stands_beside_the_fault() -> None:
    shown = core_exhibit(REPRO_F, "D1a_undo", key="VIEW")
    fault, design = shown["runs"]
    assert shown["first"] == {"step": 6, "invariant": "VIEW"}
    assert fault["without"] == ["D1a_undo"]
    assert design["without"] == []
    assert fault["parted"] == design["parted"] == 6
    assert not any(design["cards"][place]["broken"] for place in design["path"])
    assert shown["lacks"] == {"D1a_undo": "undo repairs the tree"}


def test_where_the_design_refuses_the_event_it_says_why() -> None:
    shown = core_exhibit("Call(open); StepEnd; Call(close); CommitState(2); StepEnd", "D5", bound=4)
    assert shown["runs"][1]["refused"] == {
        "step": 4,
        "event": "CommitState(2)",
        "reason": "a transition is pending",
    }
    assert shown["runs"][1]["parted"] == 4
    with pytest.raises(ValueError, match=r"step 1: Undo\(0\) is not enabled"):
        core_exhibit("Undo(0)", "D5")


def test_the_whole_design_stands_alone() -> None:
    assert len(core_exhibit(REPRO_D7)["runs"]) == 1
    assert core_exhibit(REPRO_D7)["first"] is None


@pytest.mark.parametrize(
    ("without", "events", "invariant", "words"),
    [
        ("D1a_undo", REPRO_F, "VIEW", "The view still speaks for #2, which is no longer stored."),
        (
            "D1a_undo",
            f"{REPRO_F}; AppendUser",
            "VIEW",
            "The view still speaks for #2, which is no longer stored; "
            "the view leaves out #5, which is live: the model never sees it.",
        ),
        ("D1a_undo", REPRO_F, "IDX", "Node 0 closes at 2, but the history ends at 1."),
        ("D1a_undo", REPRO_F, "SYNC", "The tree records a close at 3, for which no receipt is stored."),
        (
            "D1c",
            "AppendUser; StepEnd; Undo(0)",
            "IDX",
            "What was last observed ends at 1, but the history is empty.",
        ),
        (
            "D7",
            REPRO_D7,
            "CAL",
            "The session believes that the model is sent 8 tokens; it is sent 5, so it compacts too early.",
        ),
        (
            "D8",
            "Call(open); Restore",
            "SYNC",
            "A receipt accepted an open at 0, which the tree does not record.",
        ),
    ],
)
def test_words(without: str, events: str, invariant: str, words: str) -> None:
    state = run(CORE, [CORE.event_from_name(e) for e in events.split("; ")], CORE.without(without))[-1]
    (violation,) = CORE.violations(state, (invariant,))
    assert explain(state, violation).words == words


@pytest.mark.parametrize("name", MACHINES)
def test_every_counterexample_of_every_machine_can_be_shown(name: str) -> None:
    machine = MACHINES[name]
    found = counterexamples(machine)
    assert found
    for clause, invariant, events in found:
        shown = exhibit(machine, events, (clause,), SEARCH_BOUND, key=invariant, max_states=10)
        assert shown["first"] == {"step": len(events), "invariant": invariant}
        last = shown["runs"][0]["cards"][shown["runs"][0]["path"][-1]]
        assert last["broken"][invariant]["words"].endswith(".")
        trace = record(machine, events, machine.without(clause), SEARCH_BOUND)
        assert [shown["runs"][0]["cards"][p]["state"] for p in shown["runs"][0]["path"]] == list(trace.states)
        json.dumps(shown)


def test_cards_show_hidden_state_too() -> None:
    shown = card(CORE, run(CORE, [CORE.event_from_name("AppendUser")], CORE.design)[-1])
    assert shown["sizes"] == [2, 2]
    assert shown["lane"]["messages"] == [{"id": 0, "letter": "U", "word": "prompt", "tokens": 2}]
    assert not shown["broken"]


def test_the_page_is_the_same_each_time_and_asks_for_nothing() -> None:
    one = explorer_page([core_exhibit(REPRO_F, "D1a_undo")], "x")
    assert one == explorer_page([core_exhibit(REPRO_F, "D1a_undo")], "x")
    assert "http" not in one.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert all(str(asset(name)) in one for name in SCRIPTS)
    assert "</script" not in str(embedded({"x": "</script>"}))


def test_search_exhibits_put_what_the_model_sees_first() -> None:
    result = plain.search(CORE, 3, CORE.without("D1a_clear"))
    shown = search_exhibits(CORE, result, 5)
    assert [one["key"] for one in shown] == ["VIEW", "CAL", "SYNC", "IDX"]


def test_explore_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "p.html"
    assert cli(["explore", "--fault", "P3", "--bound", "3", "-o", str(page), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(page)
    assert told["exhibits"][0]["trace"] == "VIEW"
    assert told["exhibits"][0]["events"] == ["AppendUser", "CommitState(1)", "Clear"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_explore_reads_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["check", "--bound", "3", "--fault", "P3", "--quiet", "--trace-dir", str(tmp_path)]) == 1
    files = [str(tmp_path / "VIEW.json"), str(tmp_path / "SYNC.itf.json")]
    page = tmp_path / "t.html"
    capsys.readouterr()
    assert cli(["explore", *files, "-o", str(page)]) == 0
    assert "VIEW: 3 steps; VIEW breaks at step 3" in capsys.readouterr().out
    assert page.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give either traces"),
        (["--fault", "P99"], 2, "no fault 'P99'"),
        (["--without", "D4", "--bound", "3"], 2, "nothing breaks without D4 up to bound 3"),
        (["--events", "Undo(0)"], 2, "step 1: Undo(0) is not enabled"),
        (["--events", "Nonsense"], 2, "unknown event 'Nonsense'"),
        (["missing.json"], 3, "missing.json"),
        (["--events", "AppendUser", "-o", "nowhere/x.html"], 2, "cannot write nowhere/x.html"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli(["explore", *arguments]) == code
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_page_does_not_grow_with_the_square_of_the_run() -> None:
    def size(steps: int) -> int:
        run = "; ".join(["AppendUser"] * steps)
        return len(explorer_page([core_exhibit(run, bound=steps, max_states=0)], "x"))

    base = len(explorer_page([core_exhibit("AppendUser", bound=1, max_states=0)], "x"))
    assert (size(200) - base) / (size(100) - base) < 3


def test_pooling_leaves_what_it_is_given() -> None:
    shown = core_exhibit(REPRO_F, "D1a_undo")["runs"][0]
    before = json.dumps(shown)
    small = pooled(shown)
    assert json.dumps(shown) == before
    for card_, original in zip(small["cards"], shown["cards"], strict=True):
        assert [small["pool"][i] for i in card_["state"]["history"]] == original["state"]["history"]
        assert [small["pool"][i] for i in card_["lane"]["items"]] == original["lane"]["items"]


@pytest.mark.parametrize(
    ("machine", "without", "run_", "invariant", "words"),
    [
        (
            "pass",
            "R16_cancel",
            "AppendUser; Begin(1); Undo(0); StateDone; Guard; Commit",
            "VIEW",
            "The view still speaks for #0, which is no longer stored.",
        ),
        (
            "budget",
            "B4_futile",
            "AppendUser; AppendUser; BeforeStep; Land(1); BeforeStep",
            "QUIET",
            "It must hold that after a useless compaction none starts until the history is replaced or the "
            "window changes; here useless, starts.",
        ),
    ],
)
def test_words_of_other_machines(machine: str, without: str, run_: str, invariant: str, words: str) -> None:
    spec = MACHINES[machine]
    events = [spec.event_from_name(name) for name in run_.split("; ")]
    shown = card(spec, run(spec, events, spec.without(without))[-1])
    assert shown["broken"][invariant]["words"] == words
