"""Importers: four formats read alike, and every broken file is one line that names file and line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldproof.conformance.importers import (
    ImportedMessage,
    SessionFormatError,
    detect,
    load_session,
)
from foldproof.conformance.importers.imported import MISSING_RESULT
from foldproof.conformance.synthetic import plant, synthetic_session
from foldproof.reference.messages import ToolCall

from .formats import WRITERS

SAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
REAL = Path(__file__).parents[3] / "shared" / "data" / "sessions"
FORMATS = sorted(WRITERS)


def plain(messages: tuple[ImportedMessage, ...]) -> list[ImportedMessage]:
    return [replace(message, line=0, is_error=False) for message in messages]


def write(tmp_path: Path, text: str, name: str = "s.jsonl") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("asked", ["auto", "named"])
def test_every_format_reads_back_what_was_written(tmp_path: Path, name: str, asked: str) -> None:
    session = synthetic_session(12, seed=3)
    path = write(tmp_path, WRITERS[name](session.messages))
    read = load_session(path, "auto" if asked == "auto" else name)
    assert read.format == name
    assert plain(read.messages) == plain(session.messages)
    assert read.notes == ()


texts = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=12).filter(str.strip)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[ImportedMessage, ...]:
    messages: list[ImportedMessage] = []
    for number in range(draw(st.integers(1, 6))):
        role = draw(st.sampled_from(["user", "assistant"]))
        count = draw(st.integers(0, 3)) if role == "assistant" else 0
        calls = tuple(ToolCall(f"c{number}.{i}", "tool", json.dumps({"x": i})) for i in range(count))
        messages.append(ImportedMessage(role, draw(texts), 0, calls=calls))  # type: ignore[arg-type]
        messages += [
            ImportedMessage("tool", draw(texts), 0, result_of=c.id) for c in draw(st.permutations(calls))
        ]
    return tuple(messages)


@settings(max_examples=60, deadline=None)
@given(messages=conversations(), name=st.sampled_from(FORMATS))
def test_round_trip_of_any_conversation(
    tmp_path_factory: pytest.TempPathFactory, messages: tuple[ImportedMessage, ...], name: str
) -> None:
    path = write(tmp_path_factory.mktemp("round"), WRITERS[name](messages))
    assert plain(load_session(path, name).messages) == plain(messages)


def test_an_unanswered_call_gets_a_result_that_says_so(tmp_path: Path) -> None:
    call = ToolCall("c1", "read", "{}")
    messages = (
        ImportedMessage("assistant", "", 0, calls=(call, ToolCall("c2", "read", "{}"))),
        ImportedMessage("tool", "two", 0, result_of="c2"),
        ImportedMessage("user", "stop", 0),
    )
    for name in FORMATS:
        read = load_session(write(tmp_path, WRITERS[name](messages)), name)
        assert [(m.role, m.text, m.result_of) for m in read.messages[1:]] == [
            ("tool", "two", "c2"),
            ("tool", MISSING_RESULT, "c1"),
            ("user", "stop", None),
        ]
        assert read.notes == ("1 calls without a recorded result, given one that says so",)


HEADER = '{"type":"session","id":"s","timestamp":"t"}\n'
USER = '{"type":"message","message":{"role":"user","content":"hi"}}\n'

BROKEN = {
    "empty": ("auto", "", 1, "empty"),
    "not text": ("auto", b'{"a": 1}\n\xff\n', 2, "UTF-8"),
    "no json": ("pi", HEADER + "{nope\n", 2, "not JSON"),
    "cut off": ("pi", HEADER + USER + '{"type":"mess', 3, "cut off"),
    "no object": ("pi", HEADER + "[1]\n", 2, "object is expected, not a list"),
    "NaN": ("pi", HEADER + '{"x": NaN}\n', 2, "NaN"),
    "deep": ("pi", HEADER + '{"x":' + "[" * 100_000 + "]" * 100_000 + "}\n", 2, "deep"),
    "no messages": ("pi", HEADER, 1, "no messages"),
    "field type": ("pi", HEADER + '{"type":"message","message":{"role":5}}\n', 2, "message.role"),
    "no message": ("pi", HEADER + '{"type":"message"}\n', 2, "message: Field required"),
    "orphan result": (
        "pi",
        HEADER + '{"type":"message","message":{"role":"toolResult","toolCallId":"x","content":[]}}\n',
        2,
        "no such call",
    ),
    "parent": (
        "pi",
        HEADER + '{"type":"message","id":"b","parentId":"a","message":{}}\n',
        2,
        "no such entry",
    ),
    "circle": ("pi", HEADER + '{"type":"message","id":"b","parentId":"b","message":{}}\n', 2, "circle"),
    "dsh replace": (
        "dsh",
        '{"type":"session","createdAt":0}\n{"type":"user/message","data":{"content":[]},'
        '"surfaceOp":{"op":"replace","start":7,"end":9}}\n',
        2,
        "no span of the surface",
    ),
    "openai id": (
        "openai",
        '[{"role":"user","content":"a"},\n{"role":"tool","content":"x"}]',
        2,
        "tool_call_id",
    ),
    "openai role": ("openai", '[\n\n{"role":"robot","content":"x"}]', 3, "role"),
    "openai element": ("openai", '{"messages":\n[{"role":"user","content":"a"},\n 7]}', 3, "not a number"),
    "openai list": ("openai", '{"a":1,\n"messages": 7}', 2, "a list is expected"),
    "openai nothing": ("openai", '{"a":1}\n', 1, "role"),
    "openai json": ("openai", '{"messages":[\n{"role" "user"}]}', 2, "not JSON"),
    "anthropic use": (
        "anthropic",
        '[{"role":"user","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}]',
        1,
        "user message",
    ),
    "anthropic twice": (
        "anthropic",
        '[{"role":"user","content":"hi"},\n'
        '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}},'
        '{"type":"tool_use","id":"a","name":"b","input":{}}]}]',
        2,
        "second time",
    ),
    "unknown": ("auto", '{"kind":"something"}\n{"kind":"else"}\n', 1, "no known session format"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line_with_file_and_line(tmp_path: Path, name: str) -> None:
    form, text, line, what = BROKEN[name]
    path = tmp_path / "broken.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SessionFormatError) as caught:
        load_session(path, form)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: "), message
    assert what in message
    assert "\n" not in message


def test_the_current_branch_of_a_pi_tree_is_read(tmp_path: Path) -> None:
    entries = [("a", None, "one"), ("b", "a", "dropped"), ("c", "a", "two")]
    text = HEADER + "".join(
        json.dumps({"type": "message", "id": i, "parentId": p, "message": {"role": "user", "content": t}})
        + "\n"
        for i, p, t in entries
    )
    read = load_session(write(tmp_path, text))
    assert [message.text for message in read.messages] == ["one", "two"]
    assert read.notes == ("1 entries on other branches left out",)


@settings(max_examples=150, deadline=None)
@given(cut=st.floats(0, 1), junk=st.binary(max_size=3), name=st.sampled_from(FORMATS))
def test_any_damage_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, cut: float, junk: bytes, name: str
) -> None:
    data = WRITERS[name](synthetic_session(2).messages).encode()
    at = int(cut * len(data))
    path = tmp_path_factory.mktemp("damage") / "s"
    path.write_bytes(data[:at] + junk + data[at + len(junk) :])
    for form in ("auto", name):
        try:
            refused = ""
            assert load_session(path, form).messages
        except SessionFormatError as error:
            refused = str(error)
        assert not refused or (refused.startswith(f"{path}:") and "\n" not in refused)


def test_an_ambiguous_conversation_counts_as_openai() -> None:
    assert detect("f", '[{"role":"user","content":"hi"}]') == "openai"
    assert detect("f", '{"system":"x","messages":[{"role":"user","content":"hi"}]}') == "anthropic"


@pytest.mark.parametrize("name", FORMATS)
def test_the_samples_are_the_synthetic_session_in_each_format(name: str) -> None:
    [path] = SAMPLES.glob(f"{name}.*")
    session = synthetic_session(14, seed=7)
    assert path.read_text(encoding="utf-8") == WRITERS[name](session.messages)
    assert load_session(path).format == name


@pytest.mark.skipif(not REAL.is_dir(), reason="../shared/data/sessions is absent")
def test_the_real_sessions() -> None:
    pi = load_session(REAL / "pi-large-session.jsonl")
    assert (pi.format, len(pi.messages)) == ("pi", 918)
    assert sum(m.role == "tool" and m.text != MISSING_RESULT for m in pi.messages) == 373
    dsh = load_session(REAL / "dsh-compaction-recovery.jsonl")
    assert [m.role for m in dsh.messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert [m.replaces for m in dsh.messages] == [(), (), (), (0,), ()]


def test_planted_facts_occur_once() -> None:
    session, plants = plant(synthetic_session(20, seed=1), 30, seed=2)
    for fact in plants:
        assert [n for n, m in enumerate(session.messages) if fact.literal in m.text] == [fact.index]
    assert {fact.kind for fact in plants} == {"decision", "constraint", "literal"}
    with pytest.raises(ValueError, match="do not fit"):
        plant(synthetic_session(1), 30)
