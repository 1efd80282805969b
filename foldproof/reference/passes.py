"""What every compactor shares: the report of a pass, the texts of checkpoints, and the commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from foldproof.reference.checkpoints import FOOTER, Checkpoint, footer
from foldproof.reference.messages import ChatMessage
from foldproof.reference.protocols import KEYWORDS
from foldproof.reference.session import Session
from foldproof.reference.summarizers.extract import shorten
from foldproof.reference.surface import Item, ItemClass

Trigger = Literal["pressure", "overflow", "request", "resume"]
Outcome = Literal["committed", "guard", "overtaken"]

PRIOR_STATE: Final = "[prior state checkpoint]"


@dataclass(frozen=True, slots=True)
class PassReport:
    """One pass. Tokens are the session's estimate.

    ``stubs`` counts all index stubs on the surface afterwards, ``regions`` what this pass committed.
    ``cache_missed_*`` is what of the request after the pass lies behind the first item that differs
    from the request before it: what a prompt cache cannot serve. ``degraded`` counts stubs that code
    composed alone.
    """

    number: int
    trigger: Trigger
    outcome: Outcome
    stubs: int
    regions: int
    tokens_before: int
    tokens_after: int
    cache_missed_tokens: int
    cache_missed_bytes: int
    summarizer_input_tokens: int
    summarizer_calls: int
    degraded: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Region:
    """A span of the surface, by the seqs of its items, and the text that goes in its place."""

    kind: ItemClass
    seqs: tuple[int, ...]
    span: tuple[int, int]
    body: str


def missed(before: Sequence[Item], after: Sequence[Item]) -> tuple[int, int]:
    """Tokens and bytes of ``after`` from the first item on that differs from ``before``."""
    same = 0
    while same < min(len(before), len(after)) and before[same] is after[same]:
        same += 1
    rest = after[same : len(after)]
    return sum(item.tokens for item in rest), sum(message_bytes(item) for item in rest)


def message_bytes(item: Item) -> int:
    """Bytes of an item's content in a request, UTF-8, without the API's frame."""
    message = item.message
    texts = [message.text, *(part for call in message.calls for part in (call.id, call.name, call.arguments))]
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def clean(text: str, cap: int, estimate: Callable[[str], int]) -> str:
    """A summarizer's text within ``cap`` tokens, without footers of its own: pointers are code's work.

    Too long, it loses lines from the end, but a keyword line stays as long as there is room for it.
    """
    lines = [line.rstrip() for line in FOOTER.sub("", text).strip().splitlines() if line.strip()]
    words = next((line for line in reversed(lines) if line.startswith(KEYWORDS)), "")
    lines = [line for line in lines if not line.startswith(KEYWORDS)]
    tail = [words] if words else []
    if words and estimate("\n".join([*lines, words])) > cap:
        tail = [shorten(words, cap // 2, estimate)]
    while lines and estimate("\n".join([*lines, *tail])) > cap:
        last = lines.pop()
        room = cap - estimate("\n".join([*lines, "", *tail])) - 1
        short = shorten(last, room, estimate) if room > 0 else ""
        if short and short != last:
            lines.append(short)
            break
    return "\n".join([*lines, *tail])


def keyword_of(text: str) -> str:
    """The keyword line of a stub's text, empty when it has none."""
    return next((line for line in text.splitlines() if line.startswith(KEYWORDS)), "")


def checkpoint_text(region: Region, seq: int) -> str:
    """What goes on the surface: the body, and the footer that names the checkpoint. Basic ones have none."""
    if region.kind is ItemClass.BASIC:
        return region.body
    return f"{region.body}\n{footer(seq, region.span)}" if region.body else footer(seq, region.span)


def size_after(session: Session, regions: Sequence[Region]) -> int:
    """The estimate of the surface once ``regions`` are committed."""
    seq, size = session.last_seq + 1, session.tokens
    for number, region in enumerate(regions):
        text = checkpoint_text(region, seq + 2 * number)
        size += session.item_tokens(ChatMessage("user", text))
        size -= sum(session.items[item].tokens for item in region.seqs)
    return size


def commit(session: Session, regions: Sequence[Region]) -> None:
    """Write the regions, strictly left to right: each its summary, then the checkpoint that shows it."""
    number = session.passes[-1].number
    for region in regions:
        seq = session.last_seq + 1
        checkpoint = Checkpoint(
            seq, region.kind, checkpoint_text(region, seq), region.span, region.seqs, number
        )
        session.record("compaction/summary", checkpoint.to_data())
        session.record("checkpoint", {"summary": seq})


def can_land(session: Session, regions: Sequence[Region]) -> bool:
    """Whether a region may land now, and every one still lies on the surface as it was planned."""
    if any(session.landing_refused(region.kind) is not None for region in regions):
        return False
    view = session.view()
    place = {item.seq: position for position, item in enumerate(view)}
    for region in regions:
        start = place.get(region.seqs[0])
        if start is None or [item.seq for item in view[start : start + len(region.seqs)]] != list(
            region.seqs
        ):
            return False
    return True
