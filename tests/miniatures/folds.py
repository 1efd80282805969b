"""The wrong folds: one fault each, in the words of what a developer might have done."""

from __future__ import annotations

import copy
from typing import Any

from miniature import Miniature, cost


class UndoKeepsTree(Miniature):
    """Undo shortens the history and forgets the tree."""

    def repair(self, cut: int) -> None:
        if cut == 0:
            super().repair(cut)


class ClearKeepsSummary(Miniature):
    """Clear empties the history; the epoch's boundary and summary stay."""

    def clear(self) -> None:
        start, summary = self.start, self.summary
        super().clear()
        self.start, self.summary = start, summary


class UndoClamps(Miniature):
    """Undo clamps a span into what is left, with its old memory."""

    def repair(self, cut: int) -> None:
        closed = [
            copy.copy(s) for s in self.spans if s["close"] is not None and s["open"] < cut <= s["close"] + 1
        ]
        super().repair(cut)
        for span in closed:
            self.spans = [s for s in self.spans if s["open"] != span["open"]]
            self.spans.append({**span, "close": min(span["close"], cut - 1)})


class UndoRawGauge(Miniature):
    """After an undo the gauge is the size of the raw history."""

    def truncate(self, cut: int) -> None:
        super().truncate(cut)
        self.gauge = (len(self.history), sum(cost(m["text"]) for m in self.history))


class CloseKeepsGauge(Miniature):
    """A close folds the view and leaves the gauge."""

    def commit(self, waiting: dict[str, Any]) -> None:
        gauge = self.gauge
        super().commit(waiting)
        self.gauge = gauge


class CompactKeepsGauge(Miniature):
    """A compaction leaves the gauge."""

    def land(self, summary: str, end: int) -> None:
        gauge = self.gauge
        super().land(summary, end)
        self.gauge = gauge


class UndoLosesNext(Miniature):
    """After an undo the next call is looked for too far to the right, and lost."""

    def truncate(self, cut: int) -> None:
        seen = self.seen
        super().truncate(cut)
        self.seen = seen

    def anchors(self) -> list[tuple[str, int, str]]:
        return [anchor for anchor in super().anchors() if anchor[0] != "seen"]

    def settle(self) -> None:
        waiting, self.waiting = self.waiting, None
        if waiting and waiting["place"] >= self.seen:
            self.commit(waiting)
        self.seen = len(self.history)


class SeenIsNotClamped(Miniature):
    """The same place is kept after an undo, but never used: a bad index alone."""

    def truncate(self, cut: int) -> None:
        seen = self.seen
        super().truncate(cut)
        self.seen = seen


class ResumeLosesCall(Miniature):
    """A resume drops what was waiting."""

    def restore(self) -> None:
        self.waiting = None
        super().restore()


class ResumeRawGauge(Miniature):
    """A resumed gauge is the size of the raw history."""

    def restore(self) -> None:
        super().restore()
        self.gauge = (len(self.history), sum(cost(m["text"]) for m in self.history))


class ResumeResurrects(Miniature):
    """An undo never reaches the disk: a resume brings everything back."""

    def reset(self, config: dict[str, Any]) -> None:
        super().reset(config)
        self.disk: list[dict[str, Any]] = []

    def append(self, message: dict[str, str]) -> None:
        super().append(message)
        self.disk.append(self.history[-1])

    def restore(self) -> None:
        super().restore()
        self.history += [m for m in self.disk if m not in self.history]
        self.rebase()


class ResumeDuplicates(Miniature):
    """A resume loads the last message twice."""

    def restore(self) -> None:
        super().restore()
        if self.history and self.history[-1]["what"] == "message":
            self.history.append(self.history[-1])
            self.rebase()


class CompactWhilePending(Miniature):
    """A compaction lands while a call waits, and the call's span is gone when it is committed."""

    def compact(self, summary: str, keep: int | None) -> None:
        waiting, self.waiting = self.waiting, None
        try:
            super().compact(summary, keep)
        finally:
            self.waiting = waiting


class SwitchLosesCall(Miniature):
    """Switching the fold off drops what was waiting."""

    def toggle(self, enabled: bool) -> None:
        self.waiting = None
        super().toggle(enabled)


class SwitchKeepsGauge(Miniature):
    """Switching the fold leaves the gauge."""

    def toggle(self, enabled: bool) -> None:
        gauge = self.gauge
        super().toggle(enabled)
        self.gauge = gauge


