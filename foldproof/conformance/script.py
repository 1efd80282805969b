"""Short scripts of a session, and the requests that they become: markers, ids and memory texts filled in.

A script is words: ``user reply open close next end undo1 clear compact freeze measure restore toggle``.
``undo2`` takes back two prompts, ``compact1`` keeps one stored message, ``freeze`` makes an index memory.

The extensions' words: ``branch`` goes on in a copy, ``branch1`` in one without the last prompt, ``switch``
in the line left last; ``remove`` takes out the first exchange, ``regenerate`` replaces the last answer,
``regenerate1`` the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from foldproof.conformance.checker import Exchange
from foldproof.conformance.events import (
    CORE_EVENTS,
    Append,
    AppendedMessage,
    Branch,
    CallEvent,
    Clear,
    Compact,
    Event,
    Measure,
    Regenerate,
    Remove,
    Restore,
    StepEnd,
    Switch,
    Toggle,
    Undo,
)
from foldproof.conformance.ledger import Entry, Ledger
from foldproof.conformance.protocol import EventRequest, Handshake, Reply, ResetRequest

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
    "branch": "branch",
    "branch1": "branch",
    "switch": "switch",
    "remove": "remove",
    "regenerate": "regenerate",
    "regenerate1": "regenerate",
}
"""Every word, with the protocol event that it becomes."""

WORDS = tuple(word for word, event in EVENT_OF.items() if event in CORE_EVENTS)
"""The words of the kernel's events."""

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
    return tuple(w for w in EVENT_OF if EVENT_OF[w] in listed and NEEDS_FIELD.get(w, EVENT_OF[w]) in listed)


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
        case "branch":
            return not ledger.unsettled and bool(ledger.live) and previous not in ("branch", "switch")
        case "branch1":
            return not ledger.unsettled and bool(prompts)
        case "switch":
            return not ledger.unsettled and bool(ledger.lines) and previous != word
        case "remove":
            return not ledger.unsettled and prompts > 1
        case "regenerate":
            return not ledger.unsettled and bool(prompts) and not ledger.live[-1].prompt
        case "regenerate1":
            return not ledger.unsettled and prompts > 1 and ledger.first_is_answered()
        case "compact1" | "compact2":
            return sum(ledger.width(entry) for entry in ledger.live) > int(word[-1])
        case _:
            return previous != word


def formable(word: str, ledger: Ledger) -> bool:
    """Whether there is what a word speaks of: a line that was left, a prompt. Most words need nothing."""
    match EVENT_OF[word]:
        case "switch":
            return bool(ledger.lines)
        case "remove" | "regenerate":
            return any(entry.prompt for entry in ledger.live)
        case _:
            return True


def event_of(word: str, ledger: Ledger) -> Event:
    """The protocol event that a word becomes, after what the ledger knows."""
    number = len(ledger.texts) + 1
    match word:
        case "user" | "reply":
            return Append(type="append", message=_message(word, number))
        case "branch" | "branch1":
            taken = len(ledger.lines) + 1
            while f"line{taken}" in (ledger.line, *ledger.lines):
                taken += 1
            return Branch(type="branch", name=f"line{taken}", count=int(word == "branch1"))
        case "switch":
            return Switch(type="switch", name=list(ledger.lines)[-1])
        case "remove" | "regenerate" | "regenerate1":
            prompts = [entry.id for entry in ledger.live if entry.prompt]
            if word == "remove":
                return Remove(type="remove", prompt=prompts[0])
            prompt = prompts[0 if word == "regenerate1" else -1]
            return Regenerate(type="regenerate", prompt=prompt, message=_message("reply", number))
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


def _message(word: str, number: int) -> AppendedMessage:
    identifier = f"m{number}"
    if word == "user":
        text = f"[[{identifier}]] prompt number {number}"
        return AppendedMessage(id=identifier, role="user", origin="user", text=text)
    text = f"[[{identifier}]] reply number {number}"
    return AppendedMessage(id=identifier, role="assistant", origin="model", text=text)


def play(script: Iterable[str], ask: Ask, ledger: Callable[[], Ledger]) -> Iterator[Exchange]:
    """Send a script, one exchange at a time, reset first.

    ``ledger`` is asked anew before each request: the caller's checker follows the exchanges it is yielded.
    The script ends before a word of which there is nothing to speak, as nothing that it needs was applied.
    """
    request: ResetRequest | EventRequest = ResetRequest(cmd="reset", seq=0)
    yield Exchange(request, ask(request))
    for seq, word in enumerate(script, 1):
        if not formable(word, ledger()):
            return
        request = EventRequest(cmd="event", seq=seq, event=event_of(word, ledger()))
        yield Exchange(request, ask(request))


def marks(entries: Sequence[Entry]) -> str:
    """The markers of these entries."""
    return " ".join(f"[[{entry.id}]]" for entry in entries)
