"""A miniature with lines, exchanges that can be taken out, answers that can be replaced; and wrong ones."""

from __future__ import annotations

import copy
from typing import Any

from miniature import Miniature

from foldproof.conformance.adapter import Rejected

KEPT = ("history", "spans", "summary", "start", "waiting", "on", "seen", "gauge")


class Lined(Miniature):
    """Keeps every invariant. A line is a copy of everything; what a summary holds cannot be taken out."""

    def reset(self, config: dict[str, Any]) -> None:
        super().reset(config)
        self.line, self.lines = "main", dict[str, dict[str, Any]]()

    def kept(self) -> dict[str, Any]:
        return copy.deepcopy({name: getattr(self, name) for name in KEPT})

    def branch(self, name: str, count: int) -> None:
        if self.waiting:
            raise Rejected("a call waits")
        kept = self.kept()
        if count:
            self.undo(count)
        self.lines[self.line], self.line = kept, name

    def switch(self, name: str) -> None:
        if name == self.line:
            return
        kept = self.kept()
        self.__dict__.update(self.lines.pop(name))
        self.lines[self.line], self.line = kept, name

    def clear(self) -> None:
        super().clear()
        self.lines.clear()

    def remove(self, prompt: str) -> None:
        start, end = self.exchange(prompt)
        self.replace(start, end)

    def regenerate(self, prompt: str, message: dict[str, str]) -> None:
        start, end = self.exchange(prompt)
        self.replace(start + 1, end, {**message, "what": "message"})

    def exchange(self, prompt: str) -> tuple[int, int]:
        """Where an exchange lies. Refused where a summary or a span holds it or comes after it."""
        start = next(i for i, m in enumerate(self.history) if m.get("id") == prompt)
        later = (i for i in range(start + 1, len(self.history)) if self.history[i].get("origin") == "user")
        if self.waiting or start < self.start or any(m["what"] != "message" for m in self.history):
            raise Rejected("the past is folded")
        return start, next(later, len(self.history))

    def replace(self, start: int, end: int, *messages: dict[str, Any]) -> None:
        self.history[start:end] = messages
        self.seen = min(self.seen, len(self.history))
        self.rebase()


class LinesShareHistory(Lined):
    """A line is a shallow copy."""

    def kept(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in KEPT}


class SwitchKeepsFold(Lined):
    """A switch changes the history, not the summary and where it ends."""

    def switch(self, name: str) -> None:
        fold = self.summary, self.start
        super().switch(name)
        self.summary, self.start = fold
        self.rebase()


class BranchKeepsTail(Lined):
    """A line from before a prompt has the prompt."""

    def branch(self, name: str, count: int) -> None:
        super().branch(name, 0)


class ResumeOnMain(Lined):
    """A resume is on the first line, whichever the session was on."""

    def restore(self) -> None:
        if self.line != "main":
            line, kept = self.line, self.kept()
            self.__dict__.update(self.lines.pop("main"))
            self.lines[line], self.line = kept, "main"
        super().restore()


class RemoveFromSummary(Lined):
    """What a summary holds is taken out of the history alone, and the summary's end is left where it was."""

    def exchange(self, prompt: str) -> tuple[int, int]:
        start, self.start = self.start, 0
        try:
            return super().exchange(prompt)
        finally:
            self.start = start


class RemoveLeavesAnswer(Lined):
    """Only the prompt of an exchange is taken out."""

    def remove(self, prompt: str) -> None:
        start, _ = self.exchange(prompt)
        self.replace(start, start + 1)


class RegenerateAppends(Lined):
    """The new answer stands beside the old one."""

    def regenerate(self, prompt: str, message: dict[str, str]) -> None:
        _, end = self.exchange(prompt)
        self.replace(end, end, {**message, "what": "message"})
