"""Which design clause explains a finding: the model is run without each clause over the same requests.

A clause explains a finding when the model without it breaks the same invariant, in the same way, at the same
step. Where several do, the one whose whole run looks most like the observed one is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from foldproof.conformance.adapter import reply_to
from foldproof.conformance.checker import Checker, Exchange, Finding
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.conformance.protocol import (
    EventRequest,
    ProtocolError,
    Reply,
    ResetRequest,
    read_handshake,
    read_reply,
)
from foldproof.model.design import Clause, without
from foldproof.model.machine import Clauses

MAX_STEPS = 400
"""Longer runs are not explained: the model is slow on long histories."""

SPECIFIC = (Clause.D6_REPAIR,)
"""Clauses that rule a special case of another one: they win where both explain a run equally well."""

WEAKEST = (Clause.D4,)
"""Clauses without which nothing breaks: they explain nothing by themselves."""


def explained(findings: Sequence[Finding], exchanges: Sequence[Exchange]) -> list[Finding]:
    """The findings, each with the clause that explains it, or None where no single clause does."""
    if not findings or len(exchanges) > MAX_STEPS:
        return list(findings)
    candidates = {clause: _runs(clause, exchanges) for clause in Clause if clause not in WEAKEST}
    observed = _shapes(findings)
    scores = {
        clause: max(_likeness(observed, _shapes(found)) for found in runs)
        for clause, runs in candidates.items()
    }
    result: list[Finding] = []
    for finding in findings:
        matches = [c for c, runs in candidates.items() if any(_same(finding, found) for found in runs)]
        best = max(matches, key=lambda c: (scores[c], c in SPECIFIC), default=None)
        clause = None if best is None else str(best)
        if clause is None and finding.event == "append":  # it only shows what was broken before
            clause = next((f.clause for f in reversed(result) if f.invariant in ("IDX", "VIEW")), None)
        result.append(replace(finding, clause=clause))
    return result


def _runs(clause: Clause, exchanges: Sequence[Exchange]) -> list[list[Finding]]:
    """What the model shows without a clause, with and without an epoch boundary that bounds undo.

    Many implementations let an undo pass a compaction; the design refuses it and explains nothing there.
    """
    return [model_findings(without(clause, *also), exchanges) for also in ((), WEAKEST)]


def model_findings(design: Clauses, exchanges: Iterable[Exchange]) -> list[Finding]:
    """What the checker finds in the model under a design, driven by the same requests.

    A request that the implementation did not apply is left out; one that the model refuses changes nothing.
    """
    adapter = ModelAdapter(design)
    hello = reply_to(adapter, {"cmd": "start"})
    handshake = read_handshake(hello)
    checker = Checker(handshake)
    try:
        for request, told, _ in exchanges:
            if isinstance(request, EventRequest) and told.status != "applied":
                continue
            checker.observe(Exchange(request, answer(adapter, request)))
    except ProtocolError:
        return []
    return checker.findings


def answer(adapter: ModelAdapter, request: ResetRequest | EventRequest) -> Reply:
    """The model's reply to one request."""
    value = reply_to(adapter, request.model_dump(mode="json", exclude_none=True))
    return read_reply(value, read_handshake(reply_to(adapter, {"cmd": "start"})), request.seq)


def _same(finding: Finding, found: Iterable[Finding]) -> bool:
    return any(
        _at_the_same_time(finding, other)
        and other.kind == finding.kind
        and (finding.kind in ("anchor", "caliber") or not set(other.ids).isdisjoint(finding.ids))
        for other in found
    )


def _at_the_same_time(finding: Finding, other: Finding) -> bool:
    """The same step; an implementation may commit a call at once, the model waits for the step's end."""
    if finding.event == "call" and other.event == "step_end":
        return other.step == finding.step + 1
    return other.step == finding.step


def _shapes(findings: Iterable[Finding]) -> set[tuple[int, str, str]]:
    return {
        (finding.step, finding.kind, "" if finding.kind in ("anchor", "caliber") else identifier)
        for finding in findings
        for identifier in finding.ids
    }


def _likeness(one: set[tuple[int, str, str]], other: set[tuple[int, str, str]]) -> float:
    return len(one & other) / max(len(one | other), 1)
