"""Requests for both kinds of chat API: calls and results are never parted, and nothing else moves."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.pairing import owners
from foldproof.reference.render import (
    BEGINNING,
    NO_RESULT,
    UnpairedError,
    paired,
    render_anthropic,
    render_openai,
)


@st.composite
def histories(draw: st.DrawFn) -> list[ChatMessage]:
    """Any history in which results follow their calls: late, out of order, missing, with text between.

    An id may come again once its call was answered.
    """
    messages: list[ChatMessage] = []
    waiting: list[str] = []
    for number in range(draw(st.integers(0, 10))):
        kind = draw(st.sampled_from(["user", "assistant", "calls", "result"]))
        if kind == "result" and waiting:
            call = waiting.pop(draw(st.integers(0, len(waiting) - 1)))
            messages.append(ChatMessage("tool", f"r{number}", result_of=call, is_error=draw(st.booleans())))
        elif kind == "calls":
            # "x.0" and "x_0" are two ids of which only one may stay as it is; and some ids come again.
            again = draw(st.booleans())
            ids = [
                f"x{draw(st.sampled_from('._|'))}{0 if again else number}.{i}"
                for i in range(draw(st.integers(1, 3)))
            ]
            ids = list(dict.fromkeys(i for i in ids if i not in waiting)) or [f"only{number}"]
            text = draw(st.sampled_from(["", " ", f"a{number}"]))
            arguments = draw(st.sampled_from(["{}", '{"a": 1}', "[1]", "{broken"]))
            messages.append(ChatMessage("assistant", text, tuple(ToolCall(i, "t", arguments) for i in ids)))
            waiting += ids
        else:
            role = "user" if kind == "result" else kind
            messages.append(ChatMessage(role, draw(st.sampled_from([f"m{number}", "", " "]))))  # type: ignore[arg-type]
    return messages


def check_openai(request: list[dict[str, Any]]) -> None:
    """What the API demands: behind a message with calls come the results of exactly these calls."""
    waiting: set[str] = set()
    for message in request:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting, "a call is parted from its result"
            waiting = {call["id"] for call in message.get("tool_calls", ())}
            assert message["content"] or waiting
    assert not waiting


def check_anthropic(request: dict[str, Any]) -> None:
    turns = request["messages"]
    for number, turn in enumerate(turns):
        assert turn["role"] == ("user", "assistant")[number % 2]
        assert turn["content"]
        uses = {block["id"] for block in turn["content"] if block["type"] == "tool_use"}
        assert len(uses) == sum(block["type"] == "tool_use" for block in turn["content"])
        following = turns[number + 1]["content"] if number + 1 < len(turns) else []
        heads = [b["tool_use_id"] for b in following[: len(uses)] if b["type"] == "tool_result"]
        assert sorted(heads) == sorted(uses), "a call is parted from its result"
        assert all(b["type"] != "tool_result" for b in following[len(uses) :])
        for block in turn["content"]:
            assert block["type"] != "text" or block["text"].strip()
            assert block["type"] != "tool_use" or isinstance(block["input"], dict)
            assert block["type"] != "tool_use" or re.fullmatch(r"[\w-]+", block["id"], re.ASCII)
    if turns:
        assert all(block["type"] != "tool_result" for block in turns[0]["content"])


@settings(max_examples=400, deadline=None)
@given(messages=histories())
def test_pairs_are_never_split(messages: list[ChatMessage]) -> None:
    check_openai(render_openai(messages))
    check_anthropic(render_anthropic(messages))


def nameless(message: ChatMessage) -> ChatMessage:
    """The message with its calls' ids taken off."""
    return replace(message, calls=tuple(replace(call, id="") for call in message.calls))


