"""Traces: round trips, replay, and refusal of everything that is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from foldproof.explore.itf import from_itf, to_itf
from foldproof.explore.trace import Trace, record
from foldproof.explore.tracefile import TraceError, difference, read_trace, replay
from foldproof.model.core import CORE
from foldproof.model.design import Clause, without
from foldproof.model.events import event_from_name
from foldproof.report.text import trace_lines
from foldproof.stateful_tests.strategies import runs

FAULTY = without(Clause.D1A_UNDO)
REPRO_F = ["Call(open)", "StepEnd", "AppendUser", "Call(close)", "StepEnd", "Undo(2)"]


def repro_f() -> Trace:
    return record(CORE, [event_from_name(name) for name in REPRO_F], FAULTY, 5)


@settings(max_examples=60)
@given(runs(CORE, 8, design=FAULTY, max_events=15))
def test_round_trips_and_replay(events: list[Any]) -> None:
    trace = record(CORE, events, FAULTY, 8)
    assert Trace.model_validate_json(trace.model_dump_json()) == trace
    assert from_itf(json.loads(json.dumps(to_itf(trace)))) == trace
    states = replay(trace)
    assert record(CORE, events, FAULTY, 8) == trace
    assert len(states) == len(events) + 1


def test_both_formats_are_read_from_files(tmp_path: Path) -> None:
    trace = repro_f()
    plain, itf = tmp_path / "a.json", tmp_path / "a.itf.json"
    plain.write_text(trace.model_dump_json())
    itf.write_text(json.dumps(to_itf(trace)))
    assert read_trace(plain) == read_trace(itf) == trace


def test_itf_is_what_an_independent_reader_expects() -> None:
    itf_reader = pytest.importorskip("itf_py")
    document = itf_reader.trace_from_json(to_itf(repro_f()))
    assert len(document.states) == len(REPRO_F) + 1
    assert document.states[-1].values["last_observed"] == 2


def test_the_text_shows_changes_the_view_and_why() -> None:
    text = "\n".join(trace_lines(repro_f()))
    assert "   6  Undo(2)" in text
    assert "view [#0 #1 #2]" in text
    assert "VIEW VIOLATED  flatten(view(s)) == ids(history)" in text
    assert "first difference at place 2: 2 against nothing" in text
    assert text.count("IDX VIOLATED") == 1


def edited(change: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(repro_f().model_dump_json())
    change(document)
    return document


def _set(*path: Any, value: Any) -> Any:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


UNFAITHFUL = {
    "another state": (
        _set("states", 3, "last_observed", value=1),
        "step 3: the state does not follow: last_ob",
    ),
    "another type": (_set("states", 0, "enabled", value=1), "step 0: the state does not follow: enabled"),
    "another message": (_set("states", 1, "history", 0, "tokens", value=9), "history[0].tokens: stored 9"),
    "a state too few": (lambda d: d["states"].pop(), "6 events need 7 states and verdicts, not 6 and 7"),
    "another verdict": (_set("verdicts", 6, "VIEW", "verdict", value="held"), "step 6: the verdict does not"),
    "a missing invariant": (
        lambda d: d["verdicts"][2].pop("CAL"),
        "step 2: the verdict does not follow: CAL",
    ),
    "a field too many": (
        _set("states", 2, "extra", value=1),
        "step 2: the state does not follow: extra: unkn",
    ),
    "an unknown event": (_set("events", 1, value="StepBack"), "step 2: unknown event 'StepBack'"),
    "an event out of place": (
        _set("events", 1, value="AppendUser"),
        "AppendUser is not enabled: a transition",
    ),
    "an unknown clause": (_set("without", value=["D77"]), "the core machine has no clause 'D77'"),
    "the whole design": (_set("without", value=[]), "step 6: the state does not follow"),
    "an unknown machine": (_set("machine", value="turing"), "there is no machine 'turing'; there are core"),
    "a small bound": (_set("bound", value=3), "step 4: Call(close) is not enabled: the history has no room"),
    "an endless bound": (_set("bound", value=2**52), "too large to be a trace"),
}


@pytest.mark.parametrize("name", UNFAITHFUL)
def test_a_trace_that_does_not_follow_is_refused(name: str, tmp_path: Path) -> None:
    change, clue = UNFAITHFUL[name]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(edited(change)))
    with pytest.raises(TraceError) as refusal:
        replay(read_trace(path))
    assert clue in str(refusal.value)
    assert "\n" not in str(refusal.value)


MALFORMED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "line 1: not JSON at column 1: the text ends too early"),
    "truncated": (b'{"format": "foldproof-trace",\n "version": 1', "line 2: not JSON"),
    "not UTF-8": (b'{\n"a": "\xff"}', "line 2: not UTF-8 at byte 8"),
    "NaN": (b'{"bound":\n NaN}', "line 2: NaN is not a JSON number"),
    "a huge integer": (b'{"bound": 123456789012345678901234567890}', "line 1: the number 1234567890123456"),
    "an integer of 5000 digits": (b'{"bound": ' + b"9" * 5000 + b"}", "is too large"),
    "a huge float": (b'{"bound": 1e300}', "the number 1e300 is too large"),
    "deep nesting": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "a key twice": (b'{"version": 1,\n"version": 1}', "the key 'version' stands twice in one object"),
    "a list": (b"[]", "the document: input should be a valid dictionary"),
    "another version": (b'{"version": 2}', "version: input should be 1"),
    "a wrong type": (b'{"machine": 3}', "machine: input should be a valid string"),
    "an ITF of nobody": (b'{"#meta": {}, "vars": [], "states": []}', "does not say which machine"),
    "an ITF without events": (
        b'{"#meta": {"foldproof": {}}, "vars": [], "states": [{"x": 1}]}', "state 0 has no event",
    ),
    "an ITF with a bad number": (
        b'{"#meta": {"foldproof": {}}, "vars": [], "states": [{"#meta": {"event": null, "verdicts": {}},'
        b' "x": {"#bigint": "ten"}}]}', "#bigint 'ten' is not an integer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_trace_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    data, clue = MALFORMED[name]
    path = tmp_path / "t.json"
    path.write_bytes(data)
    with pytest.raises(TraceError) as refusal:
        read_trace(path)
    text = str(refusal.value)
    assert text.startswith(f"{path}: line ")
    assert clue in text
    assert "\n" not in text


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        read_trace(tmp_path / "none.json")


def test_difference_tells_numbers_from_truths() -> None:
    assert difference({"a": [1]}, {"a": [1]}) is None
    assert difference({"a": [True]}, {"a": [1]}) == "a[0]: stored 1, but it is True"
    assert difference([1, 2], [1]) == ": stored [1], but it is [1, 2]"
