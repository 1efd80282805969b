"""Trace vectors: for every missing clause, a shortest run that breaks an invariant, beside the design."""

from __future__ import annotations

import json
from typing import Any

from foldproof.explore import plain
from foldproof.explore.trace import record
from foldproof.model.machine import EventT, Machine, StateT


def trace_vectors(machine: Machine[StateT, EventT], bound: int) -> dict[str, str]:
    """JSON texts by file name, ``<machine>-<clause>-<invariant>.json``.

    Each names the missing clause and its rule, and holds two traces of the same events: ``fault``, which
    ends in the violation, and ``design``, which keeps every invariant, up to the event that the design
    does not enable (``refused``, or null when it takes them all).
    """
    vectors: dict[str, str] = {}
    for clause in machine.clauses:
        result = plain.search(machine, bound, machine.without(clause))
        for invariant, found in result.counterexamples.items():
            for counterexample in found[:1]:
                name = f"{machine.name}-{clause}-{invariant}.json"
                vectors[name] = json.dumps(
                    _vector(machine, str(clause), invariant, counterexample.events, bound), indent=1
                )
    return vectors


def _vector(
    machine: Machine[StateT, EventT], clause: str, invariant: str, events: tuple[EventT, ...], bound: int
) -> dict[str, Any]:
    fault = machine.without(clause)
    taken, state, refused = [], machine.initial, None
    for event in events:
        reason = machine.guard(state, event, machine.design, bound)
        if reason is not None:
            refused = {"event": str(event), "reason": reason}
            break
        state = machine.effect(state, event, machine.design)
        taken.append(event)
    rule = next(str(getattr(c, "says", "")) for c in machine.clauses if str(c) == clause)
    return {
        "clause": clause,
        "rule": rule,
        "invariant": invariant,
        "fault": record(machine, events, fault, bound).model_dump(mode="json"),
        "design": record(machine, taken, machine.design, bound).model_dump(mode="json"),
        "refused": refused,
    }
