"""Shrinking over the wire: leave out words of a script while the same fault shows."""

from __future__ import annotations

from foldproof.conformance.campaign_record import Clock, Located, Report, Signature, independent, signature
from foldproof.conformance.session import Session


def shrink(session: Session, located: Located, clock: Clock, share: float = 1.0) -> Located:
    """Leave out words while the same fault shows: stretches first, then one by one.

    Unless the budget's share ends before, no single word of the result can be left out.
    """
    wanted = signature(located.finding)
    size, place, better = max(len(located.script) // 2, 1), 0, False
    while not clock.over(share):
        if place >= len(located.script):
            if size == 1 and not better:
                break
            size, place, better = max(size // 2, 1), 0, False
            continue
        script = located.script[:place] + located.script[place + size :]
        outcome = session.run(script)
        found = next((f for f in independent(outcome) if signature(f) == wanted), None)
        if found is None or outcome.failure is not None:
            place += size
            continue
        exchanges = tuple(outcome.exchanges[: found.step + 1])
        located = Located(found, script[: found.step], exchanges, located.source)
        better = True
    return located


def shrink_all(session: Session, report: Report, clock: Clock, share: float, done: set[Signature]) -> None:
    """Shrink what is not ``done``, the shortest first; what the exhaustive runs found is a shortest one."""
    for key in sorted(report.located, key=lambda k: len(report.located[k].script)):
        if key not in done and report.located[key].source != "exhaustive" and not clock.over(share):
            report.located[key] = shrink(session, report.located[key], clock, share)
            if not clock.over(share):
                done.add(key)
