"""Traces as text: numbered steps that show what changed, the view beside the history, and why it broke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foldproof.explore.trace import Trace
from foldproof.explore.tracefile import replay
from foldproof.model.labels import core_parts, history_label, part_label, view_label
from foldproof.model.machine import Machine
from foldproof.model.machines import MACHINES
from foldproof.model.state import State


def trace_lines(trace: Trace) -> Iterator[str]:
    """A trace, step by step. Raises `foldproof.explore.tracefile.TraceError` when it does not follow."""
    states = replay(trace)  # refuses an unknown machine
    machine = MACHINES[trace.machine]
    width = max((len(event) for event in trace.events), default=5)
    before: Any = None
    for number, state in enumerate(states):
        event = trace.events[number - 1] if number else "start"
        head, *rest = state_lines(before, state)
        yield f"{number:>4}  {event:<{width}}  {head}".rstrip()
        yield from (f"{'':>4}  {'':<{width}}  {line}" for line in rest)
        for violation in machine.violations(state):
            yield f"{'':>4}  {'':<{width}}  {violation.invariant} VIOLATED  {violation.equation}"
            yield f"{'':>4}  {'':<{width}}    {violation.left}"
            yield f"{'':>4}  {'':<{width}}    {violation.right}"
            yield f"{'':>4}  {'':<{width}}    first difference at {violation.place}"
        before = state


def state_lines(before: Any, state: Any) -> list[str]:
    """One state: history and view on the first line, then each other part that changed."""
    if not isinstance(state, State):
        return list(_other_lines(before, state)) or ["(nothing changed)"]
    first = f"history {history_label(state)}   view {view_label(state)}"
    return [first, *_core_changes(before, state)] if before is not None else [first]


def _core_changes(before: State, state: State) -> Iterator[str]:
    old, new = core_parts(before), core_parts(state)
    for name, value in new.items():
        if old[name] != value:
            yield f"{name}: {old[name]} -> {value}"


def statement(machine: Machine[Any, Any], invariant: str) -> str:
    """What an invariant says, in one sentence: the first line of its own docstring."""
    text = (machine.invariants[invariant].__doc__ or "").strip().split("\n")[0]
    return text.partition(": ")[2].replace("`", "") or text


def _other_lines(before: Any, state: Any) -> Iterator[str]:
    """The parts of another machine's state that changed; a session in it as the core shows it."""
    for name in state._fields:
        old, new = getattr(before, name, None), getattr(state, name)
        if isinstance(new, State):
            yield from state_lines(old, new) if old != new else ()
        elif before is None:
            yield f"{name}: {part_label(new)}"
        elif old != new:
            yield f"{name}: {part_label(old)} -> {part_label(new)}"
