"""A small session of its own making that keeps every invariant, and wrong ones with one fault each.

    python tests/miniatures/miniature.py [FAULT]

It shares nothing with the model: it is written with lists and dictionaries, as a newcomer would. The faults
stand in `folds.py`, `lined.py` and `breakers.py`.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from foldproof.conformance.adapter import Adapter, Rejected, serve


def cost(text: str) -> int:
    """Tokens of a message: a fourth of its characters, and four for the message itself."""
    return 4 + len(text) // 4


class Miniature(Adapter):
    """A session that folds closed spans and compacts the past into one summary."""

    implementation: ClassVar[dict[str, str]] = {"name": "miniature", "language": "python"}
    observes = ("view", "history_length", "anchors", "trigger", "view_tokens", "committed", "pending")

    def reset(self, config: dict[str, Any]) -> None:
        self.history: list[dict[str, Any]] = []
        self.spans: list[dict[str, Any]] = []
        self.summary: dict[str, Any] | None = None
        self.start = 0
        self.waiting: dict[str, Any] | None = None
        self.on = True
        self.seen = 0
        self.rebase()

    # what happens

    def append(self, message: dict[str, str]) -> None:
        self.history.append({**message, "what": "message"})

    def call(self, kind: str, call: str, summary: str | None, memory: str | None) -> None:
        if not self.on or self.waiting:
            raise Rejected("not now")
        if kind != "open" and not self.open_spans():
            raise Rejected("there is no open span")
        place = len(self.history)
        self.history.append({"what": "call", "role": "assistant", "text": "", "call": call})
        self.history.append({"what": "result", "role": "tool", "text": "accepted", "call": call})
        self.waiting = {"kind": kind, "call": call, "memory": memory, "place": place}

    def step_end(self) -> None:
        if not self.on:
            raise Rejected("the fold is off")
        self.settle()

    def measure(self, tokens: int | None) -> None:
        self.rebase()

    def undo(self, count: int) -> None:
        self.truncate(self.undo_cut(count))

    def undo_cut(self, count: int) -> int:
        prompts = [i for i, m in enumerate(self.history) if m.get("origin") == "user" and i >= self.start]
        if count > len(prompts):
            raise Rejected("no such prompt in this epoch")
        return prompts[-count]

    def clear(self) -> None:
        if not self.history:
            raise Rejected("empty already")
        self.truncate(0)

    def compact(self, summary: str, keep: int | None) -> None:
        if not self.on or self.waiting:
            raise Rejected("not now")
        end = len(self.history) - (keep or 0)
        if end <= self.start or not self.is_edge(end):
            raise Rejected("nothing to compact")
        self.land(summary, end)

    def restore(self) -> None:
        waiting, self.waiting = self.waiting, None
        if waiting:
            self.commit(waiting)
        self.seen = len(self.history)
        self.rebase()

    def toggle(self, enabled: bool) -> None:
        if enabled == self.on:
            raise Rejected("it is so already")
        if not enabled:
            self.settle()
        self.on = enabled
        self.rebase()

    # how

    def settle(self) -> None:
        waiting, self.waiting = self.waiting, None
        if waiting and waiting["place"] >= min(self.seen, len(self.history)):
            self.commit(waiting)
        self.seen = len(self.history)

    def commit(self, waiting: dict[str, Any]) -> None:
        place, call = waiting["place"], waiting["call"]
        if waiting["kind"] != "open" and self.open_spans():
            span = self.open_spans()[-1]
            span.update(close=place - 1, close_call=call, memory=waiting["memory"])
        if waiting["kind"] != "close":
            self.spans.append({"open": place, "open_call": call, "close": None, "close_call": None})
        if waiting["kind"] != "open":
            self.rebase()

    def truncate(self, cut: int) -> None:
        del self.history[cut:]
        self.repair(cut)
        if self.waiting and self.waiting["place"] >= cut:
            self.waiting = None
        self.seen = min(self.seen, cut)
        self.rebase()

    def repair(self, cut: int) -> None:
        self.spans = [span for span in self.spans if span["open"] < cut]
        for span in self.spans:
            if span["close"] is not None and span["close"] + 1 >= cut:
                span.update(close=None, close_call=None)
        if cut < self.start:
            self.start, self.summary = 0, None

    def land(self, summary: str, end: int) -> None:
        self.start, self.summary = end, {"text": summary}
        self.rebase()

    def is_edge(self, place: int) -> bool:
        inside = any(s["close"] is not None and s["open"] < place <= s["close"] + 1 for s in self.spans)
        parted = place < len(self.history) and self.history[place]["what"] == "result"
        return not inside and not parted

    def open_spans(self) -> list[dict[str, Any]]:
        return [s for s in self.spans if s["close"] is None and s["open"] >= self.start]

    def rebase(self) -> None:
        self.gauge = (len(self.history), sum(cost(item["text"]) for item in self.view()))

    # what is seen

    def view(self) -> list[dict[str, Any]]:
        if not self.on:
            return [self.shown(message) for message in self.history]
        items = [self.remembered(self.summary["text"])] if self.summary else []
        place = self.start
        while place < len(self.history):
            span = self.span_at(place)
            if span is None:
                items.append(self.shown(self.history[place]))
                place += 1
            else:
                items.append(self.remembered(span["memory"]))
                place = span["close"] + 1
        return items

    def span_at(self, place: int) -> dict[str, Any] | None:
        """The widest closed span that opens here."""
        closed = [s for s in self.spans if s["open"] == place and s["close"] is not None]
        return max(closed, key=lambda s: s["close"], default=None)

    def shown(self, message: dict[str, Any]) -> dict[str, Any]:
        item: dict[str, Any] = {"role": message["role"], "text": message["text"]}
        if message["what"] == "call":
            item["calls"] = [message["call"]]
        if message["what"] == "result":
            item["result_of"] = message["call"]
        return item

    def remembered(self, text: str) -> dict[str, Any]:
        return {"role": "user", "text": text, "synthetic": "memory"}

    def anchors(self) -> list[tuple[str, int, str]]:
        found = [("start", self.start, "inclusive"), ("seen", self.seen, "inclusive")]
        found.append(("gauge", self.gauge[0], "inclusive"))
        for number, span in enumerate(self.spans):
            found.append((f"span {number} open", span["open"], "exclusive"))
            if span["close"] is not None:
                found.append((f"span {number} close", span["close"], "exclusive"))
        return found

    def trigger(self) -> int:
        return self.gauge[1] + sum(cost(message["text"]) for message in self.history[self.gauge[0] :])

    def committed(self) -> list[str]:
        calls = [call for span in self.spans for call in (span["open_call"], span["close_call"]) if call]
        return list(dict.fromkeys(calls))

    def observe(self) -> dict[str, Any]:
        view = self.view()
        return {
            "view": view,
            "history_length": len(self.history),
            "anchors": [{"name": n, "value": v, "bound": b} for n, v, b in self.anchors()],
            "trigger": self.trigger(),
            "view_tokens": sum(cost(item["text"]) for item in view),
            "committed": self.committed(),
            "pending": self.waiting["call"] if self.waiting else None,
        }


if __name__ == "__main__":
    from breakers import before_serving
    from faults import FAULTS

    name = sys.argv[1] if len(sys.argv) > 1 else "none"
    before_serving(name)
    serve(FAULTS[name]())
