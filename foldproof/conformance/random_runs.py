"""Random runs: a Hypothesis state machine over the wire, shrunk over the wire, reset between examples."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from foldproof.conformance.campaign_record import Clock, Report, independent, signature
from foldproof.conformance.checker import Checker, Exchange
from foldproof.conformance.protocol import EventRequest, ProtocolError, ResetRequest
from foldproof.conformance.refinement import Refinement
from foldproof.conformance.script import event_of, sensible
from foldproof.conformance.session import Failure, Outcome, Session
from foldproof.conformance.wire import WireError


class _OverError(BaseException):
    """The budget is spent. No `Exception`: Hypothesis would take it for a fault and run it again."""


class _ShownError(Exception):
    """A fault that was not known before: Hypothesis shrinks towards its shortest script."""


def random_runs(session: Session, report: Report, clock: Clock, share: float) -> None:
    """Look for faults that are not in the report yet, until the examples or the budget are spent.

    After each fault that is found and shrunk, another round begins that passes over what is known.
    """
    spent = {"examples": 0, "shrinking": 0, "rounds": 0}
    known = set(report.located)
    while spent["examples"] < report.settings.examples and not clock.over(share):
        spent["rounds"] += 1
        machine = _machine(session, report, clock, share, known, spent)
        seeded = hypothesis.seed(report.settings.seed * 1000 + spent["rounds"])(machine)
        left = report.settings.examples - spent["examples"]
        try:
            run_state_machine_as_test(seeded, settings=_settings(left, report.settings.steps))
            break
        except _ShownError:
            known |= set(report.located)
        except _OverError:
            break
        except Flaky:
            if machine.over:  # the budget ended an example that Hypothesis meant to run to its end
                break
            script = machine.last.script
            if set(report.located) - known:  # what it answered once is evidence enough
                report.unsteady.append(script)
                known |= set(report.located)
                continue
            what = (
                "it does not answer the same script alike twice: a fault that showed once did not show again"
            )
            report.failures.append(Failure(script, what))
            break
    report.coverage["random"] = {**spent, "asked": report.settings.examples, "seed": report.settings.seed}


def _settings(examples: int, steps: int) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=max(examples, 1),
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def _machine(
    session: Session,
    report: Report,
    clock: Clock,
    share: float,
    known: set[tuple[str, str, str]],
    spent: dict[str, int],
) -> Any:
    words = report.settings.words

    class Machine(RuleBasedStateMachine):
        """One example: a script that grows word by word, each among those that can do something."""

        last = Outcome(())
        over = False
        shown = False

        def __init__(self) -> None:
            super().__init__()
            self.checker = Checker(report.handshake)
            self.refinement = Refinement() if report.settings.refine else None
            self.words: list[str] = []
            self.outcome = Outcome(())
            self.dead = False

        @initialize()
        def reset(self) -> None:
            spent["shrinking" if type(self).shown else "examples"] += 1
            if clock.over(share):
                type(self).over = True
                raise _OverError
            self._send(ResetRequest(cmd="reset", seq=0))

        @rule(data=st.data())
        def step(self, data: Any) -> None:
            if self.dead:
                return
            if clock.over():  # a slow implementation is not kept for the rest of the script
                type(self).over = True
                raise _OverError
            previous = self.words[-1] if self.words else None
            options = [w for w in words if sensible(w, self.checker.ledger, previous)]
            if not options:
                return
            # Most faults need something that was said to be taken back or folded.
            options += [w for w in options if w in ("user", "reply")]
            word = data.draw(st.sampled_from(options))
            self.words.append(word)
            event = event_of(word, self.checker.ledger)
            self._send(EventRequest(cmd="event", seq=len(self.words), event=event))

        def _send(self, request: ResetRequest | EventRequest) -> None:
            self.outcome.script = tuple(self.words)
            type(self).last = self.outcome
            try:
                exchange = Exchange(request, session._ask(request))
                found = self.checker.observe(exchange)
            except (WireError, ProtocolError) as error:
                tail = error.stderr if isinstance(error, WireError) else ""
                self.outcome.failure = Failure(tuple(self.words), str(error), tail)
                report.take(self.outcome, "random")
                self.dead = True
                session._restart()
                return
            self.outcome.exchanges.append(exchange)
            difference = None if self.refinement is None else self.refinement.compare(exchange)
            self.outcome.findings += [*found, *([difference] if difference else [])]
            if exchange.reply.status == "errored":
                what = f"step {request.seq}: the implementation errored: {exchange.reply.reason}"
                self.outcome.failure = Failure(tuple(self.words), what[:400])
                self.dead = True
            report.take(self.outcome, "random")
            if any(signature(finding) not in known for finding in independent(self.outcome)):
                type(self).shown = True
                raise _ShownError

    return Machine
