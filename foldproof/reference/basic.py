"""The baseline: one summary at the head of the surface, written anew every pass; nothing can be recalled."""

from __future__ import annotations

import time

from foldproof.reference.budget import Verdict, verdict
from foldproof.reference.compactor import single_pass
from foldproof.reference.passes import (
    PassReport,
    Region,
    Trigger,
    can_land,
    clean,
    commit,
    missed,
    size_after,
)
from foldproof.reference.plan import edges, retain_boundary
from foldproof.reference.protocols import Summarizer, SummaryRequest
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.summarizers.extractive import ExtractiveSummarizer
from foldproof.reference.surface import ItemClass


class BasicCompactor:
    """What most agents do. ``summary_cap_tokens`` is the size of its summary, by default the state's cap."""

    def __init__(
        self, session: Session, summarizer: Summarizer | None = None, summary_cap_tokens: int | None = None
    ) -> None:
        self.session = session
        self.summarizer = summarizer or ExtractiveSummarizer(session.estimate)
        self.summary_cap_tokens = summary_cap_tokens or session.settings.state_cap_tokens

    @property
    def settings(self) -> Settings:
        return self.session.settings

    async def compact_if_needed(self, trigger: Trigger = "pressure") -> PassReport | None:
        """Run a pass if the budget says so, before a request or after a provider called one too long."""
        if self.session.unfinished_pass is not None and not self.session.pass_runs:
            self._end("interrupted")
        due = verdict(self.session, overflow=trigger == "overflow") is Verdict.DUE
        if trigger in ("pressure", "overflow") and not due:
            return None
        if self.session.landing_refused(ItemClass.BASIC) is not None:
            return None
        return await self._run(trigger)

    async def compact_now(self) -> PassReport | None:
        """Run a pass on request; none when there is nothing to compact."""
        return await self.compact_if_needed("request")

    async def _run(self, trigger: Trigger) -> PassReport | None:
        with single_pass(self.session):
            started, view, size = time.perf_counter(), self.session.view(), self.session.tokens
            end = retain_boundary(view, 0, self.settings, edges(view, 0, self.session.parted()))
            stale = view[:end]
            fresh = tuple(item.message for item in stale if item.kind is not ItemClass.BASIC)
            if not fresh:
                return None
            old = next(
                (self.session.checkpoints[i.checkpoint].body for i in stale if i.checkpoint is not None), ""
            )
            request = SummaryRequest("state", fresh, self.summary_cap_tokens, old)
            span = (stale[0].seq, stale[-1].seq)
            self.session.record(
                "compaction/start", {"compactor": "basic", "trigger": trigger, "regions": [list(span)]}
            )
            try:
                text = await self.summarizer.summarize(request)
            except BaseException as error:
                self._end(f"{type(error).__name__}: {error}")
                raise
            body = clean(text, self.summary_cap_tokens, self.session.estimate)
            region = Region(ItemClass.BASIC, tuple(item.seq for item in stale), span, body)
            kept = can_land(self.session, [region]) and bool(body)
            shrinks = kept and size_after(self.session, [region]) < self.session.tokens
            before, size = self.session.view(), self.session.tokens
            if shrinks:
                commit(self.session, [region])
            if self.session.unfinished_pass is not None:
                self._end(None if shrinks else "guard" if kept else "overtaken")
            tokens, size_in_bytes = missed(before, self.session.view()) if shrinks else (0, 0)
            return PassReport(
                number=self.session.passes[-1].number,
                trigger=trigger,
                outcome="committed" if shrinks else "guard" if kept else "overtaken",
                stubs=0,
                regions=int(shrinks),
                tokens_before=size,
                tokens_after=self.session.tokens,
                cache_missed_tokens=tokens,
                cache_missed_bytes=size_in_bytes,
                summarizer_input_tokens=self.session.estimate(request.text),
                summarizer_calls=1,
                degraded=0,
                seconds=time.perf_counter() - started,
            )

    def _end(self, error: str | None) -> None:
        self.session.record("compaction/end", {"error": error, "window_tokens": self.settings.window_tokens})
        self.session.sync()
