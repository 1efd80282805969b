"""Traces: a run of a machine, written down so that it can be replayed and refused.

A trace stores the events *and* the states that they led to. Replaying executes the events again and
compares every state, so a trace that was edited, or written by another version of the model, is
refused at the step where it stops following.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from foldproof.model.machine import Clauses, EventT, Machine, StateT, Violation
from foldproof.model.markup import Cell, table


class Verdict(BaseModel):
    """One invariant in one state: held, or violated with the two sides of its equation."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    verdict: Literal["held", "violated"]
    why: str | None = None


class Trace(BaseModel):
    """A run: ``states[0]`` is the initial state, ``states[i]`` the state after ``events[i - 1]``.

    ``without`` names the clauses that the design lacks; ``verdicts`` has one entry a state, by
    invariant.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal["foldproof-trace"] = "foldproof-trace"
    version: Literal[1] = 1
    machine: str
    without: tuple[str, ...] = Field(default=(), strict=False)
    bound: NonNegativeInt
    events: tuple[str, ...] = Field(strict=False)
    states: tuple[dict[str, Any], ...] = Field(strict=False)
    verdicts: tuple[dict[str, Verdict], ...] = Field(strict=False)

    def _repr_html_(self) -> str:
        """The run as a table, for a notebook: each step's verdicts, and why one is violated."""
        names = list(self.verdicts[0])
        lacking = f" without {', '.join(self.without)}" if self.without else ""
        rows: list[Sequence[str | Cell]] = [
            (f"{step}  {event}", *(_cell(verdicts[name]) for name in names), _why(verdicts))
            for step, (event, verdicts) in enumerate(zip(("start", *self.events), self.verdicts, strict=True))
        ]
        return table(f"A run of the {self.machine} machine{lacking}", ("step", *names, "why"), rows)


def _cell(verdict: Verdict) -> Cell:
    held = verdict.verdict == "held"
    return Cell("held") if held else Cell("violated", 0.35, alarm=True)


def _why(verdicts: dict[str, Verdict]) -> str:
    return "; ".join(f"{name}: {verdict.why}" for name, verdict in verdicts.items() if verdict.why)


def encode(value: object) -> Any:
    """A state, or a part of one, as JSON: named tuples become objects, other tuples lists."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {name: encode(part) for name, part in value._asdict().items()}
        return [encode(part) for part in value]
    if isinstance(value, (frozenset, set)):
        return sorted(encode(part) for part in value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a state holds a {type(value).__name__}, which traces have no form for")


def record(machine: Machine[StateT, EventT], events: Sequence[EventT], design: Clauses, bound: int) -> Trace:
    """Run a machine through events and write the trace down. Raises ValueError where a guard fails."""
    return _trace(machine, events, design, bound, run(machine, events, design, bound))


def run(
    machine: Machine[StateT, EventT], events: Iterable[EventT], design: Clauses, bound: int | None = None
) -> list[StateT]:
    """The states that a machine passes through, the initial one first.

    Raises ValueError, naming the step and the reason, where an event's guard fails.
    """
    states = [machine.initial]
    for number, event in enumerate(events, 1):
        reason = machine.guard(states[-1], event, design, bound)
        if reason is not None:
            raise ValueError(f"step {number}: {event} is not enabled: {reason}")
        states.append(machine.effect(states[-1], event, design))
    return states


def _trace(
    machine: Machine[StateT, EventT],
    events: Sequence[EventT],
    design: Clauses,
    bound: int,
    states: Sequence[StateT],
) -> Trace:
    return Trace(
        machine=machine.name,
        without=tuple(str(clause) for clause in machine.clauses if clause not in design),
        bound=bound,
        events=tuple(map(str, events)),
        states=tuple(encode(state) for state in states),
        verdicts=tuple(verdicts(machine, state) for state in states),
    )


def verdicts(machine: Machine[StateT, EventT], state: StateT) -> dict[str, Verdict]:
    """Every invariant's verdict in one state."""
    violated = {v.invariant: v for v in machine.violations(state)}
    return {str(name): _verdict(violated.get(name)) for name in machine.invariants}


def _verdict(violation: Violation | None) -> Verdict:
    if violation is None:
        return Verdict(verdict="held")
    return Verdict(verdict="violated", why=str(violation))
