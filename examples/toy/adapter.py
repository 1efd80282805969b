"""The adapter of `notebook_agent.py`, made from the scaffold; with ``mended``, of a mended one."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from foldproof_adapter import Adapter, Rejected, Skipped, echo_markers, serve
from notebook_agent import NotebookAgent


class Mended(NotebookAgent):
    """An undo that reaches into what is summarised takes the summary back as well."""

    def undo(self, turns=1):
        taken = super().undo(turns)
        if len(self.entries) < self.covered:
            self.summary, self.covered = "", 0
            self._save()
        return taken


class MyAdapter(Adapter):
    """One conversation in a file; a fake summariser says the marks of what it is told."""

    implementation = {"name": "notebook_agent", "language": "python", "version": "0"}
    observes = ("view", "history_length", "anchors")

    def __init__(self, kind):
        self.kind = kind
        self.folder = tempfile.TemporaryDirectory()
        self.number = 0

    def open(self):
        self.agent = self.kind(self.path, lambda told: echo_markers(m["content"] for m in told))

    def reset(self, config):
        self.number += 1
        self.path = Path(self.folder.name) / f"{self.number}.json"
        self.open()

    def append(self, message):
        if message["role"] == "user" and message["origin"] == "user":
            self.agent.say(message["text"])
        elif message["role"] == "assistant":
            self.agent.answer(message["text"])
        else:
            raise Skipped("it has prompts and answers only")

    def undo(self, count):
        try:
            self.agent.undo(count)
        except ValueError as error:
            raise Rejected(str(error)) from error

    def clear(self):
        self.agent.forget()

    def compact(self, summary):
        if not self.agent.fold():
            raise Rejected("nothing to fold")

    def restore(self):
        self.open()

    def observe(self):
        return {
            "view": [{"role": m["role"], "text": m["content"]} for m in self.agent.prompt()],
            "history_length": len(self.agent.entries),
            "anchors": [{"name": "covered", "value": self.agent.covered, "bound": "inclusive"}],
        }


if __name__ == "__main__":
    serve(MyAdapter(Mended if "mended" in sys.argv[1:] else NotebookAgent))
