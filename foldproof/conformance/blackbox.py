"""The invariants on a black box: what one observation says, against what the tester knows to be live.

Each function returns what is broken, as a mapping from the ids (or anchor names) concerned to a phrase.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from foldproof.conformance.ledger import Ledger
from foldproof.conformance.protocol import MARKER, Observation, Tokens, ViewItem

Broken = dict[str, str]


@dataclass
class Reading:
    """What a view says of each id: in which items it is shown (once an occurrence), and which claim it."""

    shown: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    results: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    covered: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    claims: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    left_over: set[str] = field(default_factory=set)

    @property
    def mentioned(self) -> set[str]:
        return {*self.shown, *self.results, *self.covered}

    def accounts_for(self, identifier: str) -> bool:
        return identifier in self.shown or identifier in self.results or identifier in self.covered


def read_view(
    view: tuple[ViewItem, ...], texts: dict[str, str], earlier: frozenset[str] | set[str] = frozenset()
) -> Reading:
    """Find every known id in a view.

    An item that holds a message's whole text shows it, one that holds only its marker covers it.
    ``synthetic`` only helps: a memory shows nothing, a status line carries nothing. ``earlier`` are ids of
    sessions before the last reset: where one is met that this session does not have, it is left over.
    """
    reading = Reading()
    for place, item in enumerate(view):
        if item.synthetic == "status":
            continue
        for call in item.calls:
            reading.shown[call].append(place)
        if item.result_of is not None:
            reading.results[item.result_of].append(place)
        own = {*item.calls, item.result_of}
        for identifier in dict.fromkeys(MARKER.findall(item.text)):
            if identifier not in texts and identifier in earlier:
                reading.left_over.add(identifier)
            if identifier not in texts or identifier in own:
                continue
            marker, text = f"[[{identifier}]]", texts[identifier]
            whole = item.text.count(text) if text and item.synthetic != "memory" else 0
            reading.shown[identifier].extend([place] * whole)
            if item.text.count(marker) > whole * text.count(marker):
                reading.covered[identifier].append(place)
                reading.claims[place].append(identifier)
    reading.shown = {k: v for k, v in reading.shown.items() if v}
    return reading


def hidden(reading: Reading, ledger: Ledger) -> Broken:
    """Live messages that are neither shown nor covered.

    A call is only asked for when half of it is there: whether a closing call belongs to its span is the
    implementation's affair, but a call without its result is not.
    """
    broken: Broken = {}
    for entry in ledger.live:
        if entry.kind is None:
            if not reading.accounts_for(entry.id):
                broken[entry.id] = f"{entry.id} is live, but neither shown nor covered by a memory"
        elif entry.id not in reading.covered:
            if entry.id in reading.shown and entry.id not in reading.results and reading.results:
                broken[entry.id] = f"the call {entry.id} is shown without its result"
            elif entry.id in reading.results and entry.id not in reading.shown:
                broken[entry.id] = f"the result of {entry.id} is shown without the call"
    return broken


def resurrected(reading: Reading, ledger: Ledger) -> Broken:
    """Undone or cleared messages that are shown or covered, and those of a session before the reset."""
    broken = {
        identifier: f"{identifier} was taken back, but is "
        + ("shown" if identifier in reading.shown or identifier in reading.results else "covered by a memory")
        for identifier in sorted(reading.mentioned & ledger.gone)
    }
    for identifier in sorted(reading.left_over):
        broken[identifier] = f"{identifier} is of a session before the reset"
    return broken


def repeated(reading: Reading, ledger: Ledger) -> Broken:
    """Live messages that are sent twice, or covered by two memories."""
    broken: Broken = {}
    for entry in ledger.live:
        times = max(len(reading.shown.get(entry.id, ())), len(reading.results.get(entry.id, ())))
        memories = len(reading.covered.get(entry.id, ()))
        if times > 1:
            broken[entry.id] = f"{entry.id} is sent {times} times"
        elif memories > 1:
            broken[entry.id] = f"{entry.id} is covered by {memories} memories"
    return broken


def redundant(reading: Reading, ledger: Ledger) -> Broken:
    """Live messages both shown and claimed by a memory: a note, as the claim may be the tester's text."""
    return {
        entry.id: f"{entry.id} is shown and also claimed by a memory"
        for entry in ledger.live
        if entry.id in reading.covered and (entry.id in reading.shown or entry.id in reading.results)
    }


def reordered(reading: Reading, ledger: Ledger) -> Broken:
    """Live messages that stand in another order than in the history.

    A memory stands for a stretch of the history; what lies inside it may stand on either side of it. An older
    exchange with a new answer may stand where it stood or at the end.
    """
    where = {entry.id: place for place, entry in enumerate(ledger.live) if not entry.moved}
    spots: list[tuple[int, float, float, str]] = []
    for identifier, places in reading.shown.items():
        if identifier in where:
            spots += [(place, where[identifier], where[identifier], identifier) for place in places[:1]]
    for identifier, places in reading.results.items():
        if identifier in where:
            after = where[identifier] + 0.5
            spots += [(place, after, after, identifier) for place in places[:1]]
    for place, claimed in reading.claims.items():
        alone = [where[i] for i in claimed if i in where and i not in reading.shown]
        if alone:
            first = min((i for i in claimed if i in where and i not in reading.shown), key=where.__getitem__)
            spots.append((place, min(alone), max(alone), first))
    spots.sort(key=lambda spot: (spot[0], spot[1]))
    broken: Broken = {}
    furthest, name = -1.0, ""
    for _, low, high, identifier in spots:
        if high < furthest:
            broken[identifier] = f"{identifier} stands after {name}, but comes before it in the history"
        if low > furthest:
            furthest, name = low, identifier
    return broken


def anchors(observation: Observation) -> Broken:
    """Indices that do not lie in the history."""
    length = observation.history_length
    assert length is not None
    assert observation.anchors is not None
    return {
        anchor.name: f"{anchor.name} is {anchor.value} of {length} ({anchor.bound})"
        for anchor in observation.anchors
        if anchor.value > length or (anchor.value == length and anchor.bound == "exclusive")
    }


def caliber(observation: Observation, tokens: Tokens) -> Broken:
    """The trigger against the view's size, within the declared tolerance and overhead."""
    trigger, size = observation.trigger, observation.view_tokens
    assert trigger is not None
    assert size is not None
    allowed = tokens.overhead + tokens.tolerance * abs(size)
    if abs(trigger - size) <= allowed:
        return {}
    return {
        "trigger": f"trigger is {trigger:g}, the view costs {size:g}, {abs(trigger - size):g} apart where "
        f"{allowed:g} is allowed"
    }


def sync(observation: Observation, ledger: Ledger, observes_pending: bool) -> Broken:
    """Transitions that the tree holds against the accepted receipts.

    A call of before the last compaction may be held or not. A call may wait while it is pending, or, where
    pending is not observed, until its step ends.
    """
    assert observation.committed is not None
    broken: Broken = {}
    live = {entry.id for entry in ledger.live if entry.kind}
    held = set(observation.committed)
    for call in observation.committed:
        if call not in live:
            what = "its receipt is gone" if call in ledger.gone else "no such call was accepted"
            broken[call] = f"{call} is committed, but {what}"
    for call in ledger.current_calls():
        waits = observation.pending == call if observes_pending else call in ledger.unsettled
        if call not in held and not waits:
            broken[call] = f"{call} was accepted and its receipt is stored, but it is not committed"
    return broken
