"""The session's budget controller driven by the budget machine's events, and held against it after each.

The machine counts messages; here each is a real one with open tasks before it, so that a fold can close over
all that is shown and a pass can retain any number of them. A pass is a real one by the compactor; its
stubs cost nothing, so that what it leaves is one memory, as in the machine. All costs are the
machine's times `UNIT`; what the driver itself adds is too small to count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from foldproof.model.budget import BUDGET
from foldproof.model.budget_state import (
    MAX_ATTEMPTS,
    MEMORY,
    MESSAGE,
    OVERHEAD,
    AfterStep,
    AppendUser,
    BeforeStep,
    BudgetState,
    Clear,
    Event,
    Fail,
    Fold,
    Land,
    Measure,
    Rejected,
    Restore,
    SwitchModel,
    Undo,
    Window,
)
from foldproof.reference.budget import Verdict, verdict
from foldproof.reference.checkpoints import FOOTER
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import PassFailedError
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.surface import Item, ItemClass
from foldproof.stateful_tests.flight import CallFailedError, Flight, Waiting
from foldproof.stateful_tests.refinement import NotRefinedError, fork

UNIT: Final = 10_000
OPENERS: Final = 3
"""Tasks that open before each message: as many folds can close over it, one after another."""
FIRST: Final = '{"first":true}'
STUB, STATE, MEMO = "stub", "state", "memory"


def settings(window: Window, retained: int) -> Settings:
    """A threshold that a view reaches when it does in the machine, with the machine's overhead."""
    base = Settings(
        window_tokens=(window.limit - OVERHEAD) * UNIT,
        threshold_ratio=1,
        retain_tokens=1,
        chunk_tokens=10,
        stub_tokens=1,
        state_cap_tokens=1,
        message_overhead_tokens=0,
        overflow_passes=MAX_ATTEMPTS,
        fsync="never",
    )
    return base.model_copy(update={"retain_tokens": retained})  # 0 is no setting, but a plan of the machine


def costs(text: str) -> int:
    """The machine's costs as an estimate."""
    footer = FOOTER.search(text)
    if footer is not None:
        return MEMORY * UNIT if text.startswith((STATE, MEMO)) else 0
    if text.startswith(("prompt", "reply")):
        return MESSAGE * UNIT
    return int(text in (STUB, STATE) or FIRST in text)


class Seen(NamedTuple):
    """What is compared: the machine's state but for the gauge (its sizes are) and what only records."""

    archived: int
    folded: int
    shown: int
    remembered: bool
    window: Window
    futile: bool
    floor: int | None
    attempts: int
    in_flight: bool
    published: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Command:
    """An event, and for the two that start a pass: how many messages that is to retain."""

    event: Event
    kept: int = 0

    def __str__(self) -> str:
        return f"{self.event}{f' keeping {self.kept}' if self.kept else ''}"


