"""A pass in flight: its summarise calls wait until they are let, and the loop turns as far as it must."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from foldproof.reference.passes import PassReport
from foldproof.reference.protocols import SummaryRequest

TURNS = 12
"""More turns of the loop than a pass takes from one wait to the next."""


class CallFailedError(Exception):
    """A summarise call that fails because it was told to."""


class Waiting:
    """A summarizer whose calls, in the order of the regions that they are for, wait for their answers."""

    def __init__(self) -> None:
        self.calls: list[tuple[SummaryRequest, asyncio.Future[str]]] = []

    async def summarize(self, request: SummaryRequest) -> str:
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.calls.append((request, answer))
        return await answer


class Flight:
    """A compactor's coroutine that has been started and not yet ended; ``report`` when it has."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, start: Callable[[], Coroutine[Any, Any, PassReport | None]]
    ) -> None:
        self._loop = loop
        self._task = loop.create_task(start())
        self.turn()

    def turn(self) -> None:
        """Let everything run that does not wait for an answer."""

        async def turns() -> None:
            for _ in range(TURNS):
                await asyncio.sleep(0)

        self._loop.run_until_complete(turns())

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def report(self) -> PassReport | None:
        """What the pass reported. Raises what ended it."""
        return self._task.result()

    @property
    def error(self) -> BaseException | None:
        """What ended it; none while it flies, and where it ended well."""
        return self._task.exception() if self._task.done() else None

    def cancel(self) -> None:
        """The host cancels the pass; what it raises is not of interest."""
        self._task.cancel()
        self._loop.run_until_complete(asyncio.gather(self._task, return_exceptions=True))
