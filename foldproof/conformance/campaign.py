"""A campaign: every short script, random scripts shrunk over the wire, the vectors; within a budget."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from foldproof.conformance.checker import NEEDS, Checker, Exchange, Finding
from foldproof.conformance.explain import explained
from foldproof.conformance.ledger import Ledger
from foldproof.conformance.protocol import EXTENSION_EVENTS, EventRequest, Handshake, Reply
from foldproof.conformance.script import EVENT_OF, event_of, sensible
from foldproof.conformance.session import Failure, GiveUpError, Outcome, Session

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
    """What a campaign saw."""

    handshake: Handshake
    settings: Settings
    located: dict[Signature, Located] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    coverage: dict[str, Any] = field(default_factory=dict)
    cases: dict[str, list[Finding] | Failure | None] = field(default_factory=dict)
    redundant: int = 0
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
        if outcome.failure is not None and all(known.what != outcome.failure.what for known in self.failures):
            self.failures.append(outcome.failure)
        self.redundant += len(outcome.notes)
        for finding in independent(outcome):
            known = self.located.get(signature(finding))
            if known is None or finding.step < len(known.script):
                script = outcome.script[: finding.step]
                exchanges = tuple(outcome.exchanges[: finding.step + 1])
                self.located[signature(finding)] = Located(finding, script, exchanges, source)


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


def short_scripts(length: int, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every sensible script of exactly this length, in order, as if all that it says were applied."""

    def grow(prefix: tuple[str, ...], ledger: Ledger) -> Iterator[tuple[str, ...]]:
        if len(prefix) == length:
            yield prefix
            return
        for word in words:
            if sensible(word, ledger, prefix[-1] if prefix else None):
                after = copy.deepcopy(ledger)
                request = EventRequest(cmd="event", seq=len(prefix) + 1, event=event_of(word, ledger))
                after.apply(request, Reply(seq=request.seq, status="applied"))
                yield from grow((*prefix, word), after)

    yield from grow((), Ledger())


def exhaustive(sessions: Sequence[Session], report: Report, clock: Clock, share: float) -> None:
    """Every script of length 1, then 2, and so on: the first one to show a fault is a shortest one."""
    done, complete, length = 0, 0, 0
    for length in range(1, report.settings.exhaustive + 1):
        scripts = list(short_scripts(length, report.settings.words))
        if len(sessions) == 1:
            outcomes: Iterator[Outcome | None] = (_unless_over(sessions[0], s, clock, share) for s in scripts)
        else:
            outcomes = _in_parallel(sessions, scripts, clock, share)
        cut = False
        for outcome in outcomes:
            if outcome is None:
                cut = True
                break
            report.take(outcome, "exhaustive")
            done += 1
        if cut:
            break
        complete = length
    report.coverage["exhaustive"] = {
        "complete_to": complete,
        "asked_to": report.settings.exhaustive,
        "scripts": done,
    }


def _unless_over(session: Session, script: tuple[str, ...], clock: Clock, share: float) -> Outcome | None:
    return None if clock.over(share) else session.run(script)


