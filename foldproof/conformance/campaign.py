"""A campaign: the named scripts, every short one, random ones shrunk over the wire; within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from foldproof.conformance.campaign_record import Clock, Located, Report, Settings, Signature
from foldproof.conformance.checker import Checker
from foldproof.conformance.explain import explained
from foldproof.conformance.protocol import Handshake
from foldproof.conformance.session import Failure, GiveUpError, Session
from foldproof.conformance.shrinking import shrink_all
from foldproof.conformance.sweeps import exhaustive, run_cases


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
            exhaustive(sessions, report, clock, 0.55)
            done: set[Signature] = set()
            shrink_all(sessions[0], report, clock, 0.7, done)
            random_runs(sessions[0], report, clock, 0.85)
            shrink_all(sessions[0], report, clock, 1.0, done)
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
