"""The recallable compactor: frozen index stubs, one mutable state, and originals that stay within reach.

A pass runs select, plan, summarise, guard, commit. Until the commit nothing changes the surface, and
the commit has no await in it: in one process it happens at once, and a crash in the midst of it
leaves a prefix of the regions, which `resume` completes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from foldproof.reference.budget import Verdict, verdict
from foldproof.reference.errors import PassFailedError, PassRefusedError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.passes import (
    Outcome,
    PassReport,
    Region,
    Trigger,
    can_land,
    checkpoint_text,
    clean,
    commit,
    keyword_of,
    missed,
    size_after,
)
from foldproof.reference.plan import Plan, is_recalled, plan_pass
from foldproof.reference.protocols import Summarizer, SummaryRequest
from foldproof.reference.session import PassRecord, Session
from foldproof.reference.settings import Settings
from foldproof.reference.spine import is_content
from foldproof.reference.summarizers.extractive import ExtractiveSummarizer
from foldproof.reference.surface import Item, ItemClass, SurfaceView

LATEST_STUBS = 2
Count = Callable[[Sequence[ChatMessage]], Awaitable[int | None]]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """One region to summarise: its items, and the request, none where code composes the text alone."""

    kind: ItemClass
    items: tuple[Item, ...]
    span: tuple[int, int]
    request: SummaryRequest | None

    def region(self, body: str) -> Region:
        return Region(self.kind, tuple(item.seq for item in self.items), self.span, body)


@contextmanager
def single_pass(session: Session) -> Iterator[None]:
    """Refuse a second pass while one runs on the session."""
    if session.pass_runs:
        raise PassRefusedError("a pass runs on this session already; wait for it")
    session.pass_runs = True
    try:
        yield
    finally:
        session.pass_runs = False


class RecallableCompactor:
    """Compacts a session so that everything it drops can be read again.

    ``count`` may give the provider's own token count of a request (or none); the guard goes by it when
    it answers for both sides, and by the session's estimate on both otherwise.
    """

    def __init__(
        self, session: Session, summarizer: Summarizer | None = None, count: Count | None = None
    ) -> None:
        self.session, self._count = session, count
        self.summarizer = summarizer or ExtractiveSummarizer(session.estimate)

    @property
    def settings(self) -> Settings:
        """The session's, which may change while it lives."""
        return self.session.settings

    async def compact_if_needed(self, trigger: Trigger = "pressure") -> PassReport | None:
        """Run a pass if one is due; call it before every request to the model.

        An interrupted pass is completed first. One is due when the view reaches the threshold, none runs
        already, the last one was not futile, and enough is stale. With ``overflow`` (the provider said
        that the request is too long) the view has to reach it, too: a rejection for another reason is no
        overflow; and one turn starts at most ``overflow_passes``. `foldproof.reference.budget.verdict`
        says which of these it is. None when nothing was due, or nothing to gain. Raises `PassFailedError`
        when the state could not be written.
        """
        resumed = await self.resume()
        if trigger in ("pressure", "overflow") and not self._due(overflow=trigger == "overflow"):
            return resumed
        return await self._run(trigger) or resumed

    def _due(self, *, overflow: bool) -> bool:
        if verdict(self.session, overflow=overflow) is not Verdict.DUE:
            return False
        if overflow:
            return True
        plan = self._plan()
        return plan is not None and not self._deferred(plan)

    async def compact_now(self) -> PassReport | None:
        """Run a pass on request. None, and nothing written, when there is nothing useful to compact."""
        return await self.resume() or await self._run("request")

    async def resume(self) -> PassReport | None:
        """Complete a pass that a crash interrupted, or close it if nothing of it was committed."""
        record = self.session.unfinished_pass
        if record is None or self.session.pass_runs:
            return None
        if record.committed and self.session.landing_refused(ItemClass.STATE) is not None:
            return None
        if not record.committed:
            self._end("interrupted before anything was committed")
            return None
        with single_pass(self.session):
            return await self._resume(record)

    # --- the pass ------------------------------------------------------------------------------

    async def _run(self, trigger: Trigger) -> PassReport | None:
        with single_pass(self.session):
            view = self.session.view()
            plan = self._plan()
            if plan is None:
                return None
            jobs = self._jobs(view, plan)
            regions = [[view[start].seq, view[end - 1].seq] for start, end in plan.regions]
            self.session.record(
                "compaction/start", {"compactor": "recallable", "trigger": trigger, "regions": regions}
            )
            try:
                return await self._finish(trigger, view, jobs, stale=_stale(view, plan), guarded=True)
            except asyncio.CancelledError:
                self._end("cancelled")
                raise
            except PassFailedError as error:
                self._end(str(error))
                raise

    async def _finish(
        self, trigger: Trigger, view: SurfaceView, jobs: Sequence[_Job], stale: int, *, guarded: bool
    ) -> PassReport:
        started = time.perf_counter()
        bodies, degraded = await self._summarise(jobs)
        regions = [job.region(body) for job, body in zip(jobs, bodies, strict=True)]
        before, size = self.session.view(), self.session.tokens
        outcome: Outcome = "committed"
        if not can_land(self.session, regions):
            outcome = "overtaken"  # what it was made from is no longer there, or nothing may land now
        elif guarded and not await self._shrinks(regions):
            outcome = "guard"
        elif not can_land(self.session, regions):  # the count, too, takes its time
            outcome = "overtaken"
        if outcome == "committed":
            before, size = self.session.view(), self.session.tokens
            commit(self.session, regions)
            self._end(None)
            self._warn_if_futile()
        elif self.session.unfinished_pass is not None:
            self._end(outcome, stale)
        after = self.session.view()
        tokens, size_in_bytes = missed(before, after) if outcome == "committed" else (0, 0)
        requests = [job.request for job in jobs if job.request is not None]
        return PassReport(
            number=self.session.passes[-1].number,
            trigger=trigger,
            outcome=outcome,
            stubs=sum(item.kind is ItemClass.INDEX for item in after),
            regions=len(regions) if outcome == "committed" else 0,
            tokens_before=size,
            tokens_after=self.session.tokens,
            cache_missed_tokens=tokens,
            cache_missed_bytes=size_in_bytes,
            summarizer_input_tokens=sum(self.session.estimate(request.text) for request in requests),
            summarizer_calls=len(requests),
            degraded=degraded,
            seconds=time.perf_counter() - started,
        )

    async def _resume(self, record: PassRecord) -> PassReport | None:
        view = self.session.view()
        place = {item.seq: position for position, item in enumerate(view)}
        spans = [
            (place[first], place[last] + 1)
            for first, last in record.regions[record.committed :]
            if first in place and last in place
        ]
        if not spans:  # only the end itself was lost
            self._end(None)
            return None
        done = [c for c in self.session.checkpoints.values() if c.pass_number == record.number]
        staled = [self.session.items[seq] for c in done for seq in c.shadowed]
        state = self.session.state_text
        plan = Plan(spans[0][0], spans[-1][1], tuple(spans[:-1]), spans[-1])
        jobs = self._jobs(view, plan, state=state, staled=staled)
        return await self._finish("resume", view, jobs, 0, guarded=False)

    def _plan(self) -> Plan | None:
        """The pass over the view as it is now; none when nothing is stale, or nothing could land."""
        if self.session.landing_refused(ItemClass.STATE) is not None:
            return None
        return plan_pass(self.session.view(), self.settings, self.session.parted())

    def _jobs(
        self, view: SurfaceView, plan: Plan, state: str | None = None, staled: Sequence[Item] = ()
    ) -> list[_Job]:
        """The calls of a pass. Siblings are not shown to each other: they run at the same time."""
        stubs = [
            self.session.checkpoints[i.checkpoint or 0]
            for i in view[: plan.start]
            if i.kind is ItemClass.INDEX
        ]
        keywords = tuple(line for line in (keyword_of(stub.text) for stub in stubs) if line)
        recent = tuple(stub.body for stub in stubs[-LATEST_STUBS:])
        if state is None:
            # A crashed pass may have folded the state away before it wrote the next one.
            state = self._state_in(view[plan.start : plan.retained]) or self.session.state_text
        jobs = []
        for start, end in plan.chunks:
            items = tuple(view[start:end])
            own = [item for item in items if is_content(item)]
            request = None
            if own and not is_recalled(own):
                messages = tuple(item.message for item in own)
                request = SummaryRequest("stub", messages, self.settings.stub_tokens, state, keywords, recent)
            jobs.append(_Job(ItemClass.INDEX, items, (items[0].seq, items[-1].seq), request))
        everything = [*staled, *view[plan.start : plan.retained]]
        messages = tuple(item.message for item in everything if is_content(item))
        trailing = tuple(view[plan.trailing[0] : plan.trailing[1]])
        request = SummaryRequest("state", messages, self.settings.state_cap_tokens, state)
        wide = (everything[0].seq, everything[-1].seq)
        return [*jobs, _Job(ItemClass.STATE, trailing, wide, request)]

    def _state_in(self, items: Sequence[Item]) -> str:
        """The text of the state in a span; another compactor's summary counts as one."""
        for item in items:
            if item.checkpoint is not None and item.kind in (ItemClass.STATE, ItemClass.BASIC):
                return self.session.checkpoints[item.checkpoint].body
        return ""

    async def _summarise(self, jobs: Sequence[_Job]) -> tuple[list[str], int]:
        """All calls at the same time, at most ``max_concurrency`` of them; the texts in order of the jobs.

        A failed stub call costs its slice the summary. A failed state call ends the others and raises.
        """
        gate = asyncio.Semaphore(self.settings.max_concurrency)
        degraded = 0

        async def one(job: _Job) -> str:
            nonlocal degraded
            if job.request is None:
                degraded += 1
                return ""
            try:
                async with gate:
                    text = await self.summarizer.summarize(job.request)
                body = clean(text, job.request.max_tokens, self.session.estimate)
            except Exception as error:
                if job.kind is ItemClass.STATE:
                    raise PassFailedError(f"the state could not be written: {error}") from error
                body = ""
            if not body and job.kind is ItemClass.STATE:
                raise PassFailedError("the state could not be written: the summarizer returned no text")
            degraded += not body
            return body

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(job)) for job in jobs]
        except* PassFailedError as errors:
            raise errors.exceptions[0] from errors.exceptions[0].__cause__
        return [task.result() for task in tasks], degraded

    async def _shrinks(self, regions: Sequence[Region]) -> bool:
        """The guard: strictly smaller afterwards, both sides by the same measure."""
        if self._count is not None:
            view = self.session.view()
            try:
                before = await self._count(view.messages())
                after = await self._count(_replaced(view, regions, self.session.last_seq))
            except Exception as error:  # a counter may fail as any service; the estimator decides then
                _LOG.warning("the token counter failed (%s); the guard goes by the estimate", error)
            else:
                if before is not None and after is not None:
                    return after < before
        if not can_land(self.session, regions):  # the count took its time: there is nothing left to guard
            return True
        return size_after(self.session, regions) < self.session.tokens

    def _deferred(self, plan: Plan) -> bool:
        """Wait until half a chunk is stale; after a refusal by the guard, until half a chunk more is.

        Under pressure that little to gain buys a stub for ever, and the next pass is due at once.
        """
        least = self.session.refused_tokens + self.settings.chunk_tokens // 2
        return _stale(self.session.view(), plan) < least

    def _warn_if_futile(self) -> None:
        if self.session.futile:
            _LOG.warning(
                "the view still has %d tokens of a threshold of %d after a pass: passes under pressure pause "
                "until an undo, a clear, or a session with another window; compact_now() still runs one",
                self.session.tokens,
                self.settings.threshold_tokens,
            )

    def _end(self, error: str | None, stale: int = 0) -> None:
        data = {"error": error, "window_tokens": self.settings.window_tokens} | (
            {"stale_tokens": stale} if stale else {}
        )
        self.session.record("compaction/end", data)
        self.session.sync()


def _stale(view: SurfaceView, plan: Plan) -> int:
    items = view[plan.start : plan.retained]
    return sum(item.tokens for item in items if is_content(item))


def _replaced(view: SurfaceView, regions: Sequence[Region], last_seq: int) -> list[ChatMessage]:
    """The messages of the request as they would be after a commit."""

    texts = {
        region.seqs[0]: checkpoint_text(region, last_seq + 1 + 2 * number)
        for number, region in enumerate(regions)
    }
    gone = {seq for region in regions for seq in region.seqs}
    return [
        ChatMessage("user", texts[item.seq]) if item.seq in texts else item.message
        for item in view
        if item.seq in texts or item.seq not in gone
    ]
