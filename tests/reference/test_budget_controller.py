"""When a pass starts: the verdicts, the pause and what ends it, the deferral and what ends it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from foldproof.reference.async_session import AsyncSession
from foldproof.reference.basic import BasicCompactor
from foldproof.reference.budget import Verdict, verdict
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import SettingsError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

SMALL = Settings(
    window_tokens=100,
    retain_tokens=50,
    chunk_tokens=30,
    stub_tokens=1,
    state_cap_tokens=10,
    message_overhead_tokens=0,
    fsync="never",
)


def words(text: str) -> int:
    return len(text.split())


def filled(path: Path, turns: int = 9) -> Session:
    """Turns of ten tokens."""
    session = Session.create(path, SMALL, words)
    for _ in range(turns):
        session.append(ChatMessage("user", "one two three four five six seven eight nine ten"))
    return session


async def count_that_says_seven(_messages: object) -> int:
    return 7


def test_the_verdicts(tmp_path: Path) -> None:
    with filled(tmp_path / "log", 7) as session:
        assert verdict(session, overflow=True) is Verdict.BELOW
        assert not verdict(session, overflow=True).is_overflow
        session.append(ChatMessage("user", "one two three four five six seven eight nine ten"))
        assert verdict(session, overflow=False) is Verdict.DUE
        session.pass_runs = True
        assert verdict(session, overflow=False) is Verdict.RUNNING
        assert asyncio.run(RecallableCompactor(session).compact_if_needed()) is None
        session.pass_runs = False
        session.overflow_passes = SMALL.overflow_passes
        assert verdict(session, overflow=False) is Verdict.DUE
        assert verdict(session, overflow=True) is Verdict.SPENT
        assert verdict(session, overflow=True).is_overflow
        session.floor = 80
        assert verdict(session, overflow=True) is Verdict.FUTILE
        session.clear()
        assert (session.floor, session.overflow_passes) == (None, 0)


def test_a_basic_compactor_goes_by_the_same_budget(tmp_path: Path) -> None:
    with filled(tmp_path / "log") as session:
        session.overflow_passes = SMALL.overflow_passes
        assert asyncio.run(BasicCompactor(session).compact_if_needed("overflow")) is None
        assert asyncio.run(BasicCompactor(session).compact_if_needed("pressure")) is not None


def futile(path: Path) -> None:
    """A log whose last pass left a view that still reaches the threshold: one message alone does."""
    with filled(path) as session:
        session.append(ChatMessage("user", "word " * 90))
        report = asyncio.run(RecallableCompactor(session).compact_if_needed())
        assert report is not None
        assert report.outcome == "committed"
        assert verdict(session, overflow=False) is Verdict.FUTILE


@pytest.mark.parametrize("window", [90, 102])
def test_any_other_window_ends_the_pause_for_good(tmp_path: Path, window: int) -> None:
    """The larger one, too, does not hold what was left."""
    path, other = tmp_path / "log", SMALL.model_copy(update={"window_tokens": window})
    futile(path)
    with Session.open(path, SMALL, words) as session:
        assert session.futile, "a resume forgot the pause"
        session.adopt(other)
        assert verdict(session, overflow=False) is Verdict.DUE
        session.adopt(SMALL)
        assert verdict(session, overflow=False) is Verdict.DUE


def test_a_session_that_is_opened_with_another_window_says_so_in_its_log(tmp_path: Path) -> None:
    path, other = tmp_path / "log", SMALL.model_copy(update={"window_tokens": 90})
    futile(path)
    lines = path.read_bytes().count(b"\n")
    assert not Session.read(path, other, words).futile
    assert Session.read(path, SMALL, words).futile
    assert path.read_bytes().count(b"\n") == lines, "who reads may not write"
    with Session.open(path, other, words) as session:
        assert not session.futile
    assert path.read_bytes().count(b"\n") == lines + 1
    with Session.open(path, SMALL, words) as session:
        assert not session.futile


def test_what_is_stored_cannot_be_counted_anew(tmp_path: Path) -> None:
    with filled(tmp_path / "log", 1) as session:
        for change, said in (
            ({"message_overhead_tokens": 4}, "message_overhead_tokens: 4: it is 0"),
            ({"fsync": "always"}, "fsync: 'always': it is 'never'"),
        ):
            with pytest.raises(SettingsError, match=said):
                session.adopt(SMALL.model_copy(update=change))
        assert session.settings is SMALL


def test_an_async_session_adopts_settings_too() -> None:
    async def go() -> None:
        async with AsyncSession.in_memory(SMALL, words) as session:
            await session.adopt(SMALL.model_copy(update={"window_tokens": 90}))
            assert session.session.settings.window_tokens == 90

    asyncio.run(go())


@pytest.mark.parametrize("how", ["undo", "clear"])
def test_what_the_guard_refused_is_forgotten_with_the_history(tmp_path: Path, how: str) -> None:
    """Otherwise a session that was cleared would wait until more is stale than ever was."""
    with filled(tmp_path / "log") as session:
        compactor = RecallableCompactor(session, count=count_that_says_seven)
        report = asyncio.run(compactor.compact_if_needed())
        assert report is not None
        assert report.outcome == "guard"
        assert asyncio.run(compactor.compact_if_needed()) is None
        if how == "undo":
            session.undo(1)
        else:
            session.clear()
        while session.trigger < 90:
            session.append(ChatMessage("user", "one two three four five six seven eight nine ten"))
        again = asyncio.run(RecallableCompactor(session).compact_if_needed())
        assert again is not None
        assert again.outcome == "committed"
