"""A recorded run against a process of today: the same requests, and what is answered to them now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foldproof.conformance.checker import Checker, Exchange, Finding
from foldproof.conformance.explain import explained
from foldproof.conformance.runfile import read_run
from foldproof.conformance.wire import Wire, WireError


def resend(
    path: Path, command: Sequence[str], timeout: float = 10.0
) -> tuple[Checker, list[Finding], list[Exchange]]:
    """Send every request of a recorded run. Raises `RunError` for the file, `WireError` for the process."""
    run = read_run(path)
    exchanges: list[Exchange] = []
    with Wire(command, timeout) as wire:
        checker = Checker(wire.handshake)
        for request, _, line in run.exchanges:
            exchange = Exchange(request, wire.ask(request), line)
            if exchange.reply.status == "errored":
                reason = exchange.reply.reason or "no reason given"
                raise WireError(f"step {request.seq}: the implementation errored: {reason}")
            checker.observe(exchange)
            exchanges.append(exchange)
    if not checker.applied:
        raise WireError("nothing was applied, so nothing was checked")
    return checker, explained(checker.findings, exchanges), exchanges
