"""What a host may do wrong: nothing gets into the log that it could not be read back with."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import LockedLogError, RecallError, WriteError
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.recall import RecallTools
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

SETTINGS = Settings.for_window(2_000)


@pytest.mark.parametrize(
    ("make", "clue"),
    [
        (lambda: ChatMessage("assistant", None), "text: a str is needed, not NoneType"),  # type: ignore[arg-type]
        (lambda: ChatMessage("user", [{"type": "text"}]), "text: a str is needed, not list"),  # type: ignore[arg-type]
        (lambda: ChatMessage("system", "be brief"), "role: 'system' is none of user, assistant"),  # type: ignore[arg-type]
        (lambda: ToolCall("a", "f", {"x": 1}), "arguments: a call's arguments is text, not dict"),  # type: ignore[arg-type]
        (lambda: ToolCall(7, "f"), "id: a call's id is text, not int"),  # type: ignore[arg-type]
    ],
)
def test_a_message_of_a_wrong_kind_is_never_made(make: Any, clue: str) -> None:
    with pytest.raises(ValueError, match=clue):
        make()


def test_a_wrong_call_or_measure_writes_nothing(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        session.append(ChatMessage("user", "hello"))
        before = (tmp_path / "s.log").read_bytes()
        with pytest.raises(ValueError, match="kind: 'bogus' is none of open, close, next"):
            session.call("bogus")  # type: ignore[arg-type]
        for tokens in (-1, 1.5, True):
            with pytest.raises(ValueError, match="tokens: a whole number"):
                session.measure(tokens)  # type: ignore[arg-type]
        assert (tmp_path / "s.log").read_bytes() == before
    with Session.open(tmp_path / "s.log", SETTINGS) as session:
        assert len(session.view()) == 1


def test_an_estimator_that_fails_leaves_no_message_behind(tmp_path: Path) -> None:
    def estimate(text: str) -> int:
        raise RuntimeError("no vocabulary")

    with Session.create(tmp_path / "s.log", SETTINGS, estimate=estimate) as session:
        with pytest.raises(RuntimeError, match="no vocabulary"):
            session.append(ChatMessage("user", "hello"))
        assert session.last_seq == 0
    with Session.open(tmp_path / "s.log", SETTINGS) as session:
        assert len(session.view()) == 0


def test_one_log_has_one_writer_by_whichever_name(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s.log", SETTINGS):
        (tmp_path / "link.log").symlink_to(tmp_path / "s.log")
        with pytest.raises(LockedLogError):
            Session.open(tmp_path / "link.log", SETTINGS)


def test_threads_may_share_a_session(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s.log", SETTINGS) as session:

        def work() -> None:
            for number in range(100):
                session.append(ChatMessage("user", f"message {number}"))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with Session.open(tmp_path / "s.log", SETTINGS) as session:
        assert session.last_seq == 400


def test_a_forked_child_and_a_closed_session_do_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.create(tmp_path / "s.log", SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(WriteError, match="a forked process does not own the log"):
            session.append(ChatMessage("user", "from the child"))
    session.append(ChatMessage("user", "from the parent"))
    session.close()
    with pytest.raises(WriteError, match="the session was closed"):
        session.append(ChatMessage("user", "too late"))


def _long_session(path: Path) -> Session:
    session = Session.create(path, SETTINGS)
    for number in range(60):
        session.append(
            ChatMessage("user", f"question {number}: the road ΟΔΟΣΑ is closed, word {number} " * 4)
        )
        session.append(ChatMessage("assistant", f"answer {number} " * 20))
    return session


def test_a_token_counter_that_fails_leaves_the_guard_to_the_estimate(tmp_path: Path) -> None:
    async def count(messages: object) -> int | None:
        raise RuntimeError("429")

    with _long_session(tmp_path / "s.log") as session:
        report = asyncio.run(RecallableCompactor(session, count=count).compact_now())
        assert report is not None
        assert session.passes[-1].ended


@pytest.mark.parametrize("query", ["ΟΔΟΣ", "οδος", "οδοσα", "ΟΔΟΣΑ"])
def test_search_finds_a_sigma_in_any_place(tmp_path: Path, query: str) -> None:
    with _long_session(tmp_path / "s.log") as session:
        assert asyncio.run(RecallableCompactor(session).compact_now()) is not None
        found = asyncio.run(RecallTools(session).history_search(query))
        assert found.matched > 0


@pytest.mark.parametrize("arguments", [[], None, "c1"])
def test_arguments_that_are_no_object_are_a_recall_error(tmp_path: Path, arguments: Any) -> None:
    with (
        Session.create(tmp_path / "s.log", SETTINGS) as session,
        pytest.raises(RecallError, match="the arguments are an object"),
    ):
        asyncio.run(RecallTools(session).call("history_read", arguments))


def test_a_call_id_may_come_again_once_it_was_answered(tmp_path: Path) -> None:
    """Some models number their calls anew in every message; a result belongs to the latest call."""
    call = ChatMessage("assistant", calls=(ToolCall("call_0", "read"),))
    result = ChatMessage("tool", "read it", result_of="call_0")
    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        session.append_all([ChatMessage("user", "first"), call, result, ChatMessage("user", "second"), call])
        with pytest.raises(ValueError, match="used a second time before its result came: store the result"):
            session.append(call)
        with pytest.raises(ValueError, match="used a second time"):
            session.append_all([result, call, call])
        session.append(result)
        with pytest.raises(ValueError, match="no call of that id waits"):
            session.append(result)
        assert session.undo(1) == 3
        with pytest.raises(ValueError, match="no call of that id waits"):
            session.append(result)  # the first call still has its own
    with Session.open(tmp_path / "s.log", SETTINGS) as session:
        session.append_all([call, result])
        assert [m.result_of for m in session.view().messages() if m.role == "tool"] == ["call_0", "call_0"]


def test_undo_leaves_a_call_waiting_whose_result_went_with_it(tmp_path: Path) -> None:
    call = ChatMessage("assistant", calls=(ToolCall("call_0", "read"),))
    result = ChatMessage("tool", "read it", result_of="call_0")
    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        session.append_all([ChatMessage("user", "first"), call, ChatMessage("user", "hurry"), result, call])
        session.undo(1)
        session.append(result)
