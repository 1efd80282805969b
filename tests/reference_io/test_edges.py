"""A pass cuts only where calls and results stay together; and a session after passes can always be sent."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.plan import edges
from foldproof.reference.render import render_anthropic, render_openai
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.surface import Item

from .test_render import check_anthropic, check_openai, histories


def as_items(messages: Sequence[ChatMessage]) -> list[Item]:
    return [Item(number, message, 1) for number, message in enumerate(messages)]


def numbered(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The same with ids of which none comes twice: ``a#2`` is the second call of the id ``a``."""
    times: Counter[str] = Counter()
    out: list[ChatMessage] = []
    for message in messages:
        times.update(call.id for call in message.calls)
        calls = tuple(replace(call, id=f"{call.id}#{times[call.id]}") for call in message.calls)
        wanted = None if message.result_of is None else f"{message.result_of}#{times[message.result_of]}"
        out.append(replace(message, calls=calls, result_of=wanted))
    return out


def parted(messages: Sequence[ChatMessage], cut: int) -> set[str]:
    """Ids of calls that a cut takes from their results; a call that can still be answered counts as well."""
    messages = numbered(messages)
    before = {call.id for message in messages[:cut] for call in message.calls}
    behind = {message.result_of for message in messages[cut:] if message.result_of is not None}
    answered = {message.result_of for message in messages if message.result_of is not None}
    waiting: set[str] = set()
    for message in messages:
        if message.result_of is None:
            waiting = {call.id for call in message.calls}
    return (before & behind) | ((before & waiting) - answered)


@settings(max_examples=300, deadline=None)
@given(messages=histories())
def test_an_edge_parts_nothing(messages: list[ChatMessage]) -> None:
    edge = edges(as_items(messages), 0)
    assert len(edge) == len(messages) + 1
    for cut, allowed in enumerate(edge):
        assert not allowed or not parted(messages, cut)


def test_the_check_catches_a_cut_between_call_and_result() -> None:
    messages = [
        ChatMessage("assistant", calls=(ToolCall("a", "t"),)),
        ChatMessage("tool", "r", result_of="a"),
    ]
    assert parted(messages, 1) == {"a#1"}
    assert edges(as_items(messages), 0) == [True, False, True]
    assert parted(messages[:1], 1) == {"a#1"}, "a call that waits for its result was cut off"
    assert edges(as_items(messages[:1]), 0) == [True, False]


def test_a_cut_may_lie_between_two_calls_of_one_id() -> None:
    call, result = ChatMessage("assistant", calls=(ToolCall("a", "t"),)), ChatMessage("tool", result_of="a")
    messages = [call, result, call, result]
    assert edges(as_items(messages), 0) == [True, False, True, False, True]
    assert [bool(parted(messages, cut)) for cut in range(5)] == [False, True, False, True, False]


def test_a_call_that_was_given_up_does_not_block_for_ever() -> None:
    messages = [
        ChatMessage("assistant", calls=(ToolCall("a", "t"),)),
        ChatMessage("user", "stop"),
        ChatMessage("user", "go"),
    ]
    assert edges(as_items(messages), 0)[2:] == [True, True]


@settings(max_examples=60, deadline=None)
@given(messages=histories(), size=st.integers(1, 120))
def test_after_a_pass_every_request_is_valid(
    tmp_path_factory: pytest.TempPathFactory, messages: list[ChatMessage], size: int
) -> None:
    folder = tmp_path_factory.mktemp("s")
    settings_ = Settings.for_window(400, fsync="never")
    with Session.create(folder / "log", settings_) as session:
        for message in messages:
            padded = ChatMessage(message.role, message.text * size, message.calls, message.result_of)
            session.append(padded)
        asyncio.run(RecallableCompactor(session).compact_now())
        check_openai(render_openai(session.view().messages()))
        check_anthropic(render_anthropic(session.view().messages()))
