"""Checkpoints as the log knows them, and the footer that code composes for each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from foldproof.reference.surface import ItemClass

DASH: Final = "\N{EN DASH}"
FOOTER: Final = re.compile(
    rf"\[checkpoint c(\d+): shadows conversation span #(\d+){DASH}#(\d+); "
    r"originals retrievable via history_read\]"
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One ``compaction/summary``: ``seq`` is its number in the log, and its id with a ``c`` before it.

    ``shadowed`` holds the seqs of the items that it replaced, in surface order, and is the authority on
    that. ``span`` is the pair of boundary seqs, for people: after an earlier replacement its start can
    be greater than its end, and a state's is the wider span that it was made from.
    """

    seq: int
    kind: ItemClass
    text: str
    span: tuple[int, int]
    shadowed: tuple[int, ...]
    pass_number: int

    @property
    def id(self) -> str:
        return f"c{self.seq}"

    @property
    def body(self) -> str:
        """The text without the footer: what the summarizer wrote."""
        found = FOOTER.search(self.text)
        return self.text[: found.start()].rstrip("\n") if found else self.text

    def to_data(self) -> dict[str, Any]:
        """The event's data; the seq is the event's own."""
        return {
            "pass": self.pass_number,
            "kind": self.kind.value,
            "text": self.text,
            "shadowed_range": list(self.span),
            "shadowed_seqs": list(self.shadowed),
        }

    @classmethod
    def from_data(cls, seq: int, data: dict[str, Any]) -> Checkpoint:
        start, end = data["shadowed_range"]
        shadowed = tuple(data["shadowed_seqs"])
        return cls(seq, ItemClass(data["kind"]), data["text"], (start, end), shadowed, data["pass"])


def footer(seq: int, span: tuple[int, int]) -> str:
    """The pointer that every checkpoint's text ends with. Never the model's work: it must be exact."""
    return (
        f"[checkpoint c{seq}: shadows conversation span #{span[0]}{DASH}#{span[1]}; "
        "originals retrievable via history_read]"
    )


def parse_id(text: str) -> int | None:
    """The seq of an id written as in a footer (``c12``, or ``12`` alone), none if it is no id."""
    match = re.fullmatch(r"\s*c?(\d{1,18})\s*", text)
    return int(match.group(1)) if match else None
