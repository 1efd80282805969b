"""Recorded conformance runs as exhibits: the implementation beside the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browser import page_of

from foldproof.cli.main import run as cli
from foldproof.conformance.adapter import reply_to
from foldproof.conformance.checker import Exchange
from foldproof.conformance.exhibits import run_exhibit
from foldproof.conformance.explain import answer
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.conformance.protocol import read_handshake, read_request
from foldproof.conformance.runfile import run_lines, validate_file
from foldproof.model.core import CORE
from foldproof.report.explorer.page import explorer_page

RECORDED = Path(__file__).resolve().parent.parent.parent / "examples" / "adapters"


def recorded(path: Path, *without: str) -> Path:
    """Repro F, then a prompt, as the model without clauses answers it."""
    adapter = ModelAdapter(CORE.without(*without))
    events: list[dict[str, Any]] = [
        {"type": "call", "kind": "open", "call": "c1"},
        {"type": "step_end"},
        {"type": "append", "message": message("m1")},
        {"type": "call", "kind": "close", "call": "c2", "memory": "[[c1]] [[m1]]"},
        {"type": "step_end"},
        {"type": "undo", "count": 1},
        {"type": "append", "message": message("m2")},
    ]
    requests = [read_request({"cmd": "reset", "seq": 0, "config": {}})]
    requests += [read_request({"cmd": "event", "seq": i, "event": e}) for i, e in enumerate(events, 1)]
    exchanges = [Exchange(request, answer(adapter, request)) for request in requests]  # type: ignore[arg-type]
    handshake = read_handshake(reply_to(adapter, {"cmd": "start"}))
    path.write_text("\n".join(run_lines(handshake, exchanges)) + "\n", encoding="utf-8")
    return path


def message(name: str) -> dict[str, str]:
    return {"id": name, "role": "user", "origin": "user", "text": f"[[{name}]] a prompt"}


def test_the_implementation_stands_beside_the_model(tmp_path: Path) -> None:
    shown = run_exhibit(recorded(tmp_path / "f.jsonl", "D1a_undo"))
    theirs, model = shown["runs"]
    assert shown["events"][:2] == ["call(open c1)", "step_end"]
    assert shown["first"] == {"step": 6, "invariant": "VIEW"}
    assert theirs["parted"] == 6
    assert "D1a_undo (“undo repairs the tree”)" in theirs["subtitle"]
    assert not any(card["broken"] for card in model["cards"])
    last = theirs["cards"][-1]["broken"]["VIEW"]
    assert "m2 is live, but neither shown nor covered by a memory" in last["words"]
    assert {"m1", "m2"} <= set(last["messages"])


def test_a_run_of_the_design_has_nothing_to_show(tmp_path: Path) -> None:
    shown = run_exhibit(recorded(tmp_path / "ok.jsonl"))
    assert shown["first"] is None
    assert shown["runs"][0]["cards"] == [
        card | {"parts": shown["runs"][0]["cards"][i]["parts"]}
        for i, card in enumerate(shown["runs"][1]["cards"])
    ]


@pytest.mark.parametrize(
    "path", sorted(RECORDED.glob("*/runs/*.jsonl"))[::4], ids=lambda path: f"{path.parts[-3]}-{path.stem}"
)
def test_every_step_says_what_validate_says(path: Path) -> None:
    shown = run_exhibit(path)
    _, checker = validate_file(path)
    broken = {name for card in shown["runs"][0]["cards"] for name in card["broken"]}
    assert broken == {name for name, verdict in checker.verdicts().items() if verdict == "violated"}
    assert shown["runs"][0]["unchecked"] == [n for n, v in checker.verdicts().items() if v == "unchecked"]
    json.dumps(shown)


def test_a_run_in_a_browser(chromium: Any, tmp_path: Path) -> None:
    page_path = tmp_path / "run.html"
    shown = run_exhibit(recorded(tmp_path / "f.jsonl", "D1a_undo"))
    page_path.write_text(explorer_page([shown], "f"), encoding="utf-8")
    with page_of(chromium, page_path, "#step=7&from=2&then=AppendUser") as (page, seen):
        assert "m2 is live, but neither shown nor covered" in page.locator(".headline").inner_text()
        assert "m2 hidden" in page.locator("article.run svg").first.text_content()
        page.locator("#form").select_option("run")
        copied = page.locator("#taken").input_value()
        assert not seen.errors
    assert copied == (tmp_path / "f.jsonl").read_text(encoding="utf-8")


def test_explore_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded(tmp_path / "f.jsonl", "D1a_undo")
    assert cli(["explore", "--run", str(path), "-o", str(tmp_path / "f.html")]) == 0
    assert "f: 7 steps; VIEW breaks at step 6" in capsys.readouterr().out
    (tmp_path / "bad.jsonl").write_text('{"cmd": "start", "version": 1}\n', encoding="utf-8")
    assert cli(["explore", "--run", str(tmp_path / "bad.jsonl"), "-o", str(tmp_path / "b.html")]) == 3
    assert "cut off" in capsys.readouterr().err
    assert not (tmp_path / "b.html").exists()
