"""Is an adapter alive and honest? Asked first, so that its mistakes are not the implementation's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from foldproof.conformance.checker import NEEDS, Checker
from foldproof.conformance.protocol import MARKER
from foldproof.conformance.scenarios import SCENARIOS
from foldproof.conformance.script import EVENT_OF, supported, words
from foldproof.conformance.session import Outcome, Session

TRIES = 12
"""Scenarios that are run to see every listed event applied once."""


@dataclass(frozen=True)
class Check:
    """One question and its answer; ``passed`` is None where it could not be asked."""

    name: str
    passed: bool | None
    detail: str = ""


def smoke(session: Session) -> list[Check]:
    """Ask everything, in order; after the first question that fails to be answered at all, no more is asked.

    Raises `foldproof.conformance.wire.WireError` when no handshake comes about.
    """
    hello = session.handshake
    checks = [
        Check("handshake", True, f"{hello.implementation.name} {hello.implementation.version or ''}".strip())
    ]
    checks.append(
        Check(
            "append is supported",
            "append" in hello.events,
            "" if "append" in hello.events else "nothing can be stored",
        )
    )
    opens = [name for name in NEEDS if Checker(hello).observes(name)]
    checks.append(Check("something is observed", bool(opens), f"opens {', '.join(opens) or 'no invariant'}"))
    if not all(check.passed for check in checks):
        return checks
    questions: tuple[Callable[[Session], Check], ...] = (_reset, _append, _fresh, _alike, _events)
    for question in questions:
        check = question(session)
        checks.append(check)
        if check.passed is False and session.restarts:
            break
    return checks


def _reset(session: Session) -> Check:
    outcome = session.run(())
    if outcome.failure is not None:
        return Check("reset answers", False, outcome.failure.what)
    seen = outcome.exchanges[0].reply.observation
    left = _marks(outcome, 0)
    if left or seen.history_length:
        return Check(
            "a reset session is empty", False, f"it has {' '.join(sorted(left)) or seen.history_length}"
        )
    return Check("a reset session is empty", True)


def _append(session: Session) -> Check:
    outcome = session.run(("user", "reply"))
    if outcome.failure is not None:
        return Check("append answers", False, outcome.failure.what)
    for number, name in ((1, "a prompt"), (2, "a reply")):
        reply = outcome.exchanges[number].reply
        if reply.status != "applied":
            return Check(
                "messages are stored", False, f"{name} is {reply.status}: {reply.reason or 'no reason'}"
            )
        if reply.observation.view is not None and f"m{number}" not in _marks(outcome, number):
            what = f"{name} was applied, but its marker [[m{number}]] is not in the view"
            return Check("messages are stored", False, f"{what}: does observe ask the implementation?")
    return Check("messages are stored", True)


def _fresh(session: Session) -> Check:
    session.run(("user", "reply", "user"))
    outcome = session.run(())
    left = set() if outcome.failure else _marks(outcome, 0)
    return Check("a second reset is as empty", not left and not outcome.failure, " ".join(sorted(left)))


def _alike(session: Session) -> Check:
    script = [
        w
        for w in ("user", "reply", "open", "end", "user", "close", "end", "undo1", "measure")
        if w in supported(session.handshake)
    ]
    one, two = session.run(script), session.run(script)
    if one.failure or two.failure:
        return Check("the same script gives the same", False, str((one.failure or two.failure).what))  # type: ignore[union-attr]
    for number, (first, second) in enumerate(zip(one.exchanges, two.exchanges, strict=True)):
        if first.reply != second.reply:
            detail = f"step {number} of [{' '.join(script)}] was answered in two ways"
            return Check("the same script gives the same", False, detail)
    return Check("the same script gives the same", True)


def _events(session: Session) -> Check:
    """Every listed event is applied somewhere."""
    listed = set(session.handshake.events) & set(EVENT_OF.values())
    able = supported(session.handshake)
    for scenario in SCENARIOS:
        done = {event for event, status in session.statuses if status == "applied"}
        missing = listed - done
        script = words(scenario.script)
        if not missing:
            break
        if any(EVENT_OF[w] in missing for w in script) and all(w in able for w in script):
            outcome = session.run(script)
            if outcome.failure is not None:
                return Check("every listed event is applied once", False, outcome.failure.what)
    done = {event for event, status in session.statuses if status == "applied"}
    detail = (
        f"never applied: {', '.join(sorted(listed - done))}" if listed - done else ", ".join(sorted(listed))
    )
    return Check("every listed event is applied once", not listed - done, detail)


def _marks(outcome: Outcome, number: int) -> set[str]:
    view = outcome.exchanges[number].reply.observation.view or ()
    return {mark for item in view for mark in MARKER.findall(item.text)}
