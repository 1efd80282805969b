"""The handoff probe: what of a session's facts survives compaction, in the view and within reach.

No model takes part, so the probe says what a model *could* still know: whether a fact's literal is in
the request, whether a search for it finds it, whether reading what the footers point to leads to it in
at most two hops, and what that costs. Whether a model does recall is another question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from foldproof.conformance.importers import ImportedSession
from foldproof.conformance.replaying import replay_session
from foldproof.conformance.synthetic import Plant
from foldproof.reference.basic import BasicCompactor
from foldproof.reference.checkpoints import FOOTER
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.passes import PassReport
from foldproof.reference.protocols import Summarizer
from foldproof.reference.recall import RecallTools, read_text, search_text
from foldproof.reference.session import Session
from foldproof.reference.surface import ItemClass

MAX_HOPS = 2


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """After one pass, which ran before message number ``messages``.

    Facts: ``planted`` so far, of these ``stale`` (their message is compacted).

    Of the stale ones: ``in_view`` (the literal stands in a checkpoint's text), ``found`` (a search finds
    the sentence's message), ``readable`` (following footers from the view leads to the sentence in at
    most two hops), ``recalled`` (found, and read where the search pointed). Mean tokens of a recall:
    ``search_tokens`` for the search result, ``read_tokens`` with the pages read after it.
    """

    number: int
    messages: int
    planted: int
    stale: int
    in_view: int
    found: int
    readable: int
    recalled: int
    search_tokens: float
    read_tokens: float
    view_tokens: int
    checkpoint_tokens: int
    cache_missed_tokens: int
    cache_missed_bytes: int
    summarizer_input_tokens: int

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        return {"pass": data.pop("number"), **data}


class Prober:
    """Probes one session after each pass. ``tools`` is none for a compactor that has no recall tools."""

    def __init__(self, session: Session, plants: Sequence[Plant], tools: RecallTools | None) -> None:
        self.session, self.plants, self.tools = session, plants, tools
        # A committed checkpoint's span never changes, so each is read once however often it is reached.
        self._pages: dict[str, list[str]] = {}

    async def row(self, report: PassReport, messages: int) -> ProbeRow:
        """Probe now; ``messages`` is how many of the session's messages are stored."""
        view = self.session.view()
        tail = "\n".join(item.message.text for item in view if item.kind is ItemClass.MESSAGE)
        checkpoints = [item for item in view if item.kind is not ItemClass.MESSAGE]
        summaries = "\n".join(item.message.text for item in checkpoints)
        planted = [plant for plant in self.plants if plant.index < messages]
        stale = [plant for plant in planted if plant.sentence not in tail]
        within = await self._within_reach([f"c{item.checkpoint}" for item in checkpoints])
        found = recalled = 0
        search_tokens: list[int] = []
        read_tokens: list[int] = []
        for plant in stale:
            costs = await self._recall(plant)
            if costs is None:
                continue
            found += 1
            search_tokens.append(costs[0])
            if costs[1] is not None:
                recalled += 1
                read_tokens.append(costs[0] + costs[1])
        return ProbeRow(
            number=report.number,
            messages=messages,
            planted=len(planted),
            stale=len(stale),
            in_view=sum(plant.literal in summaries for plant in stale),
            found=found,
            readable=sum(plant.sentence in within for plant in stale),
            recalled=recalled,
            search_tokens=_mean(search_tokens),
            read_tokens=_mean(read_tokens),
            view_tokens=self.session.tokens,
            checkpoint_tokens=sum(item.tokens for item in checkpoints),
            cache_missed_tokens=report.cache_missed_tokens,
            cache_missed_bytes=report.cache_missed_bytes,
            summarizer_input_tokens=report.summarizer_input_tokens,
        )

    async def _within_reach(self, start: list[str]) -> str:
        """All that following footers shows: hop by hop from the checkpoints in the view."""
        if self.tools is None:
            return ""
        texts: list[str] = []
        seen: set[str] = set()
        frontier = start
        for _ in range(MAX_HOPS):
            following: list[str] = []
            for checkpoint in frontier:
                if checkpoint not in seen:
                    seen.add(checkpoint)
                    text = "".join(await self._read(checkpoint))
                    texts.append(text)
                    following += [f"c{match.group(1)}" for match in FOOTER.finditer(text)]
            frontier = following
        return "\n".join(texts)

    async def _read(self, checkpoint: str) -> list[str]:
        """The pages of a checkpoint's span, read with the tool as a model would."""
        if self.tools is None:
            return []
        if checkpoint not in self._pages:
            pages, offset = [], 0
            while True:
                page = await self.tools.history_read(checkpoint, offset)
                pages.append(page.text)
                if page.next_offset is None:
                    break
                offset = page.next_offset
            self._pages[checkpoint] = pages
        return self._pages[checkpoint]

    async def _recall(self, plant: Plant) -> tuple[int, int | None] | None:
        """Search for a fact, then read page by page where the first match points, as a model would.

        Tokens of the search result and of the pages (none if the sentence never came); none if the
        search did not find it.
        """
        if self.tools is None:
            return None
        page = await self.tools.history_search(plant.literal)
        if not any(plant.literal in match.snippet for match in page.matches):
            return None
        checkpoint = page.matches[0].checkpoint
        cost, text = 0, ""
        offset: int | None = 0
        while offset is not None:
            part = await self.tools.history_read(checkpoint, offset)
            cost += self.session.estimate(read_text(part))
            text += part.text
            if plant.sentence in text:
                return self.session.estimate(search_text(page)), cost
            offset = part.next_offset
        return self.session.estimate(search_text(page)), None


def _mean(values: Sequence[int]) -> float:
    return round(sum(values) / len(values), 1) if values else 0.0


async def probe_recallable(
    session: Session, source: ImportedSession, plants: Sequence[Plant], summarizer: Summarizer | None = None
) -> list[ProbeRow]:
    """Replay ``source`` through the recallable compactor and probe after every pass that committed."""
    return await _probe(
        RecallableCompactor(session, summarizer), source, Prober(session, plants, RecallTools(session))
    )


async def probe_basic(
    session: Session,
    source: ImportedSession,
    plants: Sequence[Plant],
    summarizer: Summarizer | None = None,
    match: Sequence[ProbeRow] = (),
) -> list[ProbeRow]:
    """The same for the basic compactor, which has no recall tools.

    With ``match``, the rows of another compactor on the same session, its summary may take as many
    tokens as the other's checkpoints took at that place: both have the same budget in the view.
    """
    compactor = BasicCompactor(session, summarizer)
    default = compactor.summary_cap_tokens

    def set_cap(messages: int) -> None:
        latest = next((row for row in reversed(match) if row.messages <= messages), None)
        compactor.summary_cap_tokens = latest.checkpoint_tokens if latest is not None else default

    return await _probe(compactor, source, Prober(session, plants, None), set_cap)


async def _probe(
    compactor: RecallableCompactor | BasicCompactor,
    source: ImportedSession,
    prober: Prober,
    before_request: Callable[[int], None] | None = None,
) -> list[ProbeRow]:
    rows: list[ProbeRow] = []

    async def on_pass(report: PassReport, messages: int) -> None:
        if report.outcome == "committed":
            rows.append(await prober.row(report, messages))

    await replay_session(compactor, source, on_pass, before_request)
    return rows
