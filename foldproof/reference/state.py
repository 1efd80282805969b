"""The state that a log adds up to: ``apply`` is the only code that changes it, live and on a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from foldproof.model import index
from foldproof.model.design import DESIGN, Clause
from foldproof.model.machine import Clauses
from foldproof.reference.checkpoints import Checkpoint, footer
from foldproof.reference.codec import message_from_data
from foldproof.reference.gauge import Gauge, Sizes
from foldproof.reference.log import Event
from foldproof.reference.messages import ChatMessage
from foldproof.reference.pairing import OpenCalls
from foldproof.reference.protocols import TokenEstimator
from foldproof.reference.settings import Settings
from foldproof.reference.spine import CLOSES, OPENS, Pending, Spine, covers
from foldproof.reference.surface import Item, ItemClass, Surface, SurfaceView, Transition


@dataclass(slots=True)
class PassRecord:
    """A pass as the log tells it: ``regions`` are pairs of boundary seqs, left to right."""

    number: int
    seq: int
    compactor: str
    trigger: str
    regions: list[tuple[int, int]]
    committed: int = 0
    ended: bool = False
    error: str | None = None


class SessionState:
    """History, spine, surface and gauge. Immutable from outside; `Session` has the commands."""

    _design: ClassVar[Clauses] = DESIGN
    """A seam for tests, which take single clauses out to see that they are missed. Not an option."""

    def __init__(self, settings: Settings, estimate: TokenEstimator) -> None:
        self.settings, self._estimate = settings, estimate
        self._history: list[Item] = []
        self._raw_tokens = 0
        self._surface = Surface()
        self._spine = Spine()
        self._calls = OpenCalls()
        self._gauge = Gauge()
        self._since_gauge = 0
        self._last_observed = 0
        self._pending: Pending | None = None
        self.fold_enabled = True
        self.items: dict[int, Item] = {}
        self.checkpoints: dict[int, Checkpoint] = {}
        self.passes: list[PassRecord] = []
        # The latest text of the class state, shown or folded since: what a resumed pass merges into.
        self.state_text = ""
        self._summary: Checkpoint | None = None
        self.floor: int | None = None
        # What was stale when the guard last refused; 0 once a pass has committed.
        self.refused_tokens = 0
        # The window that the log last spoke of; none before the first pass.
        self.window: int | None = None
        self.overflow_passes = 0
        self.last_seq = 0

    # --- what it shows -------------------------------------------------------------------------

    def view(self) -> SurfaceView:
        """What the model would be sent now: a snapshot, in constant time, that never changes."""
        return self._surface.view()

    @property
    def history(self) -> Sequence[Item]:
        """Every live message, in order, folded or not. It is the session's own list: do not keep it."""
        return self._history

    @property
    def spine(self) -> Spine:
        """The task tree and the boundaries of what passes folded. Look, do not touch."""
        return self._spine

    @property
    def gauge(self) -> Gauge:
        return self._gauge

    @property
    def last_observed(self) -> int:
        """How many messages the history had when a step last ended."""
        return self._last_observed

    @property
    def pending(self) -> Pending | None:
        """The transition that was accepted and waits for the end of its step."""
        return self._pending

    @property
    def tokens(self) -> int:
        """The estimate of the view."""
        return self._surface.tokens

    @property
    def trigger(self) -> int:
        """What is compared with the threshold: the size last measured, and the estimate since then."""
        return self._gauge.tokens + self._since_gauge

    @property
    def sizes(self) -> Sizes:
        """The sizes to publish, both of this moment: ``projected`` is the trigger."""
        return Sizes(self.trigger, max(self._raw_tokens, self.trigger))

    @property
    def futile(self) -> bool:
        """The last pass left a view that reaches the threshold: another one would change nothing.

        Ends with an undo, a clear, or another window, larger or smaller.
        """
        return self.floor is not None and self.floor >= self.settings.threshold_tokens

    @property
    def recalibrates(self) -> bool:
        """What the last pass found out was found for another window than the settings have."""
        return self.floor is not None and self.window != self.settings.window_tokens

    @property
    def unfinished_pass(self) -> PassRecord | None:
        """A pass that was started and not ended: it runs now, or a crash interrupted it."""
        return self.passes[-1] if self.passes and not self.passes[-1].ended else None

    def item_tokens(self, message: ChatMessage) -> int:
        """The estimate of one message in a request."""
        calls = sum(self._estimate(f"{call.id}{call.name}{call.arguments}") for call in message.calls)
        return self.settings.message_overhead_tokens + self._estimate(message.text) + calls

    def estimate(self, text: str) -> int:
        return self._estimate(text)

    def parted(self) -> frozenset[int]:
        """Positions of the view at which a boundary would part a closed task from its closing carrier."""
        if self.fold_enabled:
            view = self.view()
            return frozenset(n + 1 for n, item in enumerate(view) if item.kind is ItemClass.TASK)
        return frozenset(k for span in self._spine.parted() for k in span)

    def landing_refused(self, kind: ItemClass) -> str | None:
        """Why a region of this kind cannot be committed now, none when it can."""
        if self._pending is not None and Clause.D5 in self._design:
            return "a transition is pending"
        if kind is not ItemClass.BASIC and not self.fold_enabled:
            return "the fold is off"
        return None

    # --- events --------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Change the state by one event of the log. KeyError, TypeError, ValueError: it does not apply."""
        data = event.data
        match event.type:
            case "message":
                self._put_message(event.seq, data)
            case "measure":
                self._gauge = Gauge(len(self._history), data["tokens"], "measured")
                self._since_gauge = 0
            case "undo":
                self._cut(self._index(data["cut"]))
            case "clear":
                self._reset()
            case "toggle":
                self._toggle(data["enabled"])
            case "window":
                self.window, self.floor = data["tokens"], None
            case "transition/open" | "transition/close" | "transition/next":
                self._transition(event.seq, self._index(data["carrier"]))
            case "compaction/start":
                regions = [(first, last) for first, last in data["regions"]]
                self.passes.append(
                    PassRecord(len(self.passes) + 1, event.seq, data["compactor"], data["trigger"], regions)
                )
                self.overflow_passes += data["trigger"] == "overflow"
            case "compaction/summary":
                self._summary = Checkpoint.from_data(event.seq, data)
            case "checkpoint":
                self._put_checkpoint(event.seq, data["summary"])
            case "compaction/end":
                self._end_pass(data)
            case other:
                raise ValueError(f"unknown type {other!r}")
        self.last_seq = event.seq

    def _put_message(self, seq: int, data: dict[str, Any]) -> None:
        message = message_from_data(data)
        asked = data.get("transition")
        transition = Transition(asked["kind"], asked["memory"]) if asked is not None else None
        item = Item(seq, message, self.item_tokens(message), transition=transition)
        carrier = self._history[-1] if self._history else None
        self.items[seq] = item
        self._history.append(item)
        self._surface.append(item)
        self._raw_tokens += item.tokens
        self._since_gauge += item.tokens
        if item.is_prompt:
            self.overflow_passes = 0
        self._calls.add(message)
        if carrier is not None and accepts(carrier, item) and carrier.transition is not None:
            cursor = self._spine.cursor
            opened_at = None if cursor is None else self._spine.tasks[cursor].opened_at
            self._pending = Pending(carrier.transition, carrier.seq, opened_at)

    def _transition(self, seq: int, carrier: int) -> None:
        """Write an accepted transition into the tree."""
        transition = self._history[carrier].transition
        if transition is None:
            raise ValueError(f"seq {self._history[carrier].seq} carries no transition")
        cursor = self._spine.cursor
        if transition.kind in CLOSES and cursor is not None:
            self._close(seq, self._spine.tasks[cursor].opened_at, carrier, transition.memory)
        if transition.kind in OPENS and (transition.kind not in CLOSES or cursor is not None):
            self._spine.open(carrier)
        if transition.kind in CLOSES and Clause.D7 in self._design:
            self._rebase()
        self._pending = None
        self._last_observed = len(self._history)

    def _close(self, seq: int, opened_at: int, carrier: int, memory: str) -> None:
        gone = list(self._spine.folded(self._history, opened_at, carrier))
        span = (gone[0].seq, gone[-1].seq)
        text = f"{memory}\n{footer(seq, span)}" if memory else footer(seq, span)
        self.checkpoints[seq] = Checkpoint(
            seq, ItemClass.TASK, text, span, tuple(item.seq for item in gone), pass_number=0
        )
        message = ChatMessage("user", text)
        item = Item(seq, message, self.item_tokens(message), ItemClass.TASK, seq, carrier - opened_at)
        self.items[seq] = item
        self._spine.close(carrier, item)
        if self.fold_enabled:
            start = self._surface.position(gone[0].seq)
            if start is None:
                raise ValueError(f"seq {gone[0].seq} is not on the surface")
            self._surface.replace(start, start + len(gone), item)

    def _put_checkpoint(self, seq: int, summary: int) -> None:
        checkpoint = self._summary
        if checkpoint is None or checkpoint.seq != summary:
            raise ValueError(f"seq {summary} is not the summary before it")
        start = self._surface.position(checkpoint.shadowed[0])
        if start is None:
            raise ValueError(f"seq {checkpoint.shadowed[0]} is not on the surface")
        end = start + len(checkpoint.shadowed)
        gone = self.view()[start:end]
        if [item.seq for item in gone] != list(checkpoint.shadowed):
            raise ValueError("the shadowed seqs are no span of the surface")
        message = ChatMessage("user", checkpoint.text)
        item = Item(seq, message, self.item_tokens(message), checkpoint.kind, checkpoint.seq)
        # Each item of the surface knows how many messages it stands for, so a position has an index.
        before = covers(self.view()[:start])
        self._land(item, start, end, before, before + covers(gone))
        self._calls.give_up(old.message for old in gone)
        self.checkpoints[checkpoint.seq] = checkpoint
        if checkpoint.kind is not ItemClass.INDEX:
            self.state_text = checkpoint.body
        if self.unfinished_pass is not None:
            self.unfinished_pass.committed += 1

    def _land(self, item: Item, start: int, end: int, before: int, k: int) -> None:
        """Put a checkpoint in place of surface ``[start, end)``, which stands for history ``[before, k)``."""
        spine = self._spine
        if item.kind is ItemClass.BASIC:
            if before:
                raise ValueError("a summary replaces a prefix of the history")
            self._replace_prefix(k, item)
        else:
            if start != len(spine.frozen) or not self.fold_enabled:
                raise ValueError("a region begins right behind the last index stub, with the fold on")
            item = Item(item.seq, item.message, item.tokens, item.kind, item.checkpoint, k - spine.frozen_end)
            if item.kind is ItemClass.INDEX:
                spine.freeze(k, item)
            else:
                spine.remember(k, item)
            self._surface.replace(start, end, item)
            self._rebase()
        self.items[item.seq] = item

    def _replace_prefix(self, k: int, summary: Item) -> None:
        self._raw_tokens += summary.tokens - sum(item.tokens for item in self._history[:k])
        self._history = [summary, *self._history[k:]]
        self._spine.replace_prefix(k, repair=Clause.D1A_COMPACT in self._design)
        if Clause.D1C in self._design:
            self._last_observed = index.clamp(self._last_observed, len(self._history))
        self._refold()
        self._rebase(raw=Clause.D1B not in self._design)

    def _cut(self, cut: int) -> None:
        """Truncate the history to ``cut`` messages, and roll everything back to that moment."""
        gone = self._history[cut:]
        touched = self._spine.touched_by(cut)
        del self._history[cut:]
        self._raw_tokens -= sum(item.tokens for item in gone)
        if Clause.D1A_UNDO in self._design and (self.fold_enabled or Clause.D6_REPAIR in self._design):
            repair = index.rolled_back if Clause.D9 in self._design else index.clamped
            for memory in self._spine.truncate(cut, repair):
                del self.items[memory.seq], self.checkpoints[memory.seq]
        if touched and self.fold_enabled:
            self._refold()
        else:
            self._surface.truncate(len(self._surface) - len(gone))
        if Clause.D1C in self._design:
            self._last_observed = index.clamp(self._last_observed, cut)
        if self._pending is not None and any(item.seq == self._pending.carrier for item in gone):
            self._pending = None
        if touched or index.outlives(self._gauge.length, cut):
            self._rebase(raw=Clause.D1B not in self._design)
        else:
            self._since_gauge -= sum(item.tokens for item in gone)
        for item in gone:
            del self.items[item.seq]
        self._calls.take_back([item.message for item in gone])
        self._replaced()

    def _reset(self) -> None:
        self._history, self._raw_tokens = [], 0
        if Clause.D1A_CLEAR in self._design and (self.fold_enabled or Clause.D6_REPAIR in self._design):
            tasks = self._spine.tasks
            self._spine = Spine()
            if Clause.D9 not in self._design:
                self._spine.tasks = tasks
                self._spine.truncate(0, index.clamped)
        self._refold()
        self._calls = OpenCalls()
        self._gauge, self._since_gauge = Gauge(), 0
        if Clause.D1C in self._design:
            self._last_observed = 0
        self._pending = None
        self.items.clear()
        self.checkpoints.clear()
        self._summary, self.state_text, self.overflow_passes = None, "", 0
        self._replaced()
        unfinished = self.unfinished_pass
        if unfinished is not None:
            unfinished.ended, unfinished.error = True, "cleared"

    def _replaced(self) -> None:
        """The history was replaced: what the last pass found out about it, and waits for, is void."""
        self.floor, self.refused_tokens = None, 0

    def _toggle(self, enabled: bool) -> None:
        self.fold_enabled = enabled
        self._refold()
        if Clause.D6_REBASE in self._design:
            self._rebase()

    def _end_pass(self, data: dict[str, Any]) -> None:
        record = self.passes[-1]
        record.ended, record.error = True, data.get("error")
        if record.error == "guard":
            self.refused_tokens = data.get("stale_tokens", 0)
        if record.committed and record.error is None:
            self.floor, self.refused_tokens = self._surface.tokens, 0
        self.window = data.get("window_tokens", self.window)

    def _refold(self) -> None:
        items = self._spine.shown(self._history) if self.fold_enabled else self._history
        self._surface = Surface(items)

    def _rebase(self, *, raw: bool = False) -> None:
        """The gauge starts again as the estimate of the view (a fault: of the raw history)."""
        self._gauge = Gauge(len(self._history), self._raw_tokens if raw else self._surface.tokens)
        self._since_gauge = 0

    def _index(self, seq: int) -> int:
        """Where the message that event ``seq`` stored stands in the history."""
        for number in range(len(self._history) - 1, -1, -1):  # what is asked for is nearly always young
            if self._history[number].seq == seq:
                return number
        raise ValueError(f"seq {seq} is not in the history")


def accepts(carrier: Item, receipt: Item) -> bool:
    """Whether ``receipt``, stored right after ``carrier``, accepted the transition that it carries."""
    return carrier.transition is not None and any(
        call.id == receipt.message.result_of for call in carrier.message.calls
    )
