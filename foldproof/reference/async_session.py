"""A session for an event loop: its commands are awaited, and the loop never waits for the disk.

A command changes the session at once, before anything else runs on the loop, so commands happen in the
order in which they were called. What its awaiting waits for is the disk: where the ``fsync`` policy is
``turn``, the commands that wait at the same time share one sync, which a thread makes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from foldproof.reference.messages import ChatMessage
from foldproof.reference.protocols import TokenEstimator
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.spine import TransitionKind
from foldproof.reference.surface import SurfaceView

Result = TypeVar("Result")


class _LaterSession(Session):
    """A session that notes that a sync is due, for someone else to make it."""

    due = False

    def sync(self) -> None:
        self.due = True

    def sync_now(self) -> None:
        super().sync()


class AsyncSession:
    """An event-sourced session whose commands are coroutines. Use `create`, `open` or `in_memory`.

    It is acknowledged, and as safe from a power cut as the ``fsync`` policy promises, when the command
    has returned; other tasks see a command's effect a moment before. A pass of a compactor, which is
    given `session`, becomes so with the next command, or with `flush`: one that is lost is run again.

    With the policy ``always`` every append syncs on the loop itself: take ``turn``.
    """

    def __init__(self, session: _LaterSession) -> None:
        self._session = session
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    @classmethod
    async def create(
        cls,
        path: Path | str,
        settings: Settings | None = None,
        estimate: TokenEstimator | None = None,
        session_id: str | None = None,
    ) -> Self:
        """Begin a session with a new log at ``path``. Raises `LogError` if there is one."""
        return cls(await asyncio.to_thread(_LaterSession.create, path, settings, estimate, session_id))

    @classmethod
    async def open(
        cls, path: Path | str, settings: Settings | None = None, estimate: TokenEstimator | None = None
    ) -> Self:
        """Go on with the session in ``path``. Raises `CorruptLogError`, `LockedLogError`, OSError."""
        return cls(await asyncio.to_thread(_LaterSession.open, path, settings, estimate))

    @classmethod
    def in_memory(cls, settings: Settings | None = None, estimate: TokenEstimator | None = None) -> Self:
        """A session without a file: for tests, and for what need not last."""
        return cls(_LaterSession.in_memory(settings, estimate))

    @property
    def session(self) -> Session:
        """The session itself: for compactors, recall tools, and everything that only looks."""
        return self._session

    def view(self) -> SurfaceView:
        """What the model would be sent now: a snapshot, in constant time, that never changes."""
        return self._session.view()

    async def append(self, message: ChatMessage) -> int:
        """`Session.append`: store a message and return its seq."""
        return await self._stored(self._session.append(message))

    async def append_all(self, messages: Iterable[ChatMessage]) -> int:
        """`Session.append_all`: store messages in one write; returns the last seq."""
        return await self._stored(self._session.append_all(messages))

    async def measure(self, tokens: int) -> None:
        """`Session.measure`: note the size of the view as the provider reported it, in tokens."""
        self._session.measure(tokens)
        await self.flush()

    async def undo(self, count: int = 1) -> int:
        """`Session.undo`: take back the last ``count`` prompts and all that followed them."""
        return await self._stored(self._session.undo(count))

    async def clear(self) -> None:
        """`Session.clear`: begin anew in the same log."""
        self._session.clear()
        await self.flush()

    async def call(self, kind: TransitionKind, memory: str = "", message: ChatMessage | None = None) -> int:
        """`Session.call`: accept a call that opens or closes a task; returns its seq."""
        return await self._stored(self._session.call(kind, memory, message))

    async def step_end(self) -> bool:
        """`Session.step_end`: commit the pending transition to the tree."""
        return await self._stored(self._session.step_end())

    async def toggle(self, enabled: bool) -> None:
        """`Session.toggle`: switch the fold."""
        self._session.toggle(enabled)
        await self.flush()

    async def adopt(self, settings: Settings) -> None:
        """`Session.adopt`: go on with other settings, as when the model is switched."""
        self._session.adopt(settings)
        await self.flush()

    async def flush(self) -> None:
        """Wait until all that was written is as safe as the policy promises. Raises `WriteError`."""
        if self._session.due and self._next is None:
            # A sync that runs already may have begun before our write. The next one is ours, and that
            # of everybody who comes until it begins.
            self._next = asyncio.create_task(self._sync())
        sync = self._next or self._running
        if sync is not None:
            await asyncio.shield(sync)  # who is cancelled leaves it to the others

    async def close(self) -> None:
        """Flush, and release the log."""
        try:
            await self.flush()
        finally:
            self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _stored(self, result: Result) -> Result:
        await self.flush()
        return result

    async def _sync(self) -> None:
        async with self._turn:
            self._running, self._next = self._next, None
            self._session.due = False
            try:
                await asyncio.to_thread(self._session.sync_now)
            finally:
                self._running = None
