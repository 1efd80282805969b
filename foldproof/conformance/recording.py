"""Record runs in process: a script against the model under a design, with what the checker makes of it."""

from __future__ import annotations

from foldproof.conformance.adapter import reply_to
from foldproof.conformance.checker import Checker, Exchange
from foldproof.conformance.explain import answer
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.conformance.protocol import Handshake, read_handshake
from foldproof.conformance.script import play, words
from foldproof.model.machine import Clauses


def record_script(design: Clauses, script: str) -> tuple[Handshake, list[Exchange], Checker]:
    """The model under a design, driven by a script: handshake, exchanges, and the checker that saw them."""
    adapter = ModelAdapter(design)
    handshake = read_handshake(reply_to(adapter, {"cmd": "start"}))
    checker = Checker(handshake)
    exchanges: list[Exchange] = []
    for exchange in play(words(script), lambda request: answer(adapter, request), lambda: checker.ledger):
        checker.observe(exchange)
        exchanges.append(exchange)
    return handshake, exchanges, checker
