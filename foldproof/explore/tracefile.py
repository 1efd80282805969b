"""Reading and replaying traces: a trace that does not follow is refused, with the step and the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from foldproof.explore.strict_json import StrictJsonError, read_file
from foldproof.explore.trace import Trace, encode, verdicts
from foldproof.model.machine import Machine
from foldproof.model.machines import MACHINES

MAX_EVENTS = 100_000
MAX_BOUND = 1_000_000
"""Limits beyond which a file is taken to be broken rather than long."""


class TraceError(ValueError):
    """A file is not a trace, or its states do not follow from its events."""


def read_trace(path: Path) -> Trace:
    """The trace in a JSON or ITF file. Raises `TraceError`, naming the file and the line."""
    from foldproof.explore.itf import from_itf, is_itf  # noqa: PLC0415 - the two formats share this door

    try:
        value = read_file(path)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror}") from error
    except StrictJsonError as error:
        raise TraceError(f"{path}: {error}") from error
    try:
        return from_itf(value) if is_itf(value) else Trace.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        raise TraceError(f"{path}: line 1: {place}: {first['msg'].lower()}") from error
    except ValueError as error:
        raise TraceError(f"{path}: line 1: {error}") from error


def replay(trace: Trace) -> list[Any]:
    """Execute a trace's events again and hold every state and verdict against what it stores.

    Returns the states. Raises `TraceError` at the first step that does not follow.
    """
    machine = _machine(trace)
    if len(trace.events) > MAX_EVENTS or trace.bound > MAX_BOUND:
        raise TraceError(f"{len(trace.events)} events at bound {trace.bound}: too large to be a trace")
    if not len(trace.states) == len(trace.verdicts) == len(trace.events) + 1:
        raise TraceError(
            f"{len(trace.events)} events need {len(trace.events) + 1} states and verdicts, "
            f"not {len(trace.states)} and {len(trace.verdicts)}"
        )
    try:
        design = machine.without(*trace.without)
    except ValueError as error:
        raise TraceError(str(error)) from error
    state = machine.initial
    states = [state]
    _same(machine, state, trace, 0)
    for number, name in enumerate(trace.events, 1):
        try:
            event = machine.event_from_name(name)
        except ValueError as error:
            raise TraceError(f"step {number}: {error}") from error
        reason = machine.guard(state, event, design, trace.bound)
        if reason is not None:
            raise TraceError(f"step {number}: {event} is not enabled: {reason}")
        state = machine.effect(state, event, design)
        states.append(state)
        _same(machine, state, trace, number)
    return states


def _machine(trace: Trace) -> Machine[Any, Any]:
    try:
        return MACHINES[trace.machine]
    except KeyError:
        known = ", ".join(MACHINES)
        raise TraceError(f"there is no machine {trace.machine[:40]!r}; there are {known}") from None


def _same(machine: Machine[Any, Any], state: Any, trace: Trace, number: int) -> None:
    place = difference(encode(state), trace.states[number])
    if place is not None:
        raise TraceError(f"step {number}: the state does not follow: {place}")
    told = {name: verdict.verdict for name, verdict in trace.verdicts[number].items()}
    true = {name: verdict.verdict for name, verdict in verdicts(machine, state).items()}
    place = difference(true, told)
    if place is not None:
        raise TraceError(f"step {number}: the verdict does not follow: {place}")


def difference(right: Any, stored: Any, path: str = "") -> str | None:
    """The first place where two JSON values differ, as ``path: stored x, not y``; None when equal."""
    if isinstance(right, dict) and isinstance(stored, dict):
        for key in [*right, *(key for key in stored if key not in right)]:
            inner = f"{path}.{key}" if path else str(key)
            if key not in stored or key not in right:
                return f"{inner}: {'missing' if key not in stored else 'unknown'}"
            found = difference(right[key], stored[key], inner)
            if found is not None:
                return found
        return None
    if isinstance(right, list) and isinstance(stored, list) and len(right) == len(stored):
        for position, (one, other) in enumerate(zip(right, stored, strict=True)):
            found = difference(one, other, f"{path}[{position}]")
            if found is not None:
                return found
        return None
    if type(right) is type(stored) and right == stored:
        return None
    return f"{path}: stored {str(stored)[:80]}, but it is {str(right)[:80]}"