class UndoWhileOff(Miniature):
    """With the fold off an undo does not repair the tree."""

    def repair(self, cut: int) -> None:
        if self.on:
            super().repair(cut)


class UndoKeepsPrompt(Miniature):
    """Undo takes back what follows the prompt, not the prompt."""

    def undo_cut(self, count: int) -> int:
        return super().undo_cut(count) + 1


class UndoTakesTooMuch(Miniature):
    """Undo takes one message more."""

    def undo_cut(self, count: int) -> int:
        return max(super().undo_cut(count) - 1, 0)


class UndoIgnoresCount(Miniature):
    """Undo takes back one prompt, however many were asked for."""

    def undo_cut(self, count: int) -> int:
        super().undo_cut(count)
        return super().undo_cut(1)


class LiarUndo(Miniature):
    """Undo is said to be applied; nothing happens."""

    def undo(self, count: int) -> None:
        self.undo_cut(count)


class LiarClear(Miniature):
    """Clear is said to be applied; nothing happens."""

    def clear(self) -> None:
        pass


class LiarAppend(Miniature):
    """Every reply of the model is said to be stored, and is not."""

    def append(self, message: dict[str, str]) -> None:
        if message["role"] != "assistant":
            super().append(message)


class LiarReset(Miniature):
    """A reset is said to be applied; the old session goes on."""

    def reset(self, config: dict[str, Any]) -> None:
        if not hasattr(self, "history"):
            super().reset(config)


class LiarStepEnd(Miniature):
    """A step's end is said to commit; nothing is committed, nothing waits."""

    def settle(self) -> None:
        self.waiting = None


class CompactHidesOne(Miniature):
    """A compaction that keeps a tail starts it one message late."""

    def land(self, summary: str, end: int) -> None:
        super().land(summary, min(end + 1, len(self.history)))


class CompactRepeats(Miniature):
    """After a compaction the kept tail is sent twice."""

    def view(self) -> list[dict[str, Any]]:
        items = super().view()
        return [*items, *items[1:]] if self.on and self.summary else items


class CompactForgets(Miniature):
    """The summary of a compaction is never shown."""

    def view(self) -> list[dict[str, Any]]:
        items = super().view()
        return items[1:] if self.on and self.summary else items


class MemoryAtEnd(Miniature):
    """Memories stand at the end of the view."""

    def view(self) -> list[dict[str, Any]]:
        items = super().view()
        return sorted(items, key=lambda item: item.get("synthetic") == "memory")


class MemoryMissing(Miniature):
    """A closed span is cut out; its memory is not shown."""

    def view(self) -> list[dict[str, Any]]:
        return [item for item in super().view() if not item["text"].startswith("memory")]


class NestedTwice(Miniature):
    """The memory of an inner span is shown beside the outer one's."""

    def view(self) -> list[dict[str, Any]]:
        items = super().view()
        inner = [
            self.remembered(s["memory"])
            for s in self.spans
            if self.on
            and s["close"] is not None
            and any(o["close"] is not None and o["open"] < s["open"] <= o["close"] for o in self.spans)
        ]
        return [*items, *inner]


class OrphanResult(Miniature):
    """The call is dropped from the view; its result stays."""

    def view(self) -> list[dict[str, Any]]:
        return [item for item in super().view() if "calls" not in item]


class NewestFirst(Miniature):
    """The view is sent newest first."""

    def view(self) -> list[dict[str, Any]]:
        return super().view()[::-1]


class GhostCall(Miniature):
    """What was once committed is reported as committed for ever."""

    def reset(self, config: dict[str, Any]) -> None:
        self.once: list[str] = []
        super().reset(config)

    def committed(self) -> list[str]:
        self.once = list(dict.fromkeys([*self.once, *super().committed()]))
        return self.once


class RawTrigger(Miniature):
    """What is compared with the threshold is the raw history."""

    def trigger(self) -> int:
        return sum(cost(message["text"]) for message in self.history)


class AnchorPastEnd(Miniature):
    """A compaction notes its boundary one too far."""

    def anchors(self) -> list[tuple[str, int, str]]:
        extra = 1 if self.summary else 0
        return [(n, v + extra if n == "start" else v, b) for n, v, b in super().anchors()]
