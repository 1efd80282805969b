"""Which call a result answers.

An id names a call only until it is answered: some models number their calls anew in every message. So
a result belongs to the *latest* call of its id before it, and this is the one place that says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from foldproof.reference.messages import ChatMessage


def owners(messages: Iterable[ChatMessage]) -> list[int | None]:
    """For each message the position of the one whose call it answers; none where there is no such call."""
    latest: dict[str, int] = {}
    found: list[int | None] = []
    for position, message in enumerate(messages):
        found.append(None if message.result_of is None else latest.get(message.result_of))
        latest.update((call.id, position) for call in message.calls)
    return found


class OpenCalls:
    """The calls of a history that wait for a result."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()
        self._waiting: set[str] = set()

    def check(self, batch: Sequence[ChatMessage]) -> None:
        """ValueError where messages could not follow: an id that still waits, a result without its call."""
        now: dict[str, bool] = {}
        for message in batch:
            for call in message.calls:
                if now.get(call.id, call.id in self._waiting):
                    raise ValueError(
                        f"call id {call.id!r} is used a second time before its result came: "
                        "store the result first, or give the call another id"
                    )
                now[call.id] = True
            wanted = message.result_of
            if wanted is not None:
                if not now.get(wanted, wanted in self._waiting):
                    raise ValueError(f"result of {wanted!r}: no call of that id waits for one")
                now[wanted] = False

    def add(self, message: ChatMessage) -> None:
        for call in message.calls:
            self._made[call.id] += 1
            self._waiting.add(call.id)
        if message.result_of is not None:
            self._waiting.discard(message.result_of)

    def take_back(self, messages: Sequence[ChatMessage]) -> None:
        """The last messages are gone: their calls with them, and what their results answered waits again."""
        for message in reversed(messages):
            for call in message.calls:
                self._made[call.id] -= 1
                self._waiting.discard(call.id)
            if message.result_of is not None and self._made[message.result_of] > 0:
                self._waiting.add(message.result_of)

    def give_up(self, messages: Iterable[ChatMessage]) -> None:
        """These messages are no longer shown: a result that came now could not be put behind its call."""
        self._waiting -= {call.id for message in messages for call in message.calls}