class BudgetDriver:
    """One session and one state of the machine, side by side."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        session_type: type[Session] = Session,
        session: Session | None = None,
    ) -> None:
        self.loop = loop
        self.window = Window.SMALL
        self.session = session or session_type.in_memory(settings(self.window, 0), costs)
        self.model = BUDGET.initial
        self.flight: Flight | None = None
        self.steps: list[tuple[BudgetState, Event]] = []
        self.done: tuple[Command, ...] = ()
        self._calls = 0
        self._waiting = Waiting()

    def copy(self) -> BudgetDriver:
        """A driver that goes its own way; only while no pass is in flight."""
        assert self.flight is None
        twin = BudgetDriver(self.loop, session=fork(self.session))
        twin.window, twin.model, twin.done, twin._calls = self.window, self.model, self.done, self._calls
        return twin

    @property
    def idle(self) -> bool:
        return self.flight is None

    @property
    def key(self) -> Hashable:
        """What the driver's further way depends on: the machine's state, roles, and what is in flight."""
        view = self.session.view()
        roles = "".join(item.message.role[0] for item in view if is_message(item))
        if self.flight is None:
            return self.model, roles
        place = {item.seq: n for n, item in enumerate(view)}
        regions = self.session.passes[-1].regions
        if any(seq not in place for region in regions for seq in region):
            return self.model, roles, "overtaken"
        first, last = place[regions[0][0]], place[regions[-1][1]]
        stale = sum(is_message(item) for item in view[first : last + 1])
        return self.model, roles, stale, place[regions[0][0]] > 0

    def end(self) -> None:
        """Nothing more is done with it."""
        if self.flight is not None:
            self.flight.cancel()

    # --- one command ---------------------------------------------------------------------------

    def commands(self, bound: int) -> Iterator[Command]:
        """What can be done: every event of the machine that some act of a session's host is."""
        landed = False
        for event in BUDGET.enabled(self.model, bound, BUDGET.design):
            match event:
                case Land():
                    if not landed:  # what a pass retains was said when it began
                        landed = True
                        yield Command(event)
                case BeforeStep() | Rejected():
                    most = self.model.shown - (not self.model.folded)
                    yield from (Command(event, kept) for kept in range(max(0, most) + 1))
                case Undo(count):
                    if self._messages()[-count].is_prompt:  # a session takes back prompts
                        yield Command(event)
                case Fold():
                    if self._can_fold():
                        yield Command(event)
                case _:
                    yield Command(event)

    def do(self, command: Command) -> None:
        """Do it to both. Raises `NotRefinedError` where they part."""
        self.done = (*self.done, command)
        event = command.event
        starts = overflow = None
        match event:
            case AppendUser():
                self._append("user", "prompt")
            case BeforeStep() | Rejected():
                starts, overflow = self._decide(event, command.kept)
            case AfterStep():
                self.session.measure(self.session.tokens)
                self._append("assistant", "reply")
            case Measure():
                self.session.measure(self.session.tokens)
            case Fold():
                self._fold()
            case Land():
                event = self._land()
            case Fail():
                self._end(CallFailedError())
            case SwitchModel():
                self._switch(Window.LARGE if self.window is Window.SMALL else Window.SMALL)
            case Undo(count):
                gone = self._messages()[-count:]
                self.session.undo(sum(item.is_prompt for item in gone))
            case Clear():
                self.session.clear()
                self._end(None)
            case Restore():
                self.reopen(self.window)
        self.follow(event)
        decision = self.model.decision
        if starts is not None and decision is not None and (starts, overflow) != decision[:2]:
            self._part(f"starts, overflow: {(starts, overflow)} in the session, {decision[:2]} in the model")

    def follow(self, event: Event) -> None:
        """Let the machine take an event, and compare."""
        why = BUDGET.guard(self.model, event, BUDGET.design, None)
        if why is not None:
            self._part(f"the session did what the model does not take: {event}: {why}")
        self.steps.append((self.model, event))
        self.model = BUDGET.effect(self.model, event, BUDGET.design)
        ours, due = self.seen(), expected(self.model)
        for name in Seen._fields:
            if getattr(ours, name) != getattr(due, name):
                self._part(f"{name}: {getattr(ours, name)} in the session, {getattr(due, name)} in the model")

    def _part(self, what: str) -> None:
        raise NotRefinedError(f"after {'; '.join(map(str, self.done))}: {what}")

    # --- what the events are, done to a session ------------------------------------------------

    def _append(self, role: str, text: str) -> None:
        for number in range(OPENERS):
            self._transition("open", FIRST if number == 0 else "{}")
        self.session.append(ChatMessage("user" if role == "user" else "assistant", text))

    def _transition(self, kind: str, arguments: str = "{}") -> None:
        self._calls += 1
        call = ToolCall(f"t{self._calls}", f"task_{kind}", arguments)
        message = ChatMessage("assistant", calls=(call,))
        self.session.call("open" if kind == "open" else "close", memory=MEMO, message=message)
        self.session.step_end()

    def _fold(self) -> None:
        while self._messages():
            self._transition("close")
        while sum(item.kind is ItemClass.TASK for item in self.session.view()) > 1:
            self._transition("close")

    def _can_fold(self) -> bool:
        """Whether a task is open that begins before everything of the epoch."""
        first = self.session.spine.epoch_start
        tasks = self.session.spine.tasks
        covered = [n for n, i in enumerate(self.session.history) if n >= first and is_message(i)]
        return any(
            task.closed_at is None and first <= task.opened_at <= min(covered, default=0) for task in tasks
        )

    def _decide(self, event: Event, kept: int) -> tuple[bool, bool | None]:
        overflow = isinstance(event, Rejected)
        said = verdict(self.session, overflow=overflow)
        view = self.session.view()
        place = self._retained(kept)
        self.session.settings = settings(self.window, sum(item.tokens for item in view[place:]))
        waiting = Waiting()
        compactor = RecallableCompactor(self.session, waiting, _Smaller())
        before = len(self.session.passes)
        flight = Flight(
            self.loop, lambda: compactor.compact_if_needed("overflow" if overflow else "pressure")
        )
        starts = len(self.session.passes) > before
        if flight.error is not None:
            self._part(f"the verdict is {said!r}, and the pass fails: {flight.error!r}")
        if starts != (said is Verdict.DUE and self.model.folded + self.model.shown > 0):
            self._part(f"the verdict is {said!r}, and a pass {'started' if starts else 'did not start'}")
        if starts:
            self.flight, self._waiting = flight, waiting
            shown = [item.message for item in view]
            if any(m not in shown for request, _ in waiting.calls for m in request.messages):
                self._part("a summary is written from what the view does not show")
        return starts, said.is_overflow if overflow else None

    def _retained(self, kept: int) -> int:
        """The place in the view before the openers of the last ``kept`` messages."""
        view = self.session.view()
        places = [n for n, item in enumerate(view) if is_message(item)]
        return places[-kept] - 2 * OPENERS if kept else len(view)

    def _land(self) -> Event:
        for request, answer in self._waiting.calls:
            if not answer.done():
                answer.set_result(STUB if request.kind == "stub" else STATE)
        assert self.flight is not None
        self.flight.turn()
        report, self.flight = self.flight.report, None
        landed = report is not None and report.outcome == "committed"
        return Land(len(self._messages())) if landed else Fail()

    def _end(self, error: Exception | None) -> None:
        """The calls of a pass return, with an error or without; what comes of it is not of interest."""
        if self.flight is None:
            return
        for _, answer in self._waiting.calls:
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(STATE)
        self.flight.turn()
        try:
            report = self.flight.report
        except PassFailedError:
            report = None
        self.flight = None
        if report is not None and report.outcome == "committed":
            self._part("a pass committed that had failed, or whose history was cleared")

    def _switch(self, window: Window) -> None:
        self.session.adopt(settings(window, 1))
        self.window = window

    def reopen(self, window: Window) -> None:
        """The process ends, with whatever was in flight, and the log is opened by the next one."""
        log = self.session.log_in_memory
        assert log is not None
        kept = log.until(self.session.last_seq)
        if self.flight is not None:
            self.flight.cancel()
            self.flight = None
        self.window = window
        self.session = type(self.session).in_memory(settings(window, 0), costs, kept)

    # --- the abstraction -----------------------------------------------------------------------

    def _messages(self) -> list[Item]:
        return [item for item in self.session.view() if is_message(item)]

    def seen(self) -> Seen:
        """The session as the machine sees it."""
        session, view = self.session, self.session.view()
        archived = session.history[: session.spine.epoch_start]
        epoch = session.history[session.spine.epoch_start :]
        shown = sum(map(is_message, view))
        sizes = session.sizes
        return Seen(
            archived=sum(map(is_message, archived)),
            folded=sum(map(is_message, epoch)) - shown,
            shown=shown,
            remembered=any(item.kind is ItemClass.STATE for item in view),
            window=self.window,
            futile=session.futile,
            floor=None if session.floor is None else _units(session.floor) + OVERHEAD,
            attempts=session.overflow_passes,
            in_flight=self.flight is not None,
            published=(_units(sizes.projected), _units(sizes.raw)),
        )


def expected(s: BudgetState) -> Seen:
    """The machine's state, as far as it is compared."""
    return Seen(
        s.archived,
        s.folded,
        s.shown,
        s.remembered,
        s.window,
        s.futile,
        s.floor,
        s.attempts,
        s.in_flight > 0,
        (s.published.projected, s.published.raw),
    )


def is_message(item: Item) -> bool:
    """One of the machine's messages, not a task's carrier or its receipt."""
    return item.kind is ItemClass.MESSAGE and not item.message.calls and item.message.role != "tool"


def _units(tokens: int) -> int:
    return round(tokens / UNIT)


class _Smaller:
    """A provider's count by which every pass shrinks the request: the machine knows no guard."""

    def __init__(self) -> None:
        self.left = 1_000

    async def __call__(self, messages: Sequence[ChatMessage]) -> int:
        self.left -= 1
        return self.left
