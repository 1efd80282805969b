"""The task tree, the fold and the budget, as a host uses them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import TransitionRejectedError
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.recall import RecallTools
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.surface import ItemClass

SMALL = Settings.for_window(8_000)


def texts(session: Session) -> list[str]:
    return [item.message.text for item in session.view()]


def worked(path: Path) -> Session:
    session = Session.create(path, SMALL)
    session.append(ChatMessage("user", "fix the build"))
    session.call("open")
    session.step_end()
    session.append(ChatMessage("assistant", "the linker wants zlib.lib"))
    session.call("close", memory="Fixed: zlib was missing.")
    session.step_end()
    return session


def test_a_closed_task_is_folded_and_within_reach(tmp_path: Path) -> None:
    with worked(tmp_path / "log") as session:
        folded = [item for item in session.view() if item.kind is ItemClass.TASK]
        assert len(folded) == 1
        assert folded[0].message.text.startswith("Fixed: zlib was missing.\n[checkpoint c")
        assert "the linker wants zlib.lib" not in texts(session)
        tools = RecallTools(session)
        found = asyncio.run(tools.history_search("ZLIB.LIB"))
        assert [match.checkpoint for match in found.matches] == [f"c{folded[0].checkpoint}"]
        assert "zlib.lib" in asyncio.run(tools.history_read(found.matches[0].checkpoint)).text
        live = session.view().messages()
    with Session.open(tmp_path / "log", SMALL) as again:
        assert again.view().messages() == live


def test_an_undo_into_a_task_takes_its_checkpoint_along(tmp_path: Path) -> None:
    with worked(tmp_path / "log") as session:
        session.undo(1)
        assert texts(session) == []
        assert not session.checkpoints
        assert asyncio.run(RecallTools(session).history_search("zlib")).scanned == 0


def test_the_fold_can_be_switched(tmp_path: Path) -> None:
    with worked(tmp_path / "log") as session:
        folded = texts(session)
        session.toggle(False)
        assert "the linker wants zlib.lib" in texts(session)
        session.toggle(True)
        assert texts(session) == folded


def test_what_the_tree_does_not_take_is_refused_with_a_reason() -> None:
    session = Session.in_memory(SMALL)
    reasons = []
    for attempt in (
        lambda: session.call("close"),
        lambda: (session.call("open"), session.append(ChatMessage("user", "too early"))),
        lambda: session.call("open"),
        lambda: (session.toggle(False), session.call("open")),
    ):
        with pytest.raises(TransitionRejectedError) as caught:
            attempt()
        reasons.append(caught.value.reason)
    assert reasons == ["no-open-task", "pending", "pending", "fold-off"]
    two = ChatMessage("assistant", calls=(ToolCall("a", "x"), ToolCall("b", "y")))
    session.toggle(True)
    with pytest.raises(ValueError, match="exactly one call"):
        session.call("open", message=two)


def test_a_region_does_not_part_a_task_from_the_carrier_that_closed_it(tmp_path: Path) -> None:
    with worked(tmp_path / "log") as session:
        session.append_all(ChatMessage("user", "words " * 1_000) for _ in range(12))
        asyncio.run(RecallableCompactor(session).compact_now())
        for checkpoint in session.checkpoints.values():
            last = session.items[checkpoint.shadowed[-1]]
            assert last.kind is not ItemClass.TASK


class Long:
    """A state as long as it may be, and stubs that are not much shorter than what they index."""

    async def summarize(self, request: SummaryRequest) -> str:
        return "word " * request.max_tokens


def test_a_futile_pass_is_not_repeated_until_the_history_is_replaced_or_the_window_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(
        window_tokens=2_000,
        threshold_ratio=0.5,
        retain_tokens=100,
        chunk_tokens=300,
        stub_tokens=30,
        state_cap_tokens=100,
    )
    with Session.create(tmp_path / "log", settings) as session:
        session.append_all(ChatMessage("user", "words " * 100) for _ in range(300))
        report = asyncio.run(RecallableCompactor(session, Long()).compact_if_needed())
        assert report is not None
        assert report.outcome == "committed"
        assert session.futile
        assert "of a threshold of 1000 after a pass: passes under pressure pause" in caplog.text
        session.append_all(ChatMessage("user", "words " * 100) for _ in range(20))
        for trigger in ("pressure", "overflow"):
            assert asyncio.run(RecallableCompactor(session, Long()).compact_if_needed(trigger)) is None
    with Session.open(tmp_path / "log", settings) as again:
        assert again.futile, "a resume forgot the pause"
        again.undo(1)
        assert not again.futile
    with Session.open(tmp_path / "log", settings.model_copy(update={"window_tokens": 1_900})) as other:
        assert not other.futile


def test_an_overflow_is_believed_only_if_the_view_reaches_the_threshold(tmp_path: Path) -> None:
    with Session.create(tmp_path / "log", SMALL) as session:
        session.append_all(ChatMessage("user", "words " * 200) for _ in range(10))
        assert session.trigger < SMALL.threshold_tokens
        assert asyncio.run(RecallableCompactor(session).compact_if_needed("overflow")) is None
        assert not session.passes


def test_published_sizes_are_of_one_moment() -> None:
    session = Session.in_memory(SMALL)
    for number in range(20):
        session.append(ChatMessage("user", f"{number} " * 50))
        if number % 5 == 4:
            session.measure(session.tokens + 3)
        assert session.sizes.projected == session.trigger
        assert session.sizes.raw >= session.sizes.projected
