"""The session on an event loop: in order, acknowledged when on the disk, and never in the loop's way."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from foldproof.reference.async_session import AsyncSession
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import LockedLogError, UndoRejectedError, WriteError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.recall import RecallTools
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

SETTINGS = Settings.for_window(2_000)


def prompt(number: int) -> ChatMessage:
    return ChatMessage("user", f"prompt {number}")


class Disk:
    """An ``os.fsync`` that waits until it is let go, notes how far the log went, and may fail."""

    def __init__(self, path: Path) -> None:
        self.path, self.go, self.began = path, threading.Event(), threading.Event()
        self.synced: list[int] = []
        self.fails = False

    def __call__(self, descriptor: int) -> None:
        size = self.path.stat().st_size
        self.began.set()
        assert self.go.wait(30), "the loop never let the disk go: it was blocked"
        if self.fails:
            raise OSError(5, "Input/output error")
        self.synced.append(size)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "s.log")


def test_the_commands_are_those_of_the_session(tmp_path: Path) -> None:
    async def go() -> None:
        async with await AsyncSession.create(tmp_path / "s.log", SETTINGS) as session:
            assert await session.append(prompt(0)) == 1
            assert await session.append_all([prompt(1), prompt(2)]) == 3
            await session.call("open")
            assert await session.step_end()
            await session.append(ChatMessage("assistant", "done"))
            await session.call("close", memory="did it")
            await session.step_end()
            await session.toggle(False)
            await session.toggle(True)
            await session.measure(42)
            assert session.session.trigger == 42
            assert "did it" in [i.message for i in session.view()][-3].text
            with pytest.raises(UndoRejectedError):
                await session.undo(9)
            assert await session.undo() == 6
            before = list(session.view())
        async with await AsyncSession.open(tmp_path / "s.log", SETTINGS) as session:
            assert list(session.view()) == before
            with pytest.raises(LockedLogError):
                await AsyncSession.open(tmp_path / "s.log", SETTINGS)
            await session.clear()
            assert len(session.view()) == 0
        with Session.open(tmp_path / "s.log", SETTINGS) as again:  # closing released the lock
            assert len(again.view()) == 0

    asyncio.run(go())


def test_the_loop_goes_on_while_the_disk_works_and_waiters_share_a_sync(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        session = await AsyncSession.create(tmp_path / "s.log", SETTINGS)
        monkeypatch.setattr(os, "fsync", disk)
        first = asyncio.create_task(session.append(prompt(0)))
        await asyncio.to_thread(disk.began.wait)
        # The disk is busy, and the loop is here: forty-nine more are stored meanwhile, none is acknowledged.
        others = [asyncio.create_task(session.append(prompt(n))) for n in range(1, 50)]
        await asyncio.sleep(0)
        assert len(session.view()) == 50
        assert not any(task.done() for task in (first, *others))
        disk.go.set()
        assert [await task for task in (first, *others)] == list(range(1, 51))
        assert len(disk.synced) == 2, "forty-nine that wait at the same time share one sync"
        assert disk.synced[-1] == disk.path.stat().st_size, "acknowledged before it was on the disk"
        await session.close()

    asyncio.run(go())


def test_what_a_running_sync_may_have_missed_waits_for_the_next(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        session = await AsyncSession.create(tmp_path / "s.log", SETTINGS)
        monkeypatch.setattr(os, "fsync", disk)
        disk.go.set()
        for number in range(20):
            for task in [asyncio.create_task(session.append(prompt(number))) for _ in range(number % 3 + 1)]:
                stored = await task
                synced = disk.path.read_bytes()[: disk.synced[-1]].count(b"\n") - 1
                assert synced >= stored, "acknowledged before it was on the disk"
        await session.close()

    asyncio.run(go())


def test_a_failing_disk_reaches_everyone_who_waits(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        session = await AsyncSession.create(tmp_path / "s.log", SETTINGS)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", disk)
            disk.fails = True
            disk.go.set()
            results = await asyncio.gather(
                *(session.append(prompt(n)) for n in range(5)), return_exceptions=True
            )
        assert [type(result) for result in results] == [WriteError] * 5
        await session.append(prompt(5))
        await session.close()
        with Session.open(tmp_path / "s.log", SETTINGS) as again:
            assert len(again.view()) == 6  # not acknowledged is not: not there

    asyncio.run(go())


def test_who_is_cancelled_leaves_the_sync_to_the_others(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        session = await AsyncSession.create(tmp_path / "s.log", SETTINGS)
        monkeypatch.setattr(os, "fsync", disk)
        first, second = (asyncio.create_task(session.append(prompt(n))) for n in range(2))
        await asyncio.to_thread(disk.began.wait)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        flush = asyncio.create_task(session.flush())  # nothing is due, but a sync runs: it waits for that
        await asyncio.sleep(0)
        assert not flush.done()
        disk.go.set()
        assert await second == 2
        await flush
        await session.close()

    asyncio.run(go())


def test_compactor_and_tools_work_on_it(tmp_path: Path) -> None:
    async def go() -> None:
        async with await AsyncSession.create(tmp_path / "s.log", SETTINGS) as session:
            compactor, tools = RecallableCompactor(session.session), RecallTools(session.session)
            for number in range(60):
                await compactor.compact_if_needed()
                await session.append(
                    ChatMessage("user", f"step {number} says word-{number}. " + "usual " * 30)
                )
                await session.append(ChatMessage("assistant", "nothing new " * 20))
            assert (await tools.history_search("word-3.")).matched == 1
            before = list(session.view())
        async with await AsyncSession.open(tmp_path / "s.log", SETTINGS) as session:
            assert list(session.view()) == before

    asyncio.run(go())


def test_in_memory_needs_no_disk() -> None:
    async def go() -> None:
        async with AsyncSession.in_memory(SETTINGS) as session:
            await session.append(prompt(0))
            assert len(session.view()) == 1

    asyncio.run(go())