def _in_parallel(
    sessions: Sequence[Session], scripts: Sequence[tuple[str, ...]], clock: Clock, share: float
) -> Iterator[Outcome | None]:
    """Each session takes every n-th script; the outcomes come back in the scripts' own order."""

    def work(number: int) -> list[Outcome | None]:
        mine = scripts[number :: len(sessions)]
        return [_unless_over(sessions[number], script, clock, share) for script in mine]

    with ThreadPoolExecutor(len(sessions)) as pool:
        parts = list(pool.map(work, range(len(sessions))))
    for place in range(len(scripts)):
        yield parts[place % len(sessions)][place // len(sessions)]


def run_cases(
    session: Session, report: Report, cases: Sequence[tuple[str, tuple[str, ...]]], clock: Clock, share: float
) -> None:
    """Named scripts; those that use an event which is not supported are skipped, which is no verdict.

    Those of an extension that the implementation does not list do not concern it: they are not counted.
    """
    ran = skipped = 0
    extra = set(EXTENSION_EVENTS).difference(report.handshake.events)
    cases = [(name, script) for name, script in cases if not any(EVENT_OF[word] in extra for word in script)]
    for name, script in cases:
        if clock.over(share):
            break
        if any(word not in report.settings.words for word in script):
            skipped += 1
            report.cases[name] = None
            continue
        outcome = session.run(script)
        ran += 1
        report.take(outcome, name)
        report.cases[name] = outcome.failure or outcome.findings
    report.coverage["vectors"] = {"run": ran, "skipped": skipped, "of": len(cases)}


def shrink(session: Session, located: Located, clock: Clock) -> Located:
    """Leave out words while the same fault shows: no single word of the result can be left out."""
    wanted = signature(located.finding)
    place = 0
    while place < len(located.script) and not clock.over():
        script = located.script[:place] + located.script[place + 1 :]
        outcome = session.run(script)
        found = next((f for f in outcome.findings if signature(f) == wanted), None)
        if found is None or outcome.failure is not None:
            place += 1
            continue
        exchanges = tuple(outcome.exchanges[: found.step + 1])
        located = Located(found, script[: found.step], exchanges, located.source)
        place = 0
    return located


def run_campaign(
    command: Sequence[str], settings: Settings, cases: Sequence[tuple[str, tuple[str, ...]]]
) -> Report:
    """Run everything. Raises `foldproof.conformance.wire.WireError` when no handshake comes about."""
    from foldproof.conformance.random_runs import random_runs  # noqa: PLC0415 - Hypothesis
    from foldproof.conformance.script import supported  # noqa: PLC0415

    clock = Clock(settings.seconds)
    sessions = [Session(command, settings.timeout, settings.refine) for _ in range(settings.workers)]
    try:
        handshake = sessions[0].handshake
        allowed = settings.words
        chosen = tuple(w for w in supported(handshake) if not allowed or w in allowed)
        report = Report(handshake, replace(settings, words=chosen))
        try:
            run_cases(sessions[0], report, cases, clock, 0.3)
            exhaustive(sessions, report, clock, 0.6)
            random_runs(sessions[0], report, clock, 0.9)
            for key in sorted(report.located, key=lambda k: len(report.located[k].script)):
                if report.located[key].source != "exhaustive":
                    report.located[key] = shrink(sessions[0], report.located[key], clock)
        except GiveUpError as error:
            report.failures.append(Failure((), str(error)))
        for one in sessions:
            report.statuses.update(one.statuses)
    finally:
        for one in sessions:
            one.close()
    report.coverage["events"] = event_counts(report)
    report.coverage["restarts"] = sum(one.restarts for one in sessions)
    report.located = {key: _explain(report.located[key]) for key in report.located}
    report.seconds = clock.spent
    return report


def event_counts(report: Report) -> dict[str, dict[str, int]]:
    """For each event, how often it was applied, rejected, skipped, errored."""
    counts: dict[str, dict[str, int]] = {}
    for (event, status), number in sorted(report.statuses.items()):
        counts.setdefault(event, {})[status] = number
    return counts


def _explain(located: Located) -> Located:
    """The clause that explains a finding, judged by everything that its script shows."""
    checker = Checker(Handshake.model_validate(_everything(located)))
    for exchange in located.exchanges:
        checker.observe(exchange)
    findings = [*checker.findings]
    if located.finding not in findings:
        findings.append(located.finding)
    for finding in explained(findings, located.exchanges):
        if replace(finding, clause=None) == located.finding:
            return replace(located, finding=finding)
    return located


def _everything(located: Located) -> dict[str, Any]:
    seen = set.intersection(*(set(e.reply.observation.model_fields_set) for e in located.exchanges))
    return {
        "version": 1,
        "implementation": {"name": "recorded", "language": ""},
        "events": [],
        "observes": sorted(seen & {"view", "history_length", "anchors", "committed", "pending"}),
    }
