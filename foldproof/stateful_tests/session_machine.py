"""A Hypothesis machine: one session on a disk and the model, side by side.

Every event of the kernel; whole passes by the compactor, begun and landed with anything in between;
crashes that cut the log anywhere, in the midst of a pass too, and the resume of what they
interrupted. After each the two must be equal.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foldproof.model.design import DESIGN
from foldproof.model.events import (
    AppendReply,
    AppendUser,
    ApplyCompaction,
    Call,
    CommitIndex,
    CommitState,
    Event,
    Measure,
    Restore,
    StepEnd,
    Undo,
)
from foldproof.model.fold import CORE_COSTS
from foldproof.model.guards import guard
from foldproof.model.state import INITIAL, Kind, State
from foldproof.model.step import step
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import TornLogWarning
from foldproof.reference.passes import PassReport
from foldproof.reference.plan import plan_pass
from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.surface import ItemClass
from foldproof.stateful_tests.refinement import (
    SUMMARY,
    NotRefinedError,
    apply,
    candidates,
    check,
    check_refusals,
    core_costs,
)

PASSING = Settings(
    message_overhead_tokens=0,
    fsync="never",
    window_tokens=20,
    retain_tokens=4,
    chunk_tokens=10,
    stub_tokens=1,
    state_cap_tokens=1,
)
"""Small enough that a pass over a dozen messages has several regions."""


class Gated:
    """A summarizer that answers when it is let: until then a pass is in flight."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def summarize(self, request: SummaryRequest) -> str:
        await self.gate.wait()
        return SUMMARY


