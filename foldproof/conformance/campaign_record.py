"""What a campaign is asked, what it has seen so far, and how much of its budget is left."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from foldproof.conformance.checker import NEEDS, Checker, Exchange, Finding
from foldproof.conformance.protocol import EventRequest, Handshake
from foldproof.conformance.session import Failure, Outcome

LOSING = ("undo", "compact", "branch", "switch", "remove", "regenerate")
"""What cannot be judged once the view is broken: it names messages that the implementation has otherwise."""

Signature = tuple[str, str, str]
"""What makes two findings the same fault: invariant, kind, and the event at which it shows."""


@dataclass(frozen=True)
class Settings:
    """How much to run. ``seconds`` bounds the whole campaign, ``steps`` the length of a random script."""

    exhaustive: int = 4
    examples: int = 150
    steps: int = 18
    seconds: float = 120.0
    workers: int = 1
    seed: int = 0
    timeout: float = 10.0
    refine: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Located:
    """A finding with the shortest script that shows it, and the run that it was seen in."""

    finding: Finding
    script: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    source: str


@dataclass
class Report:
    """What a campaign saw. ``unsteady`` are scripts that showed a fault once and not again."""

    handshake: Handshake
    settings: Settings
    located: dict[Signature, Located] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    coverage: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, list[Finding] | Failure | None] = field(default_factory=dict)
    redundant: int = 0
    unsteady: list[tuple[str, ...]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def invariants(self) -> dict[str, str]:
        """Each invariant's verdict over the whole campaign."""
        broken = {signature[0] for signature in self.located}
        applied = any(status == "applied" for _, status in self.statuses)
        checker = Checker(self.handshake)
        verdicts = {
            name: "violated"
            if name in broken
            else "held"
            if checker.observes(name) and applied
            else "unchecked"
            for name in NEEDS
        }
        if self.settings.refine:
            verdicts["REFINEMENT"] = (
                "violated" if "REFINEMENT" in broken else "held" if applied else "unchecked"
            )
        return verdicts

    @property
    def verdict(self) -> str:
        """``errored`` before ``violated`` before ``held``; a campaign that checked nothing is an error."""
        if self.failures or set(self.invariants.values()) == {"unchecked"}:
            return "errored"
        return "violated" if self.located else "held"

    def take(self, outcome: Outcome, source: str) -> None:
        """Add what a script showed; of one fault the shortest script is kept."""
        if outcome.failure is not None:
            self._fail(outcome.failure)
        self.redundant += len(outcome.notes)
        for finding in independent(outcome):
            known = self.located.get(signature(finding))
            if known is None or finding.step < len(known.script):
                script = outcome.script[: finding.step]
                exchanges = tuple(outcome.exchanges[: finding.step + 1])
                self.located[signature(finding)] = Located(finding, script, exchanges, source)

    def _fail(self, failure: Failure) -> None:
        """Of failures of one sort the one with the shortest script is kept, and how many there were."""
        for place, known in enumerate(self.failures):
            if known.likeness == failure.likeness:
                shortest = min(known, failure, key=lambda one: len(one.script))
                self.failures[place] = replace(shortest, times=known.times + 1)
                return
        self.failures.append(failure)


def independent(outcome: Outcome) -> list[Finding]:
    """The findings that do not merely follow from an earlier one.

    Once the view is broken, tester and implementation no longer agree on what is stored: what an undo or a
    compaction does from there on is no evidence. A clear makes them agree again.
    """
    broken_at = next((f.step for f in outcome.findings if f.invariant in ("VIEW", "REFINEMENT")), None)
    lost = False
    kept: set[int] = set()
    for exchange in outcome.exchanges:
        if isinstance(exchange.request, EventRequest) and broken_at is not None:
            name = exchange.request.event.type
            if exchange.request.seq > broken_at and name in LOSING:
                lost = True
            elif name == "clear":
                lost = False
        if not lost:
            kept.add(exchange.request.seq)
    return [finding for finding in outcome.findings if finding.step in kept]


def signature(finding: Finding) -> Signature:
    """What tells one fault from another."""
    return finding.invariant, finding.kind, finding.event


class Clock:
    """The budget: what is left of it, and the share that a part may use."""

    def __init__(self, seconds: float) -> None:
        self.start = time.monotonic()
        self.seconds = seconds

    @property
    def spent(self) -> float:
        return time.monotonic() - self.start

    def over(self, share: float = 1.0) -> bool:
        """Whether more than this share of the budget is spent."""
        return self.spent >= share * self.seconds
