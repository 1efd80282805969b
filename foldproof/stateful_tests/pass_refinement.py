"""Passes of the recallable compactor driven by the pass machine's events, and held against it after each.

Calls answer when they are told to; the guard waits for its turn. A commit has no await in it, so nothing can
come between two regions but a crash: what that would leave is read from the log, cut there.

The machine plans one region a unit; the compactor groups units by its settings. The machine then
begins with the compactor's regions, once they are found to be a plan: whole units, none left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from foldproof.model import passes
from foldproof.model.passes import PASS
from foldproof.model.passes_state import (
    AppendCall,
    AppendUser,
    Begin,
    Clear,
    Commit,
    Crash,
    Event,
    Guard,
    Item,
    LateAnswer,
    LegacyHead,
    PassState,
    Phase,
    Resume,
    StateFails,
    StateInflates,
    StubDone,
    StubFails,
    Undo,
    units,
)
from foldproof.model.state import Message
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import PassFailedError, UndoRejectedError
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.passes import Region, commit
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.surface import ItemClass
from foldproof.stateful_tests.flight import CallFailedError, Flight, Waiting
from foldproof.stateful_tests.pass_view import (
    HEAD,
    SCALE,
    TELLS,
    TELLS_LONG,
    Gate,
    abstract,
    answer_to,
    costs,
    name_of,
    sizes_of,
    visible,
)
from foldproof.stateful_tests.refinement import NotRefinedError, fork

BASE = Settings(
    window_tokens=1_000,
    retain_tokens=1,
    chunk_tokens=2 * SCALE,
    stub_tokens=2,
    state_cap_tokens=6,
    message_overhead_tokens=0,
    fsync="never",
)


@dataclass(frozen=True, slots=True)
class Command:
    """An event. ``chunk``: how many messages make a chunk of a pass that begins; ``half``: a crash between
    a region's summary and its checkpoint, or after the last region but before the end of the pass."""

    event: Event
    chunk: int = 1
    half: bool = False

    def __str__(self) -> str:
        return f"{self.event}{' in the midst of a region' if self.half else ''}"


