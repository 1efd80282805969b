"""The handoff probe: complete for the recallable compactor, and it notices when something is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldproof.cli.main import run
from foldproof.reference.checkpoints import Checkpoint
from foldproof.reference.recall import RecallTools
from foldproof.reference.surface import Item, ItemClass

SAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
SMALL = ["--turns", "60", "--window", "12000", "--facts", "110"]
TINY = ["--turns", "24", "--window", "8000", "--facts", "12"]
ROW = {"pass", "planted", "stale", "in_view", "found", "readable", "search_tokens", "read_tokens"}


def probe(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run(["probe", *arguments, "--json"]) == code
    result = json.loads(capsys.readouterr().out)
    assert isinstance(result, dict)
    return result


def test_every_compacted_fact_is_found_and_readable_and_the_basic_compactor_loses_some(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = probe(capsys, *SMALL)
    ours = report["compactors"]["recallable"]["passes"]
    assert len(ours) >= 5
    assert ours[-1]["stale"] >= 60
    for row in ours:
        assert row.keys() >= ROW
        assert row["found"] == row["readable"] == row["recalled"] == row["stale"] <= row["planted"] <= 110
        assert row["in_view"] <= row["stale"]
        assert 0 < row["search_tokens"] < row["read_tokens"] or not row["stale"]
    for name in ("basic", "basic_matched"):
        passes = report["compactors"][name]["passes"]
        assert all(row["found"] == row["readable"] == 0 for row in passes)
        assert passes[-1]["in_view"] < passes[-1]["stale"]
    totals = report["compactors"]["recallable"]
    assert totals["recall"]["asked"] == totals["recall"]["found"] == sum(row["stale"] for row in ours)
    assert totals["cache"]["missed_tokens"] < totals["cache"]["request_tokens"]


def test_the_same_seed_gives_the_same_report(capsys: pytest.CaptureFixture[str]) -> None:
    first = probe(capsys, *TINY, "--seed", "4")
    assert first == probe(capsys, *TINY, "--seed", "4")
    assert first != probe(capsys, *TINY, "--seed", "5")


def test_a_search_that_forgets_superseded_states_is_noticed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shadowed = RecallTools._shadowed

    def forgetful(self: RecallTools, chosen: list[Checkpoint]) -> Iterator[tuple[Checkpoint, Item]]:
        return shadowed(self, [c for c in chosen if c.kind is not ItemClass.STATE])

    monkeypatch.setattr(RecallTools, "_shadowed", forgetful)
    rows = probe(capsys, *SMALL, code=1)["compactors"]["recallable"]["passes"]
    assert any(row["found"] < row["stale"] for row in rows)


def test_a_reader_that_hides_the_prior_state_is_noticed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered = RecallTools._rendered

    def hiding(self: RecallTools, checkpoint: Checkpoint) -> Iterator[str]:
        return (text for text in rendered(self, checkpoint) if not text.startswith("[prior state"))

    monkeypatch.setattr(RecallTools, "_rendered", hiding)
    rows = probe(capsys, *SMALL, code=1)["compactors"]["recallable"]["passes"]
    assert any(row["readable"] < row["stale"] for row in rows)
    assert all(row["found"] == row["stale"] for row in rows)


def test_a_real_format_and_the_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.png", "b.svg"):
        plot = tmp_path / name
        sample = str(SAMPLES / "pi.jsonl")
        assert run(["probe", sample, "--window", "6000", "--facts", "9", "--plot", str(plot)]) == 0
        assert plot.stat().st_size > 10_000
    text = capsys.readouterr().out
    assert "9 facts planted" in text
    assert "basic, same budget in the view: " in text


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--plot", "x.gif"], 2, "--plot x.gif: the name has to end in .png"),
        (["--facts", "0"], 2, "at least 1"),
        (["--facts", "5000", "--turns", "3"], 2, "do not fit"),
        (["--turns", "3", "--facts", "2"], 2, "never reached the threshold"),
        (["nowhere.jsonl"], 2, "there is no such file"),
        ([*TINY, "--plot", "no/where.png"], 3, "--plot no/where.png: "),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["probe", *arguments]) == code
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
