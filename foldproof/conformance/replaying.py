"""Replaying an imported session through a compactor, as its agent would have lived it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from foldproof.conformance.importers import ImportedMessage, ImportedSession
from foldproof.reference.passes import PassReport, Region, commit
from foldproof.reference.session import Session
from foldproof.reference.surface import ItemClass

OnPass = Callable[[PassReport, int], Awaitable[None]]


class Compactor(Protocol):
    """What a replay needs of a compactor."""

    session: Session

    async def compact_if_needed(self) -> PassReport | None: ...


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay did: the passes, the seq of each imported message, and what could not be taken over."""

    passes: tuple[PassReport, ...]
    seqs: tuple[int, ...]
    notes: tuple[str, ...]


async def replay_session(
    compactor: Compactor,
    imported: ImportedSession,
    on_pass: OnPass | None = None,
    before_request: Callable[[int], None] | None = None,
) -> Replay:
    """Append every message; before each of the assistant's, a request went out: a pass runs if one is due.

    ``on_pass`` is awaited after each pass with its report and the number of messages so far,
    ``before_request`` called with that number before it is decided whether a pass is due. A
    checkpoint of another compactor becomes one of the class basic, where its span is still as it was.
    """
    session = compactor.session
    passes: list[PassReport] = []
    seqs: list[int] = []
    lost = 0
    for number, message in enumerate(imported.messages):
        if message.role == "assistant":
            if before_request is not None:
                before_request(number)
            report = await compactor.compact_if_needed()
            if report is not None:
                passes.append(report)
                if on_pass is not None:
                    await on_pass(report, number)
        if not message.replaces:
            seqs.append(session.append(message.message))
        elif adopt(session, message, [seqs[index] for index in message.replaces]):
            seqs.append(session.last_seq - 1)  # the end of the pass comes after the checkpoint
        else:
            lost += 1
            seqs.append(session.last_seq)
    notes = (f"{lost} checkpoints of another compactor left out: their span was compacted already",)
    return Replay(tuple(passes), tuple(seqs), notes if lost else ())


def adopt(session: Session, message: ImportedMessage, seqs: list[int]) -> bool:
    """Put another compactor's checkpoint on the surface in place of ``seqs``; whether that was possible."""
    view = session.view()
    at = next((place for place, item in enumerate(view) if item.seq == seqs[0]), len(view))
    if [item.seq for item in view[at : at + len(seqs)]] != seqs:
        return False
    span = (seqs[0], seqs[-1])
    session.record(
        "compaction/start", {"compactor": "imported", "trigger": "request", "regions": [list(span)]}
    )
    commit(session, [Region(ItemClass.BASIC, tuple(seqs), span, message.text)])
    session.record("compaction/end", {"error": None})
    return True
