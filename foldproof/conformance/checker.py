"""The one checker: `foldproof validate` and `foldproof conform` both feed it exchanges, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from foldproof.conformance import blackbox
from foldproof.conformance.ledger import Ledger
from foldproof.conformance.protocol import EventRequest, Handshake, Observation, Reply, ResetRequest

INVARIANT_OF = {
    "hidden": "VIEW",
    "resurrected": "VIEW",
    "repeated": "VIEW",
    "reordered": "VIEW",
    "anchor": "IDX",
    "caliber": "CAL",
    "sync": "SYNC",
    "refinement": "REFINEMENT",
}
NEEDS = {
    "IDX": ("anchors", "history_length"),
    "CAL": ("trigger", "view_tokens"),
    "VIEW": ("view",),
    "SYNC": ("committed",),
}


class Exchange(NamedTuple):
    """A request with its reply; ``line`` is the request's line in a file, counted from 1, or 0."""

    request: ResetRequest | EventRequest
    reply: Reply
    line: int = 0


@dataclass(frozen=True)
class Finding:
    """One thing that broke at one step: which invariant, how, and what it concerns.

    ``step`` is the request's ``seq``, ``event`` its type; ``ids`` are messages, calls or anchor names;
    ``left`` and ``right`` are the two sides of the equation; ``clause`` is the design clause whose absence
    explains it, or None.
    """

    step: int
    event: str
    invariant: str
    kind: str
    ids: tuple[str, ...]
    detail: str
    left: str = ""
    right: str = ""
    clause: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"ids": list(self.ids)}


@dataclass
class Checker:
    """Follows one run and tells what breaks, at the step at which it starts to be broken.

    ``findings`` and ``notes`` grow with every exchange; what stays broken is told once.
    """

    handshake: Handshake
    findings: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    applied: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    earlier: set[str] = field(default_factory=set)
    _standing: dict[str, set[str]] = field(default_factory=dict)

    def observe(self, exchange: Exchange) -> list[Finding]:
        """Take one exchange and return what it newly breaks.

        Raises `foldproof.conformance.protocol.ProtocolError` for a request that is not part of any sound run.
        """
        request, reply = exchange.request, exchange.reply
        if isinstance(request, ResetRequest):
            self.earlier.update(self.ledger.texts)
            self.ledger, self._standing = Ledger(), {}
            name = "reset"
        else:
            self.ledger.check(request)
            self.ledger.apply(request, reply)
            name = request.event.type
            self.applied += reply.status == "applied"
        if reply.status == "errored":
            return []
        found: list[Finding] = []
        for kind, broken, sides in self.broken(reply.observation):
            fresh = [i for i in broken if i not in self._standing.get(kind, ())]
            self._standing[kind] = set(broken)
            if not fresh:
                continue
            finding = Finding(
                request.seq,
                name,
                INVARIANT_OF.get(kind, "VIEW"),
                kind,
                tuple(fresh),
                "; ".join(broken[i] for i in fresh),
                *sides,
            )
            (self.notes if kind == "redundant" else found).append(finding)
        self.findings += found
        return found

    def broken(self, seen: Observation) -> Iterable[tuple[str, blackbox.Broken, tuple[str, str]]]:
        """Everything that is broken in one observation, by kind, with both sides of the equation."""
        if self.observes("IDX"):
            broken = blackbox.anchors(seen)
            yield "anchor", broken, (_listed(broken.values()), f"len(history) = {seen.history_length}")
        if self.observes("CAL"):
            sides = (f"trigger = {seen.trigger:g}", f"est(view) = {seen.view_tokens:g}")
            yield "caliber", blackbox.caliber(seen, self.handshake.tokens), sides
        if self.observes("VIEW"):
            assert seen.view is not None
            reading = blackbox.read_view(seen.view, self.ledger.texts, self.earlier)
            sides = (view_text(reading, len(seen.view)), _listed(entry.id for entry in self.ledger.live))
            for check in (
                blackbox.hidden,
                blackbox.resurrected,
                blackbox.repeated,
                blackbox.reordered,
                blackbox.redundant,
            ):
                yield check.__name__, check(reading, self.ledger), sides
        if self.observes("SYNC"):
            observes_pending = "pending" in self.handshake.observes
            waiting = f", {seen.pending} pending" if seen.pending else ""
            sides = (
                f"committed {_listed(seen.committed or ())}{waiting}",
                f"accepted {_listed(e.id for e in self.ledger.live if e.kind)}",
            )
            yield "sync", blackbox.sync(seen, self.ledger, observes_pending), sides

    def observes(self, invariant: str) -> bool:
        """Whether everything that an invariant needs is declared."""
        return all(name in self.handshake.observes for name in NEEDS[invariant])

    def verdicts(self) -> dict[str, str]:
        """Each invariant: ``held``, ``violated``, or ``unchecked`` where it is not observed."""
        broken = {finding.invariant for finding in self.findings}
        verdicts = {
            name: "violated"
            if name in broken
            else "held"
            if self.observes(name) and self.applied
            else "unchecked"
            for name in NEEDS
        }
        if "REFINEMENT" in broken:
            verdicts["REFINEMENT"] = "violated"
        return verdicts


def check_run(handshake: Handshake, exchanges: Sequence[Exchange]) -> Checker:
    """A checker that has seen a whole run."""
    checker = Checker(handshake)
    for exchange in exchanges:
        checker.observe(exchange)
    return checker


def view_text(reading: blackbox.Reading, length: int) -> str:
    """A view in short: what is shown by id, memories in brackets, a result as ``c1'``."""
    at: dict[int, list[str]] = {}
    for identifier, places in reading.shown.items():
        for place in places:
            at.setdefault(place, []).append(identifier)
    for identifier, places in reading.results.items():
        for place in places:
            at.setdefault(place, []).append(f"{identifier}'")
    for place, claimed in reading.claims.items():
        at.setdefault(place, []).append(f"[{' '.join(claimed)}]")
    return _listed(part for place in range(length) for part in at.get(place, ()))


def _listed(parts: Iterable[str]) -> str:
    return " ".join(parts) or "(nothing)"
