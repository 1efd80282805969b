"""The Quint twin of the core kernel: its text, its values, and runs in both directions.

`follow` replays a trace that Quint wrote (ITF) in our model, step by step. `runs_module` writes event
sequences of ours as Quint runs, which expect the states and the enabled events that our model gives.

Quint's form of a state has no optionals: -1, an empty list or ``present: false`` stand for None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from foldproof.explore.trace import run
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN
from foldproof.model.events import Event
from foldproof.model.state import Memory, Message, Node, State

KERNEL = "kernel.qnt"
"""The twin's file name."""

_BOUND = re.compile(r"pure val L = \d+")
_EVENT = re.compile(r"(?P<name>[A-Za-z]+)(?:\((?P<argument>[a-z]+|\d+)\))?")


def kernel_source(bound: int) -> str:
    """The twin, for histories of up to ``bound`` messages."""
    text = (files("foldproof.model") / "quint" / KERNEL).read_text(encoding="utf-8")
    return _BOUND.sub(f"pure val L = {bound}", text)


def package_file() -> str:
    """The package.json that installs the tool for the twin, with the versions that are known to work."""
    return (files("foldproof.model") / "quint" / "package.json").read_text(encoding="utf-8")


def event_value(event: Event) -> dict[str, Any]:
    """An event as Quint's record."""
    match = _EVENT.fullmatch(str(event))
    assert match is not None  # every event of the core is spelled so
    argument = match["argument"] or ""
    return {
        "name": match["name"],
        "kind": argument if argument.isalpha() else "none",
        "k": int(argument) if argument.isdecimal() else -1,
    }


def event_of_value(value: Mapping[str, Any]) -> Event:
    """The event of a Quint record. Raises ValueError for an unknown one."""
    argument = value["kind"] if value["kind"] != "none" else value["k"]
    return CORE.event_from_name(value["name"] + (f"({argument})" if argument != -1 else ""))


def state_value(s: State) -> dict[str, Any]:
    """A state under the design as Quint's record."""
    tree, pending = s.tree, s.pending
    return {
        "history": [_message_value(message) for message in s.history],
        "tree": {
            "nodes": [_node_value(node) for node in tree.nodes],
            "frozen": [
                {"start": f.start, "end": f.end, "covers": list(f.memory.covers)} for f in tree.frozen
            ],
            "frozenEnd": tree.frozen_end,
            "state": {"present": tree.state is not None, "covers": _covers(tree.state)},
            "epochStartAt": tree.epoch_start_at,
        },
        "gauge": {"length": s.gauge.length, "tokens": s.gauge.tokens, "kind": str(s.gauge.kind)},
        "lastObserved": s.last_observed,
        "pending": {
            "present": pending is not None,
            "kind": "none" if pending is None else str(pending.transition),
            "carrier": -1 if pending is None else pending.carrier,
            "cursor": -1 if pending is None or pending.cursor is None else pending.cursor,
        },
        "enabled": s.enabled,
        "nextId": s.next_id,
    }


def _message_value(m: Message) -> dict[str, Any]:
    kind = "none" if m.transition is None else str(m.transition)
    return {"id": m.id, "letter": m.letter, "kind": kind, "call": -1 if m.call is None else m.call}


def _node_value(node: Node) -> dict[str, Any]:
    closed_at = -1 if node.closed_at is None else node.closed_at
    return {"openedAt": node.opened_at, "closedAt": closed_at, "covers": _covers(node.memory)}


def _covers(memory: Memory | None) -> list[int]:
    return [] if memory is None else list(memory.covers)


def follow(document: Mapping[str, Any], bound: int | None = None) -> tuple[Event, ...]:
    """The events of an ITF trace of the twin, once our model has followed it step by step.

    Raises ValueError, naming the step, where an event is not enabled in our model or leads to another
    state, and where the document is not such a trace.
    """
    try:
        steps = [_plain({"event": step["event"], "s": step["s"]}) for step in document["states"]]
        events = tuple(event_of_value(step["event"]) for step in steps[1:])
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no ITF trace of {KERNEL}: {error!r}") from error
    if not steps:
        raise ValueError(f"this ITF trace of {KERNEL} has no states")
    for number, (state, step) in enumerate(zip(run(CORE, events, DESIGN, bound), steps, strict=True)):
        ours, theirs = state_value(state), step["s"]
        different = next((name for name in ours if ours[name] != theirs.get(name)), None)
        if different is not None:
            event = "the initial state" if number == 0 else str(events[number - 1])
            raise ValueError(
                f"step {number}, {event}: {different} is {theirs.get(different)} in Quint "
                f"and {ours[different]} in the model"
            )
    return events


def _plain(value: Any) -> Any:
    """ITF's integers as integers."""
    if isinstance(value, dict):
        if value.keys() == {"#bigint"}:
            return int(value["#bigint"])
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def literal(value: Any) -> str:
    """A plain value in Quint's syntax."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name}: {literal(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return str(value)


def runs_module(sequences: Iterable[Sequence[Event]], bound: int) -> str:
    """A Quint module whose runs take these events and expect our last state and its enabled events."""
    lines = [
        "// Written by foldproof: runs of its model, for Quint to take step by step.",
        "module runs {",
        f'  import kernel.* from "./{KERNEL.removesuffix(".qnt")}"',
        "",
        "  pure def offers(s: State): Set[Event] = candidates.filter(e => guard(s, e))",
    ]
    for number, events in enumerate(sequences):
        state = run(CORE, events, DESIGN, bound)[-1]
        offered = [literal(event_value(event)) for event in CORE.enabled(state, bound, DESIGN)]
        lines += [
            "",
            f"  run r{number}Test = init",
            *(f"    .then(take({literal(event_value(event))}))" for event in events),
            f"    .expect(s == {literal(state_value(state))})",
            f"    .expect(offers(s) == Set({', '.join(offered)}))",
        ]
    return "\n".join([*lines, "}", ""])
