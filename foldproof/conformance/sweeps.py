"""The parts of a campaign that leave nothing to chance: every short script, and the named ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from foldproof.conformance.campaign_record import Clock, Report
from foldproof.conformance.events import EXTENSION_EVENTS
from foldproof.conformance.ledger import Ledger
from foldproof.conformance.protocol import EventRequest, Reply
from foldproof.conformance.script import EVENT_OF, event_of, sensible
from foldproof.conformance.session import Outcome, Session


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
