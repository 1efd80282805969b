"""The extensions: lines, a removed exchange, a replaced answer; what a tester knows and the model means."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from foldproof.cli.main import run as cli
from foldproof.conformance.events import EXTENSION_EVENTS
from foldproof.conformance.exhibits import run_exhibit
from foldproof.conformance.extended_scenarios import EXTENDED
from foldproof.conformance.ledger import Ledger
from foldproof.conformance.protocol import EventRequest, ProtocolError, Reply
from foldproof.conformance.recording import record_script
from foldproof.conformance.runfile import run_lines
from foldproof.conformance.script import event_of, words
from foldproof.model.design import DESIGN, Clause, without

MODEL = [sys.executable, "-m", "foldproof.conformance.model_adapter", "--extended"]


def after(script: str) -> Ledger:
    """What a tester knows after a script of which everything was applied."""
    ledger = Ledger()
    for seq, word in enumerate(words(script), 1):
        request = EventRequest(cmd="event", seq=seq, event=event_of(word, ledger))
        ledger.check(request)
        ledger.apply(request, Reply(seq=seq, status="applied"))
    return ledger


def ids(ledger: Ledger) -> str:
    return " ".join(entry.id for entry in ledger.live)


@pytest.mark.parametrize(
    ("script", "live", "gone"),
    [
        ("user reply branch user", "m1 m2 m3", ""),
        ("user reply branch user switch", "m1 m2", "m3"),
        ("user reply branch user switch user switch", "m1 m2 m3", "m4"),
        ("user reply branch1 user switch", "m1 m2", "m3"),
        ("user branch user branch user switch switch", "m1 m2 m3", ""),
        ("user branch user clear user", "m3", "m1 m2"),
        ("user reply user reply remove", "m3 m4", "m1 m2"),
        ("user reply user reply regenerate", "m1 m2 m3 m5", "m4"),
        ("user reply user reply regenerate1", "m1 m5 m3 m4", "m2"),
        ("user reply regenerate undo1", "", "m1 m2 m3"),
    ],
)
def test_what_is_live_and_what_is_gone(script: str, live: str, gone: str) -> None:
    ledger = after(script)
    assert ids(ledger) == live
    assert " ".join(sorted(ledger.gone)) == gone


def test_lines_are_named_once_and_have_to_be_there() -> None:
    ledger = after("user branch")
    for event, what in (
        ({"type": "branch", "name": "line1", "count": 0}, "there already"),
        ({"type": "switch", "name": "line9"}, "no line line9"),
        ({"type": "remove", "prompt": "m9"}, "no prompt"),
    ):
        request = EventRequest.model_validate({"cmd": "event", "seq": 9, "event": event})
        ledger.apply(request, Reply(seq=9, status="rejected"))
        with pytest.raises(ProtocolError, match=what):
            ledger.apply(request, Reply(seq=9, status="applied"))


def test_the_model_keeps_its_invariants_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    """In both senses: the invariants of a black box hold, and so does refinement."""
    options = ["--mode", "refinement", "--exhaustive", "2", "--examples", "40", "--budget", "60", "--json"]
    assert cli(["conform", *options, "--", *MODEL]) == 0
    coverage = json.loads(capsys.readouterr().out)["coverage"]
    assert all(coverage["events"][name]["applied"] for name in EXTENSION_EVENTS)
    assert coverage["vectors"]["skipped"] == 0


def test_their_vectors_concern_only_those_who_list_them(capsys: pytest.CaptureFixture[str]) -> None:
    def run(command: list[str]) -> int:
        assert cli(["conform", "--exhaustive", "0", "--examples", "0", "--json", "--", *command]) == 0
        return int(json.loads(capsys.readouterr().out)["coverage"]["vectors"]["of"])

    assert run(MODEL) == run(MODEL[:-1]) + len(EXTENDED)


@pytest.mark.parametrize("script", [script for _, _, script in EXTENDED])
def test_a_removed_exchange_is_an_undo_and_the_rest_said_again(script: str) -> None:
    """The design answers every extension by events of its own, so its state stays one that it can reach."""
    _, exchanges, checker = record_script(DESIGN, script)
    assert not checker.findings
    assert {e.reply.status for e in exchanges} <= {"applied", "rejected"}


def test_a_run_is_shown_beside_a_model_that_refuses_the_line(tmp_path: Path) -> None:
    """An implementation that goes back before a compaction, and to a line that the model never began."""
    told, exchanges, _ = record_script(without(Clause.D4), "user reply compact branch1 user switch user")
    handshake = told.model_copy(update={"events": (*told.events, *EXTENSION_EVENTS)})
    assert [e.reply.status for e in exchanges] == ["applied"] * len(exchanges)
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(f"{line}\n" for line in run_lines(handshake, exchanges)), encoding="utf-8")
    exhibit = run_exhibit(path)
    assert exhibit["events"][3:] == ["branch(line1 -1)", "append(m3)", "switch(main)", "append(m4)"]