class SessionMachine(RuleBasedStateMachine):
    """Subclass it with another ``session_type`` to try your own; run it with `run_state_machine_as_test`."""

    session_type: ClassVar[type[Session]] = Session
    max_length: ClassVar[int] = 24
    reached: ClassVar[Counter[str]] = Counter()
    """How often a run came to each situation that is worth coming to."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="foldproof-"))
        self.loop = asyncio.new_event_loop()
        self.model: State = INITIAL
        self.events: list[str] = []
        self.flight: asyncio.Task[PassReport | None] | None = None

    @initialize()
    def begin(self) -> None:
        self.session = self.session_type.create(self.folder / "log", PASSING, core_costs)
        # What the file held when the model was in which state, to crash back to.
        self.moments: list[tuple[int, State]] = []
        self.mark()

    def teardown(self) -> None:
        if hasattr(self, "session"):
            self.abandon_flight()
            self.session.close()
        self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- rules: the kernel's events ------------------------------------------------------------

    @rule(data=st.data())
    def kernel_event(self, data: st.DataObject) -> None:
        """An event of the kernel that is enabled; the indexed ones as likely as the plain."""
        kinds: dict[str, list[Event]] = {}
        for event in candidates(len(self.model.history)):
            if self.takes(event):
                kinds.setdefault(type(event).__name__, []).append(event)
        name = data.draw(st.sampled_from(sorted(kinds)), label="event")
        self.do(data.draw(st.sampled_from(kinds[name]), label="which"))

    @rule(kinds=st.lists(st.sampled_from([*Kind, None]), min_size=2, max_size=6))
    def work(self, kinds: list[Kind | None]) -> None:
        """A stretch of ordinary work: turns, with and without transitions. Passes need material."""
        for kind in kinds:
            for event in (AppendUser(), AppendReply()) if kind is None else (Call(kind), StepEnd()):
                if self.takes(event):
                    self.do(event)

    @rule(kinds=st.lists(st.sampled_from(Kind), max_size=2), measured=st.booleans())
    def second_thought(self, kinds: list[Kind], measured: bool) -> None:
        """A prompt, some work on it, and the prompt is taken back."""
        cut = len(self.model.history)
        between = [event for kind in kinds for event in (Call(kind), StepEnd())]
        for event in (AppendUser(), *between, *([Measure()] if measured else []), Undo(cut)):
            if self.takes(event):
                self.do(event)

    def takes(self, event: Event) -> bool:
        if guard(self.model, event, bound=self.max_length) is not None:
            return False
        unfinished = self.session.unfinished_pass
        if isinstance(event, Undo):  # refused in the midst of a commit that a crash interrupted
            return unfinished is None or not unfinished.committed
        return unfinished is None or not isinstance(event, (CommitIndex, CommitState, ApplyCompaction))

    def do(self, event: Event) -> None:
        if isinstance(event, Restore):
            self.abandon_flight()
        self.session = apply(self.session, event)
        self.advance(event)

    def advance(self, event: Event) -> None:
        self.events.append(str(event))
        self.model = step(self.model, event, DESIGN, CORE_COSTS)
        self.mark()

    # --- rules: passes -------------------------------------------------------------------------

    @precondition(lambda self: self.ready())
    @rule()
    def whole_pass(self) -> None:
        """A pass on request, from planning to its end."""
        self.take_off()
        if self.flight is not None:
            self.land()

    @precondition(lambda self: self.ready())
    @rule()
    def begin_pass(self) -> None:
        """A pass is planned, and its summaries are under way."""
        self.take_off()

    def take_off(self) -> None:
        self.gated = Gated()
        compactor = RecallableCompactor(self.session, self.gated)
        self.first_seq = self.session.last_seq
        self.flight = self.loop.create_task(compactor.compact_now())
        self.turn_loop()
        self.mark()

    @precondition(lambda self: self.flight is not None)
    @rule()
    def land_pass(self) -> None:
        """The summaries are there: the pass commits, or finds that it was overtaken."""
        self.land()

    def land(self) -> None:
        assert self.flight is not None
        self.gated.gate.set()
        report = self.loop.run_until_complete(self.flight)
        self.flight = None
        self.follow(self.first_seq, "committed" if report is None else report.outcome)

    @precondition(lambda self: self.flight is None and self.session.unfinished_pass is not None)
    @rule()
    def resume(self) -> None:
        """What a crash interrupted is completed, or closed."""
        gated = Gated()
        gated.gate.set()
        before = self.session.last_seq
        record = self.session.unfinished_pass
        self.reached["resumed in mid-commit"] += record is not None and record.committed > 0
        report = self.loop.run_until_complete(RecallableCompactor(self.session, gated).resume())
        self.follow(before, "committed" if report is None else report.outcome)

    @precondition(lambda self: self.ready())
    @rule(data=st.data())
    def crash_in_a_pass(self, data: st.DataObject) -> None:
        """A pass commits, and the process dies somewhere in the midst of that."""
        before = len(self.moments)
        self.whole_pass()
        self.die(data, before)

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """The process dies: the file ends at some earlier byte, and the session is opened again."""
        self.die(data, len(self.moments) - 4)

    def die(self, data: st.DataObject, earliest: int) -> None:
        self.abandon_flight()
        self.session.close()
        log = self.session.path
        whole = log.read_bytes()
        number = data.draw(st.integers(max(0, earliest), len(self.moments) - 1), label="moment")
        size, model = self.moments[number]
        torn = whole[size:].split(b"\n")[0]
        self.reached["crash"] += 1
        kept = data.draw(st.integers(0, max(0, len(torn))), label="torn bytes")
        log.write_bytes(whole[: size + kept])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TornLogWarning)
            self.session = self.session_type.open(log, PASSING, core_costs)
        self.model = model
        del self.moments[number + 1 :]
        self.events.append(f"crash at byte {size + kept}")
        self.advance(Restore())

    # --- comparison ----------------------------------------------------------------------------

    @invariant()
    def refines(self) -> None:
        """State equal, view equal item by item, trigger equal."""
        if hasattr(self, "session"):
            self.compare()

    @rule()
    def refuses(self) -> None:
        """What the model does not take, the session refuses, and is as it was."""
        if self.session.unfinished_pass is None:
            check_refusals(self.session, self.model)
            self.moments[-1] = (self.size(), self.model)

    def compare(self) -> None:
        try:
            check(self.session, self.model)
        except NotRefinedError as error:
            raise NotRefinedError(f"{'; '.join(self.events)}\n{error}") from None

    # --- helpers -------------------------------------------------------------------------------

    def idle(self) -> bool:
        return self.flight is None and self.session.unfinished_pass is None

    def ready(self) -> bool:
        """Whether a pass would have something to do."""
        session = self.session
        refused = session.landing_refused(ItemClass.STATE) is not None
        return (
            self.idle()
            and not refused
            and plan_pass(session.view(), session.settings, session.parted()) is not None
        )

    def size(self) -> int:
        return self.session.path.stat().st_size

    def mark(self) -> None:
        self.moments.append((self.size(), self.model))

    def turn_loop(self) -> None:
        for _ in range(8):
            self.loop.run_until_complete(asyncio.sleep(0))
        if self.flight is not None and self.flight.done():
            self.follow(self.first_seq, "committed" if self.flight.result() is None else "ended")
            self.flight = None

    def follow(self, since: int, outcome: str) -> None:
        """Let the model take the regions that landed, in order; each must be enabled where it lands."""
        landed = [
            c for c in self.session.checkpoints.values() if c.seq > since and c.kind is not ItemClass.TASK
        ]
        if outcome != "committed" and landed:
            raise NotRefinedError(f"a pass that ended as {outcome!r} landed {len(landed)} regions")
        self.reached[f"pass {outcome}"] += 1
        self.reached["pass of several regions"] += len(landed) > 1
        self.reached["pass over a closed task"] += any(
            self.session.items[seq].kind is ItemClass.TASK for c in landed for seq in c.shadowed
        )
        ends = self.line_ends()
        for checkpoint in landed:
            k = self.end_of(checkpoint.shadowed)
            event = CommitIndex(k) if checkpoint.kind is ItemClass.INDEX else CommitState(k)
            self.events.append(str(event))
            self.model = step(self.model, event, DESIGN, CORE_COSTS)
            self.moments.append((ends[checkpoint.seq + 1], self.model))
        self.mark()

    def end_of(self, shadowed: tuple[int, ...]) -> int:
        """Where in the history the last message lies that these items stand for, plus one."""
        item = self.session.items[shadowed[-1]]
        while item.kind is not ItemClass.MESSAGE and item.kind is not ItemClass.BASIC:
            item = self.session.items[self.session.checkpoints[item.checkpoint or 0].shadowed[-1]]
        return next(n for n, other in enumerate(self.session.history, 1) if other.seq == item.seq)

    def line_ends(self) -> dict[int, int]:
        """Where in the file the line of each seq ends."""
        ends, place = {}, 0
        for seq, line in enumerate(self.session.path.read_bytes().splitlines(keepends=True)):
            place += len(line)
            ends[seq] = place
        return ends

    def abandon_flight(self) -> None:
        """The process ends while a pass is in flight: nothing more of it is written."""
        if self.flight is not None:
            path = self.session.path
            whole = path.read_bytes()
            self.flight.cancel()
            self.loop.run_until_complete(asyncio.gather(self.flight, return_exceptions=True))
            self.flight = None
            path.write_bytes(whole)


Machine = SessionMachine.TestCase
