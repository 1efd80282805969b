"""A small chat harness: sessions in a file, an undo, and a summary when the session gets long.

It is a toy of the size that people write for themselves, and has the fault that such harnesses have.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Summarise = Callable[[list[dict[str, str]]], str]


class NotebookAgent:
    """One conversation, kept in a JSON file.

    ``entries`` has every message that was ever said. A summary stands for the first ``covered`` of them; the
    model is sent the summary and what comes after it.
    """

    def __init__(self, path: Path, summarise: Summarise) -> None:
        self.path = path
        self.summarise = summarise
        self.entries: list[dict[str, str]] = []
        self.summary = ""
        self.covered = 0
        if path.exists():
            self._load()

    # talking

    def say(self, text: str) -> None:
        """The user says something."""
        self._append("user", text)

    def answer(self, text: str) -> None:
        """The model answers."""
        self._append("assistant", text)

    def prompt(self) -> list[dict[str, str]]:
        """What the model is sent."""
        recent = self.entries[self.covered :]
        if not self.summary:
            return recent
        return [{"role": "system", "content": f"Earlier in this conversation: {self.summary}"}, *recent]

    def size(self) -> int:
        """What the prompt costs, at four characters a token."""
        return sum(len(entry["content"]) for entry in self.prompt()) // 4

    # making room

    def fold(self, keep: int = 2) -> bool:
        """Summarise all but the last ``keep`` messages. False if there is nothing to summarise."""
        end = len(self.entries) - keep
        if end <= self.covered:
            return False
        told = self.prompt()[: len(self.prompt()) - keep]
        self.summary = self.summarise(told)
        self.covered = end
        self._save()
        return True

    # going back

    def undo(self, turns: int = 1) -> list[dict[str, str]]:
        """Take back the last turns, each a prompt and what followed it; gives what was taken back."""
        starts = [i for i, entry in enumerate(self.entries) if entry["role"] == "user"]
        if not 0 < turns <= len(starts):
            raise ValueError(f"cannot undo {turns} of {len(starts)} turns")
        cut = starts[-turns]
        taken = self.entries[cut:]
        del self.entries[cut:]
        self._save()
        return taken

    def forget(self) -> None:
        """Begin anew in the same file."""
        self.entries, self.summary, self.covered = [], "", 0
        self._save()

    # the file

    def _append(self, role: str, content: str) -> None:
        self.entries.append({"role": role, "content": content})
        self._save()

    def _save(self) -> None:
        state: dict[str, Any] = {
            "entries": self.entries,
            "summary": self.summary,
            "covered": self.covered,
        }
        self.path.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def _load(self) -> None:
        state = json.loads(self.path.read_text(encoding="utf-8"))
        self.entries, self.summary, self.covered = state["entries"], state["summary"], state["covered"]
