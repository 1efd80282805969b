"""Short scripts of a session, and the requests that they become: markers, ids and memory texts filled in.

A script is words: ``user reply open close next end undo1 clear compact freeze measure restore toggle``.
``undo2`` takes back two prompts, ``compact1`` keeps one stored message, ``freeze`` makes an index memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from foldproof.conformance.checker import Exchange
from foldproof.conformance.ledger import Entry, Ledger
from foldproof.conformance.protocol import (
    Append,
    AppendedMessage,
    CallEvent,
    Clear,
    Compact,
    Event,
    EventRequest,
    Handshake,
    Measure,
    Reply,
    ResetRequest,
    Restore,
    StepEnd,
    Toggle,
    Undo,
)

NEEDS_FIELD = {"compact1": "compact.keep", "compact2": "compact.keep", "freeze": "compact.frozen"}
"""Words that an implementation must list beside their event: not everybody can keep a tail on request."""

EVENT_OF = {
    "user": "append",
    "reply": "append",
    "open": "call",
    "close": "call",
    "next": "call",
    "end": "step_end",
    "measure": "measure",
    "undo1": "undo",
    "undo2": "undo",
    "clear": "clear",
    "compact": "compact",
    "compact1": "compact",
    "compact2": "compact",
    "freeze": "compact",
    "restore": "restore",
    "toggle": "toggle",
}
"""Every word, with the protocol event that it becomes."""

WORDS = tuple(EVENT_OF)

Ask = Callable[[ResetRequest | EventRequest], Reply]


def words(script: str) -> tuple[str, ...]:
    """The words of a script. Raises ValueError for an unknown one."""
    parts = tuple(script.split())
    for word in parts:
        if word not in EVENT_OF:
            raise ValueError(f"unknown word {word!r}; a script has {', '.join(WORDS)}")
    return parts


def supported(handshake: Handshake) -> tuple[str, ...]:
    """The words whose events an implementation lists."""
    listed = handshake.events
    return tuple(w for w in WORDS if EVENT_OF[w] in listed and NEEDS_FIELD.get(w, EVENT_OF[w]) in listed)


def sensible(word: str, ledger: Ledger, previous: str | None) -> bool:
    """Whether a word can do anything here: used to leave sequences out that only repeat others."""
    prompts = sum(entry.prompt for entry in ledger.live)
    match word:
        case "open" | "user" | "reply":
            return not ledger.unsettled
        case "close" | "next":
            return bool(ledger.open_spans()) and not ledger.unsettled
        case "end":
            return bool(ledger.unsettled)
        case "undo1" | "undo2":
            return prompts >= int(word[-1])
        case "clear" | "compact" | "freeze":
            return bool(ledger.live) and previous != word
        case "compact1" | "compact2":
            return sum(ledger.width(entry) for entry in ledger.live) > int(word[-1])
        case _:
            return previous != word


def event_of(word: str, ledger: Ledger) -> Event:
    """The protocol event that a word becomes, after what the ledger knows."""
    number = len(ledger.texts) + 1
    match word:
        case "user" | "reply":
            role, origin, what = (
                ("user", "user", "prompt") if word == "user" else ("assistant", "model", "reply")
            )
            identifier = f"m{number}"
            text = f"[[{identifier}]] {what} number {number}"
            message = AppendedMessage(id=identifier, role=role, origin=origin, text=text)  # type: ignore[arg-type]
            return Append(type="append", message=message)
        case "open":
            return CallEvent(type="call", kind="open", call=f"c{number}", summary=f"part {number}")
        case "close" | "next":
            spans = ledger.open_spans()
            held = ledger.live[spans[-1] :] if spans else []
            return CallEvent(
                type="call",
                kind="next" if word == "next" else "close",
                call=f"c{number}",
                summary=f"part {number}" if word == "next" else None,
                memory=f"memory {number}: {marks(held)}",
            )
        case "end":
            return StepEnd(type="step_end")
        case "measure":
            return Measure(type="measure")
        case "undo1" | "undo2":
            return Undo(type="undo", count=int(word[-1]))
        case "clear":
            return Clear(type="clear")
        case "compact" | "compact1" | "compact2" | "freeze":
            keep = int(word[-1]) if word[-1].isdigit() else 0
            covered = ledger.live[: ledger.kept_from(keep)]
            return Compact(
                type="compact", summary=f"summary: {marks(covered)}", keep=keep, frozen=word == "freeze"
            )
        case "restore":
            return Restore(type="restore")
        case "toggle":
            return Toggle(type="toggle", enabled=not ledger.enabled)
        case _:
            raise ValueError(f"unknown word {word!r}")


def play(script: Iterable[str], ask: Ask, ledger: Callable[[], Ledger]) -> Iterator[Exchange]:
    """Send a script, one exchange at a time, reset first.

    ``ledger`` is asked anew before each request: the caller's checker follows the exchanges it is yielded.
    """
    request: ResetRequest | EventRequest = ResetRequest(cmd="reset", seq=0)
    yield Exchange(request, ask(request))
    for seq, word in enumerate(script, 1):
        request = EventRequest(cmd="event", seq=seq, event=event_of(word, ledger()))
        yield Exchange(request, ask(request))


def marks(entries: Sequence[Entry]) -> str:
    """The markers of these entries."""
    return " ".join(f"[[{entry.id}]]" for entry in entries)
