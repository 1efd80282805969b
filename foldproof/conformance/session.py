"""Scripts over the wire: one process, restarted a few times at most, and what each script shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from foldproof.conformance.checker import Checker, Exchange, Finding
from foldproof.conformance.protocol import EventRequest, Handshake, ProtocolError, Reply, ResetRequest
from foldproof.conformance.refinement import Refinement
from foldproof.conformance.script import play
from foldproof.conformance.wire import Wire, WireError

MAX_RESTARTS = 5


class GiveUpError(Exception):
    """The process failed more often than it is restarted."""


@dataclass(frozen=True)
class Failure:
    """A script that could not be finished: what went wrong, at which word, and the tail of stderr.

    ``times`` counts the scripts that failed alike.
    """

    script: tuple[str, ...]
    what: str
    stderr: str = ""
    repeats: bool = False
    times: int = 1

    @property
    def likeness(self) -> str:
        """What failures of one sort share: the message without numbers and quoted parts, such as paths."""
        return re.sub(r"'[^']*'|\"[^\"]*\"|\b0x[0-9a-f]+\b|\d+", "…", self.what)


@dataclass
class Outcome:
    """One script, run: its exchanges, what broke, and how it failed, if it did."""

    script: tuple[str, ...]
    exchanges: list[Exchange] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    failure: Failure | None = None


@dataclass
class Session:
    """A process under test and the scripts that it is given.

    ``statuses`` counts the replies by event and status over the session's whole life.
    """

    command: Sequence[str]
    timeout: float = 10.0
    refine: bool = False
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    restarts: int = 0
    _wire: Wire | None = None
    _earlier: set[str] = field(default_factory=set)

    @property
    def wire(self) -> Wire:
        """The process, started where it is not running. Raises `WireError`."""
        if self._wire is None:
            self._wire = Wire(self.command, self.timeout)
        return self._wire

    @property
    def handshake(self) -> Handshake:
        return self.wire.handshake

    def run(self, script: Sequence[str]) -> Outcome:
        """Reset and run a script; after a failure the process is restarted and the script is run again.

        Raises `GiveUpError` when it was restarted too often.
        """
        outcome = self._attempt(script)
        if outcome.failure is None or self._wire is not None:
            return outcome
        again = self._attempt(script)
        if again.failure is not None:
            outcome.failure = Failure(
                outcome.failure.script, outcome.failure.what, outcome.failure.stderr, repeats=True
            )
            return outcome
        again.failure = outcome.failure
        return again

    def _attempt(self, script: Sequence[str]) -> Outcome:
        outcome = Outcome(tuple(script))
        try:
            checker = Checker(self.handshake, earlier=self._earlier)
            refinement = Refinement() if self.refine else None
            for exchange in play(script, self._ask, lambda: checker.ledger):
                outcome.exchanges.append(exchange)
                found = checker.observe(exchange)
                difference = None if refinement is None else refinement.compare(exchange)
                outcome.findings += [*found, *([difference] if difference else [])]
                outcome.notes = checker.notes
                if exchange.reply.status == "errored":
                    reason = exchange.reply.reason or "no reason given"
                    what = f"step {exchange.request.seq}: the implementation errored: {reason}"
                    outcome.failure = Failure(tuple(script[: exchange.request.seq]), what[:400])
                    break
            self._earlier.update(checker.ledger.texts)
        except (WireError, ProtocolError) as error:
            done = max(len(outcome.exchanges), 0)
            tail = error.stderr if isinstance(error, WireError) else ""
            outcome.failure = Failure(tuple(script[:done]), str(error), tail)
            self._restart()
        return outcome

    def _ask(self, request: ResetRequest | EventRequest) -> Reply:
        reply = self.wire.ask(request)
        if isinstance(request, EventRequest):
            self.statuses[request.event.type, reply.status] += 1
        return reply

    def _restart(self) -> None:
        self.close()
        self.restarts += 1
        if self.restarts > MAX_RESTARTS:
            raise GiveUpError(f"the process failed {self.restarts} times")

    def close(self) -> None:
        """End the process."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None


@contextmanager
def session(command: Sequence[str], timeout: float, *, refine: bool = False) -> Iterator[Session]:
    """A session whose process is ended in any case."""
    opened = Session(command, timeout, refine)
    try:
        yield opened
    finally:
        opened.close()
