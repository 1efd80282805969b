"""A recorded run as an exhibit of the explorer: the implementation beside the model, asked the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldproof.conformance.adapter import reply_to
from foldproof.conformance.blackbox import Reading, read_view
from foldproof.conformance.checker import INVARIANT_OF, NEEDS, Checker, Exchange, Finding
from foldproof.conformance.events import Append, Branch, CallEvent, Regenerate, Remove, Switch, Toggle, Undo
from foldproof.conformance.explain import answer, explained
from foldproof.conformance.ledger import Entry
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.conformance.protocol import (
    EventRequest,
    Handshake,
    Observation,
    Reply,
    ResetRequest,
    read_handshake,
)
from foldproof.conformance.runfile import Run, run_lines, validate_file
from foldproof.model.design import DESIGN, Clause
from foldproof.report.explorer.exhibits import Exhibit, first_violation

SAYS = {
    "VIEW": "each live message is shown or in a memory, once, in order; nothing that was taken back is",
    "CAL": "what the implementation acts on is what its view costs, within the tolerance that it declares",
    "IDX": "every index that it keeps lies in its history",
    "SYNC": "the accepted calls that are stored are the transitions that its tree holds",
}
"""The invariants as a tester from outside can see them."""

LETTERS = {"open": "C", "close": "C", "next": "C"}


@dataclass
class _Seen:
    """One side of the run, step by step."""

    title: str
    handshake: Handshake
    replies: Sequence[tuple[ResetRequest | EventRequest, Reply]]


def run_exhibit(path: Path) -> Exhibit:
    """A recorded run as an exhibit. Raises `foldproof.conformance.runfile.RunError` for what is not one."""
    run, checker = validate_file(path)
    findings = explained(checker.findings, run.exchanges)
    who = run.handshake.implementation
    name = f"{who.name} {who.version or ''}".strip()
    theirs = _Seen(name, run.handshake, [(e.request, e.reply) for e in run.exchanges])
    runs = [_run(theirs), _run(_model(run))]
    runs[0]["parted"] = runs[1]["parted"] = _parted(*runs)
    runs[0]["subtitle"] = f"A recorded run of {name}, beside the model. {_explanations(findings)}".strip()
    return {
        "key": path.name.removesuffix(".jsonl"),
        "machine": name,
        "bound": None,
        "events": [_event_name(e.request) for e in run.exchanges[1:]],
        "invariants": SAYS,
        "lacks": {},
        "first": first_violation(runs[0], "VIEW") or first_violation(runs[0]),
        "runs": runs,
        "command": None,
        "program": None,
        "forms": {
            "command": {"title": "Command line", "text": f"foldproof validate {path}"},
            "run": {
                "title": "Recorded run (JSON lines)",
                "text": "\n".join(run_lines(run.handshake, run.exchanges)) + "\n",
            },
        },
    }


def _model(run: Run) -> _Seen:
    """The design of the model, asked what the implementation was asked and applied."""
    adapter = ModelAdapter(DESIGN)
    handshake = read_handshake(reply_to(adapter, {"cmd": "start"}))
    replies: list[tuple[ResetRequest | EventRequest, Reply]] = []
    for request, told, _ in run.exchanges:
        if told.status == "applied" or isinstance(request, ResetRequest):
            replies.append((request, answer(adapter, request)))
        else:
            still = replies[-1][1].observation
            reason = f"the implementation {told.status} it"
            reply = Reply(seq=request.seq, status="skipped", reason=reason, observation=still)
            replies.append((request, reply))
    return _Seen("The model", handshake, replies)


def _run(seen: _Seen) -> dict[str, Any]:
    checker = Checker(seen.handshake)
    unchecked = [name for name in NEEDS if not checker.observes(name)]
    cards = []
    for request, reply in seen.replies:
        checker.observe(Exchange(request, reply))
        cards.append(_card(checker, reply, unchecked))
    return {
        "title": seen.title,
        "without": [],
        "names": list(SAYS),
        "unchecked": unchecked,
        "path": list(range(len(cards))),
        "refused": None,
        "parted": None,
        "cards": cards,
        "edges": {},
    }


def _card(checker: Checker, reply: Reply, unchecked: Sequence[str]) -> dict[str, Any]:
    o = reply.observation
    sizes = None if o.trigger is None or o.view_tokens is None else [o.trigger, o.view_tokens]
    held = "nothing that it observes is broken" if unchecked else "every invariant holds"
    return {
        "state": None,
        "lane": _lane(checker, o),
        "sizes": sizes,
        "sizeWords": ["it acts on", "its view costs"],
        "parts": dict(_parts(reply)),
        "broken": _broken(checker, o),
        "held": held,
        "note": None if reply.status == "applied" else f"It {reply.status} this: {reply.reason}.",
    }


def _lane(checker: Checker, o: Observation) -> dict[str, Any]:
    items = None
    if o.view is not None:
        reading = read_view(o.view, checker.ledger.texts, checker.earlier)
        items = [_item(reading, place, item.text, item.synthetic) for place, item in enumerate(o.view)]
    return {
        "messages": [_message(entry) for entry in checker.ledger.live],
        "items": items,
        "spans": [],
        "pending": o.pending,
    }


def _message(entry: Entry) -> dict[str, Any]:
    letter = LETTERS.get(entry.kind or "", "U" if entry.prompt else "R")
    return {"id": entry.id, "letter": letter, "word": entry.kind or ("prompt" if entry.prompt else "reply")}


def _item(reading: Reading, place: int, text: str, synthetic: str | None) -> dict[str, Any]:
    """One item of the view: a memory by its claims, a message by its id, anything else by its first words."""
    if claims := reading.claims.get(place):
        return {"covers": list(claims), "kind": "span", "text": text[:200]}
    shown = next((i for i, places in reading.shown.items() if place in places), None)
    result = next((i for i, places in reading.results.items() if place in places), None)
    if shown is None and result is None:
        return {"text": synthetic or "other", "says": text[:200]}
    return {
        "id": shown if shown is not None else result,
        "text": "message" if shown is not None else "result",
    }


def _parts(reply: Reply) -> Iterator[tuple[str, str]]:
    o = reply.observation
    yield "answer", reply.status + (f": {reply.reason}" if reply.reason else "")
    if o.history_length is not None:
        yield "history length", str(o.history_length)
    for anchor in o.anchors or ():
        yield anchor.name, f"{anchor.value} ({anchor.bound})"
    if o.committed is not None:
        yield "committed", " ".join(o.committed) or "none"
    if "pending" in o.model_fields_set:
        yield "pending", o.pending or "none"


def _broken(checker: Checker, o: Observation) -> dict[str, Any]:
    """What is broken now, by invariant; of several kinds of one invariant the sentences are joined."""
    found: dict[str, Any] = {}
    for kind, broken, (left, right) in checker.broken(o):
        if not broken or kind not in INVARIANT_OF:
            continue
        words = "; ".join(broken.values())
        ids = list(broken) if kind not in ("anchor", "caliber") else []
        entry = found.setdefault(
            INVARIANT_OF[kind],
            {
                "equation": _EQUATIONS[INVARIANT_OF[kind]],
                "left": left,
                "right": right,
                "place": kind,
                "why": words,
                "words": "",
                "messages": [],
                "spans": [],
            },
        )
        entry["words"] = f"{entry['words'][:-1]}; {words}." if entry["words"] else f"{words}."
        entry["messages"] += ids
    return found


_EQUATIONS = {
    "VIEW": "the view, by marker == the live messages",
    "CAL": "trigger == est(view)",
    "IDX": "anchors",
    "SYNC": "committed == accepted",
}


def _parted(one: dict[str, Any], other: dict[str, Any]) -> int | None:
    """The first step at which one of the two breaks an invariant that the other keeps."""
    pairs = zip(one["cards"], other["cards"], strict=True)
    return next((step for step, (a, b) in enumerate(pairs) if set(a["broken"]) != set(b["broken"])), None)


def _event_name(request: ResetRequest | EventRequest) -> str:
    if isinstance(request, ResetRequest):
        return "reset"
    match request.event:
        case Append(message=message):
            return f"append({message.id})"
        case CallEvent(kind=kind, call=call):
            return f"call({kind} {call})"
        case Undo(count=count):
            return f"undo({count})"
        case Branch(name=name, count=count):
            return f"branch({name} -{count})"
        case Switch(name=name):
            return f"switch({name})"
        case Remove(prompt=prompt):
            return f"remove({prompt})"
        case Regenerate(prompt=prompt, message=message):
            return f"regenerate({prompt} {message.id})"
        case Toggle(enabled=enabled):
            return f"toggle({'on' if enabled else 'off'})"
        case event:
            return str(event.type)


def _explanations(findings: Sequence[Finding]) -> str:
    clauses = dict.fromkeys(finding.clause for finding in findings if finding.clause is not None)
    told = [f"{clause} (“{Clause(clause).says}”)" for clause in clauses]
    return f"What breaks is explained by a missing {' and a missing '.join(told)}." if told else ""
