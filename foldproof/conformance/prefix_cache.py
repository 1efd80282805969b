"""What a pass costs the prompt cache, pass after pass, while a session grows.

Three compactors live through the same synthetic session with passes at the same places: the
recallable one, the basic one with the same cap for its summary as the recallable one's state, and the
basic one whose summary takes as many tokens as all checkpoints of the recallable one at that place
(the same budget in the view, so that it could hold as much).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foldproof.conformance.synthetic import synthetic_session
from foldproof.reference.basic import BasicCompactor
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.passes import PassReport
from foldproof.reference.protocols import KEYWORDS, Summarizer, SummaryRequest
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.surface import ItemClass


class FillingSummarizer:
    """Uses its whole budget, as models asked for a full summary do. The words mean nothing."""

    def __init__(self, session: Session) -> None:
        self._estimate = session.estimate

    async def summarize(self, request: SummaryRequest) -> str:
        word = "summary "
        text = word * (request.max_tokens // max(1, self._estimate(word)))
        if request.kind == "state":
            return text
        half = text[: len(text) // 2]
        return f"{half}\n{KEYWORDS}{half}"[: len(text)]


@dataclass(frozen=True, slots=True)
class CacheRow:
    """One pass: the session's length in messages; for each compactor what the request missed, in tokens."""

    number: int
    messages: int
    recallable: int
    basic: int
    basic_matched: int
    recallable_request: int
    basic_request: int
    basic_matched_request: int

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        return {"pass": data.pop("number"), **data}


async def prefix_cache(
    folder: Path, settings: Settings, passes: int, messages_per_pass: int, seed: int = 0, *, fill: bool = True
) -> list[CacheRow]:
    """Run ``passes`` passes, one about every ``messages_per_pass`` messages; return what each missed.

    With ``fill`` the summaries use up their caps; without, the extractive summarizer writes them, which
    often has less to say.
    """
    names = ("recallable", "basic", "basic_matched")
    sessions = {name: Session.create(folder / name, settings) for name in names}

    def summarizer(name: str) -> Summarizer | None:
        return FillingSummarizer(sessions[name]) if fill else None

    ours = RecallableCompactor(sessions["recallable"], summarizer("recallable"))
    basic = BasicCompactor(sessions["basic"], summarizer("basic"))
    matched = BasicCompactor(sessions["basic_matched"], summarizer("basic_matched"))
    rows: list[CacheRow] = []
    # A turn has two messages at least, so there are enough of them.
    source = synthetic_session(passes * messages_per_pass // 2 + 1, seed).messages
    for number, item in enumerate(source):
        if item.role == "user" and number >= messages_per_pass * (len(rows) + 1):
            report = await ours.compact_now()
            held = [i.tokens for i in sessions["recallable"].view() if i.kind is not ItemClass.MESSAGE]
            matched.summary_cap_tokens = max(1, sum(held))
            reports = (report, await basic.compact_now(), await matched.compact_now())
            rows.append(_row(len(rows) + 1, number, *reports))
            if len(rows) == passes:
                break
        for session in sessions.values():
            session.append(item.message)
    for session in sessions.values():
        session.close()
    return rows


def _row(number: int, messages: int, *reports: PassReport | None) -> CacheRow:
    missed = [report.cache_missed_tokens if report is not None else 0 for report in reports]
    sizes = [report.tokens_after if report is not None else 0 for report in reports]
    return CacheRow(number, messages, *missed, *sizes)