class PassDriver:
    """One session and one state of the machine, side by side."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        session_type: type[Session] = Session,
        session: Session | None = None,
        chunks: Sequence[int] = (1,),
    ) -> None:
        self.loop, self.chunks = loop, chunks
        self.session = session or session_type.in_memory(BASE, costs)
        self.model = PASS.initial
        self.done: tuple[Command, ...] = ()
        self.steps: list[tuple[PassState, Event]] = []
        self.flight: Flight | None = None
        self.commits: list[int] = []
        self._count = 0

    def copy(self) -> PassDriver:
        """A driver that goes its own way; only while nothing is in flight."""
        twin = PassDriver(self.loop, session=fork(self.session), chunks=self.chunks)
        twin.model, twin.done, twin._count = self.model, self.done, self._count
        return twin

    def end(self) -> None:
        """Nothing more is done with it."""
        if self.flight is not None:
            self.flight.cancel()

    @property
    def idle(self) -> bool:
        return self.flight is None and not self.commits

    @property
    def key(self) -> Hashable:
        """What the driver's further way depends on."""
        return PASS.canonical(self.model), self.flight is None, self.session.unfinished_pass is None

    # --- what can be done ----------------------------------------------------------------------

    def commands(self, bound: int) -> Iterator[Command]:
        """Every event that a session's host can cause; undos and passes that must be refused, too."""
        if self.model.phase is Phase.COMMITTING:
            yield from (Command(Commit()), Command(Crash()), Command(Crash(), half=True))
            if len(self.commits) == 2:
                yield Command(Commit(), half=True)
            return
        yield from map(Command, self._undos())
        if self.model.phase is Phase.IDLE:
            most = len(units(self.model.surface[self.model.checkpoints :], PASS.design))
            yield from (Command(Begin(n), chunk) for n in range(1, most + 1) for chunk in self.chunks)
        for event in PASS.enabled(self.model, bound, PASS.design):
            if not isinstance(event, (Undo, Begin)):
                yield Command(event)

    def _undos(self) -> Iterator[Undo]:
        return (Undo(n) for n, message in enumerate(self.model.history) if message.is_prompt)

    def do(self, command: Command) -> None:
        """Do it to both. Raises `NotRefinedError` where they part."""
        self.done = (*self.done, command)
        match command.event:
            case AppendUser():
                self.session.append(ChatMessage("user", self._name("u")))
            case AppendCall():
                call = ToolCall(self._name("c"), "look", "{}")
                carrier = ChatMessage("assistant", calls=(call,))
                result = ChatMessage("tool", self._name("t"), result_of=call.id)
                self.session.append_all([carrier, result])
            case Undo(cut):
                self._undo(cut)
                return
            case Clear():
                self.session.clear()
            case LegacyHead(k):
                self._legacy(k)
            case Begin(count):
                self._begin(count, command.chunk)
                return
            case Resume():
                self._resume()
                return
            case Crash():
                self._crash(half=command.half)
                return
            case Guard():
                self._guard()
                return
            case Commit():
                self._commit(half=command.half)
                return
            case _:
                self._answer(command.event)
        self.follow(command.event)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _step(self, event: Event) -> None:
        why = PASS.guard(self.model, event, PASS.design, None)
        if why is not None:
            self._part(f"the session did what the model does not take: {event}: {why}")
        self.steps.append((PASS.canonical(self.model), event))
        self.model = PASS.effect(self.model, event, PASS.design)

    def follow(self, event: Event) -> None:
        """Let the machine take an event, and compare."""
        self._step(event)
        self._compare()

    def _compare(self) -> None:
        session = self.session
        if self.commits and session.log_in_memory is not None:
            session = type(session).in_memory(BASE, costs, session.log_in_memory.until(self.commits[0]))
        self._compare_with(session)

    def _compare_with(self, session: Session) -> None:
        ours, due = visible(abstract(session, flying=self.flight is not None)), visible(self.model)
        if self.model.phase is Phase.COMMITTING:  # a log that is cut there is torn, or has no pass
            ours, due = (s._replace(phase=Phase.IDLE, boundary=0, resumed=False) for s in (ours, due))
        for name in PassState._fields:
            if getattr(ours, name) != getattr(due, name):
                self._part(f"{name}: {getattr(ours, name)} in the session, {getattr(due, name)} in the model")

    def _part(self, what: str) -> None:
        raise NotRefinedError(f"after {'; '.join(map(str, self.done))}: {what}")

    # --- the events, done to a session ---------------------------------------------------------

    def _undo(self, cut: int) -> None:
        event = Undo(cut)
        refused = PASS.guard(self.model, event, PASS.design, None)
        count = sum(message.is_prompt for message in self.model.history[cut:])
        try:
            self.session.undo(count)
        except UndoRejectedError as error:
            if refused is None:
                self._part(f"the session refuses what the model takes: {error}")
            self._compare()
            return
        self.follow(event)

    def _legacy(self, k: int) -> None:
        """What another compactor's pass does, as far as the session knows: one summary of a prefix."""
        self.rest()
        items = self.session.view()[:k]
        seqs = tuple(item.seq for item in items)
        span = (seqs[0], seqs[-1])
        data = {"compactor": "another", "trigger": "request", "regions": [list(span)]}
        self.session.record("compaction/start", data)
        text = " ".join([HEAD, *(name_of(item.message) for item in items)])
        commit(self.session, [Region(ItemClass.BASIC, seqs, span, text)])
        self.session.record("compaction/end", {"error": None})

    def rest(self) -> None:
        """The calls of a pass that was overtaken return; one that a crash left without work is closed."""
        if self.flight is not None:
            for n in range(len(self.waiting.calls)):
                self._deliver(n, TELLS)
            self._fly()
        if self.session.unfinished_pass is not None:
            Flight(self.loop, RecallableCompactor(self.session).resume)

    def _begin(self, count: int, chunk: int) -> None:
        self.rest()
        event = Begin(count)
        refused = PASS.guard(self.model, event, PASS.design, None)
        view = self.session.view()
        checkpoints = self.model.checkpoints
        ahead = units(self.model.surface[checkpoints:], PASS.design)[:count]
        place = checkpoints + sum(map(len, ahead))
        # Every pass has another window: a pause is the budget's subject, and another window ends it.
        change = {
            "retain_tokens": sum(item.tokens for item in view[place:]),
            "chunk_tokens": 2 * SCALE * chunk,
            "window_tokens": 1 + (self.session.settings.window_tokens == 1),
        }
        self.session.adopt(BASE.model_copy(update=change))
        before = len(self.session.passes)
        self._take_off("needed")
        if len(self.session.passes) == before:
            self.flight = None
            # The machine may begin; the compactor waits until half a chunk (more) is stale.
            stale = sum(item.tokens for item in view[checkpoints:place])
            if refused is None and stale >= self.session.refused_tokens + chunk * SCALE:
                self._part("no pass began where one is due")
            self._compare()
            return
        if refused is not None:
            self._part(f"a pass began, but {refused}")
        regions = self._planned()
        sizes = sizes_of(regions)
        finest = passes.effect(self.model, event, PASS.design)
        grouped = passes.begun(self.model, sizes, PASS.design)
        if not grouped.regions or grouped.boundary != finest.boundary:
            self._part(f"regions of {sizes} units are no plan of the first {count}")
        if grouped == finest:
            self.steps.append((PASS.canonical(self.model), event))
        self.model = grouped
        self._compare()

    def _planned(self) -> list[tuple[Item, ...]]:
        return [region.items for region in abstract(self.session, flying=True).regions]

    def _take_off(self, how: str) -> None:
        self.waiting, self.gate = Waiting(), Gate(len(self.session.passes))
        self.held: dict[int, str] = {}
        compactor = RecallableCompactor(self.session, self.waiting, self.gate)
        start = compactor.compact_if_needed if how == "needed" else compactor.resume
        self.flight = Flight(self.loop, start)

    def _resume(self) -> None:
        self._take_off("resume")
        sizes = sizes_of(self._planned())
        self.steps.append((PASS.canonical(self.model), Resume()))
        finest = passes.effect(self.model, Resume(), PASS.design)
        self.model = passes.resumed(self.model, sizes, PASS.design)
        if self.model.boundary != finest.boundary or sum(sizes) != len(finest.regions):
            self._part(f"a resumed pass goes on with {sizes} units of {len(finest.regions)}")
        self._compare()

    def _answer(self, event: Event) -> None:
        if isinstance(event, LateAnswer):
            if self.model.phase is Phase.IDLE:  # otherwise it came before this pass began
                self.rest()
            return
        prefix = TELLS_LONG if isinstance(event, StateInflates) else TELLS
        region = event.i if isinstance(event, (StubDone, StubFails)) else len(self.model.regions) - 1
        # A region of its own for the superseded state has no call.
        silent = sum(not any(isinstance(i, Message) for i in r.items) for r in self.model.regions[:region])
        call = region - silent
        unanswered = sum(r.answer is None for r in self.model.regions)
        if self.model.resumed and unanswered == 1 and not isinstance(event, (StubFails, StateFails)):
            self.held[call] = prefix  # a resumed pass has no guard: it commits with its last answer
        elif self.model.resumed and unanswered == 1 and isinstance(event, StubFails):
            self.held[call] = ""
        else:
            self._deliver(call, "" if isinstance(event, (StubFails, StateFails)) else prefix)
        if isinstance(event, StateFails):
            self._fly()

    def _deliver(self, call: int, prefix: str) -> None:
        request, answer = self.waiting.calls[call]
        if answer.done():
            return
        if prefix:
            answer.set_result(answer_to(request, prefix))
        else:
            answer.set_exception(CallFailedError())
        if self.flight is not None:
            self.flight.turn()

    def _fly(self) -> None:
        """The pass ends; one that was overtaken, or whose state failed, leaves nothing behind."""
        assert self.flight is not None
        self.gate.open()
        self.flight.turn()
        if not self.flight.ended:
            self._part("a pass goes on that has nothing to wait for")
        try:
            report = self.flight.report
        except PassFailedError:
            report = None
        self.flight = None
        if report is not None and report.outcome == "committed":
            self._part("a pass committed that had failed, or was overtaken")

    def _guard(self) -> None:
        assert self.flight is not None
        before = self.session.last_seq
        for call, prefix in self.held.items():
            self._deliver(call, prefix)
        self.gate.open()
        self.flight.turn()
        report, self.flight = self.flight.report, None
        if report is not None and report.outcome == "committed":
            landed = [c.seq + 1 for c in self.session.checkpoints.values() if c.seq > before]
            self.commits = [before, *landed[:-1], self.session.last_seq]
        self._step(Guard())
        if bool(self.commits) != (self.model.phase is Phase.COMMITTING):
            self._part(f"the pass {'commits' if self.commits else 'is refused'}, unlike the model's")
        self._compare()

    def _commit(self, *, half: bool) -> None:
        self.commits.pop(0)
        self._step(Commit())
        if self.model.phase is not Phase.COMMITTING:
            [end], self.commits = self.commits, []
            log = self.session.log_in_memory
            if half and log is not None:  # a crash before the end of the pass is written
                self.session = type(self.session).in_memory(self.session.settings, costs, log.until(end - 1))
        self._compare()

    def _crash(self, *, half: bool) -> None:
        log = self.session.log_in_memory
        assert log is not None
        end = self.commits[0] + half if self.commits else self.session.last_seq
        if self.flight is not None:
            log = log.until(end)
            self.flight.cancel()
            self.flight = None
        self.commits = []
        self.session = type(self.session).in_memory(self.session.settings, costs, log.until(end))
        self.follow(Crash())