@settings(max_examples=200, deadline=None)
@given(messages=histories())
def test_nothing_is_lost_added_or_reordered(messages: list[ChatMessage]) -> None:
    out = paired(messages)
    assert [nameless(m) for m in out if m.role != "tool"] == [
        nameless(m) for m in messages if m.role != "tool"
    ]
    ids = [call.id for m in out for call in m.calls]
    assert len(ids) == len(set(ids))
    added = [m for m in out if m.text == NO_RESULT]
    assert sorted(m.text for m in out if m.role == "tool" and m not in added) == sorted(
        m.text for m in messages if m.role == "tool"
    )
    asked, answered = len(ids), sum(m.role == "tool" for m in messages)
    assert len(added) == asked - answered
    behind = {m.text: owner for m, owner in zip(out, owners(out), strict=True) if m.role == "tool"}
    for message, owner in zip(messages, owners(messages), strict=True):
        if owner is not None:
            assert nameless(out[behind[message.text] or 0]) == nameless(messages[owner])
    assert paired(out) == out
    texts = [
        b["text"] for t in render_anthropic(messages)["messages"] for b in t["content"] if b["type"] == "text"
    ]
    assert [t for t in texts if t != BEGINNING] == [
        m.text for m in messages if m.role != "tool" and m.text.strip()
    ]


def test_the_checks_catch_a_split() -> None:
    call = ChatMessage("assistant", "", (ToolCall("a", "t"),))
    result, between = ChatMessage("tool", "r", result_of="a"), ChatMessage("user", "hi")
    good = render_openai([call, result, between])
    check_openai(good)
    with pytest.raises(AssertionError, match="parted"):
        check_openai([good[0], good[2], good[1]])
    with pytest.raises(AssertionError):
        check_openai(good[:1])
    request = render_anthropic([between, call, result])
    check_anthropic(request)
    request["messages"][2]["content"].insert(0, {"type": "text", "text": "first"})
    with pytest.raises(AssertionError, match="parted"):
        check_anthropic(request)


def test_a_late_result_moves_up_to_its_call() -> None:
    call = ChatMessage("assistant", "", (ToolCall("a", "t"), ToolCall("b", "t")))
    a, b = (ChatMessage("tool", name, result_of=name) for name in "ab")
    hurry = ChatMessage("user", "hurry")
    assert paired([call, b, hurry, a]) == [call, b, a, hurry]


def test_an_id_that_comes_again_is_another_call() -> None:
    """Some models number their calls anew in every message; both APIs want ids that differ."""
    call = ChatMessage("assistant", "", (ToolCall("call_0", "t"),))
    one, two = (ChatMessage("tool", name, result_of="call_0") for name in ("one", "two"))
    taken = ChatMessage("assistant", "", (ToolCall("call_0_2", "t"),))
    out = paired([call, one, taken, call, two])
    assert [m.text for m in out if m.role == "tool"] == ["one", NO_RESULT, "two"]
    assert [c.id for m in out for c in m.calls] == ["call_0", "call_0_2", "call_0_3"]
    check_openai(render_openai([call, one, taken, call, two]))
    check_anthropic(render_anthropic([call, one, taken, call, two]))


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([ChatMessage("tool", "x", result_of="a")], "message 0: a result of 'a' before its call"),
        ([ChatMessage("assistant", calls=(ToolCall("a", "t"),) * 2)], "message 0: the call id 'a' is used"),
        (
            [
                ChatMessage("assistant", calls=(ToolCall("a", "t"),)),
                *[ChatMessage("tool", result_of="a")] * 2,
            ],
            "message 2: a second result of 'a'",
        ),
    ],
)
def test_what_cannot_be_paired_is_refused(messages: list[ChatMessage], said: str) -> None:
    for render in (render_openai, render_anthropic):
        with pytest.raises(UnpairedError, match=said):
            render(messages)


def test_the_two_shapes() -> None:
    messages = [
        ChatMessage("user", "hi"),
        ChatMessage("assistant", "look", (ToolCall("c|1", "read", '{"path": "a"}'),)),
        ChatMessage("tool", "gone", result_of="c|1", is_error=True),
        ChatMessage("user", "and?"),
    ]
    call = {"id": "c|1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    assert render_openai(messages, "be brief") == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "look", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c|1", "content": "gone"},
        {"role": "user", "content": "and?"},
    ]
    request = render_anthropic(messages, "be brief")
    assert request["system"] == "be brief"
    assert json.loads(json.dumps(request["messages"])) == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "tool_use", "id": "c_1", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c_1", "content": "gone", "is_error": True},
                {"type": "text", "text": "and?"},
            ],
        },
    ]
