"""The tables of a search, filled from the plain model itself, each entry when it is first needed.

The parts of a state hardly interact, and where they do is stated here, once:

- what an event does to the *history* is computed on the history alone (`bulk_histories`);
- what it does to *everything else* is computed on the *core* of the skeleton, in which every message
  that nothing but INV-SYNC looks at is a prompt: all but the summary, the pending call, and the
  receipts of the epoch that the tree has not recorded;
- an undo looks at nothing past its prompt, and a clear at nothing past the first message;
- an event is enabled when it is in both;
- INV-SYNC is checked on the carriers and receipts of the history, the nodes, the epoch's start and the
  pending call; IDX and VIEW on the tree, the fold and the length of the history; the live indices
  against that length.

Guards, effects, canonical forms and invariants are the machine's own functions. That the separation is
right is not assumed: `foldproof.explore.bulk_audit` compares it with the plain model in every search.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

from foldproof.explore.bulk_histories import (
    HistoryEvents,
    Messages,
    Template,
    is_no_talk,
    prompt,
)
from foldproof.explore.bulk_low import TOP, Box, Domain, UnsupportedError, boxes
from foldproof.explore.bulk_memo import ClauseMemo
from foldproof.explore.bulk_parts import (
    Borders,
    Histories,
    Interner,
    Parts,
    borders_of,
)
from foldproof.model.events import EVENT_TYPES, Call, Clear, Event, Undo
from foldproof.model.fold import est, trigger, view
from foldproof.model.machine import Clauses, Machine
from foldproof.model.receipts import accepted_receipts, recorded_transitions
from foldproof.model.state import Gauge, GaugeKind, Kind, State, Tree

ROW_INVARIANTS = ("IDX", "CAL", "VIEW", "SYNC")
"""The invariants that the separation knows; their positions are the bits of a row's verdict."""

IDX, CAL, VIEW, SYNC = (1 << position for position in range(4))

PASSES = -1
"""In an `Edge`: the nodes, the low index or the gauge stay as they are."""

ANY_BOUND = 1 << 30
"""A bound that never limits: the history's part of a guard knows the real one."""

CoreKey: TypeAlias = tuple[int, int, int, int, int]
"""The numbers of a core's history, nodes, borders and pending call, and whether the fold is on."""


class Edge(NamedTuple):
    """What one event does to one box of low parts of a core; the history's part comes from elsewhere."""

    event: int
    nodes: int  # or PASSES
    borders: int
    pending: int
    enabled: int
    observed_first: int  # the box: last_observed from .. to, gauge.length from .. to
    observed_last: int
    gauge_first: int
    gauge_last: int
    observed: int  # the new last_observed, or PASSES
    gauge_length: int  # the new gauge's length, or PASSES
    gauge_kind: int
    error: int  # the new error where the gauge is new, else the change of the error
    counts: int  # 1 on one edge of each event: transitions are counted there


class Outcome(NamedTuple):
    """A box of an effect, with the numbers of nodes, pending call and fold reached, and ``est(view)``."""

    box: Box
    nodes: int
    pending: int
    enabled: int
    tokens: int


class Core(NamedTuple):
    """What the tables know of a core: a state with it, the number of its history, ``est(view)``."""

    state: State
    history: int
    tokens: int


def alphabet(bound: int) -> list[Event]:
    """Every event that a session of at most ``bound`` messages can take, in the order of ``enabled``."""
    events: list[Event] = []
    for event_type in EVENT_TYPES:
        make: Any = event_type
        if event_type is Call:
            events.extend(make(kind) for kind in Kind)
        elif fields(event_type):
            events.extend(make(position) for position in range(bound + 1))
        else:
            events.append(make())
    return events


class Shared:
    """What searches of one machine share, whatever their design and bound: parts and model results."""

    def __init__(self, machine: Machine[Any, Any]) -> None:
        if not isinstance(machine.initial, State) or not set(machine.invariants) <= set(ROW_INVARIANTS):
            raise UnsupportedError(
                f"the bulk engine searches machines over the core state, and {machine.name!r} is not "
                "one of them: use the plain engine"
            )
        self.machine: Machine[State, Event] = machine
        self.parts = Parts()
        self.cores = Histories(self.parts.classes)
        self.templates: ClauseMemo[Template | None] = ClauseMemo()
        self.core_events: ClauseMemo[list[tuple[int, Event]]] = ClauseMemo()
        self.core_effects: ClauseMemo[list[Outcome]] = ClauseMemo()
        self.border_effects: ClauseMemo[dict[Event, int]] = ClauseMemo()
        self.sync_facts: dict[tuple[int, int, int, int], tuple[int, int]] = {}
        self.violations: dict[tuple[Hashable, int, int], int] = {}
        self.live_facts: dict[int, Domain] = {}


class Tables:
    """The model's answers for one search: by history, by core, by what INV-SYNC looks at."""

    def __init__(self, shared: Shared, bound: int, design: Clauses, checked: tuple[str, ...]) -> None:
        if not 1 <= bound <= TOP:
            raise UnsupportedError(f"the bulk engine searches bounds from 1 to {TOP}, not {bound}")
        self.shared, self.bound, self.design = shared, bound, design
        self.machine, self.parts = shared.machine, shared.parts
        self.events = alphabet(bound)
        self.number = {event: number for number, event in enumerate(alphabet(bound))}
        self.history_events = HistoryEvents(
            self.machine, self.parts.classes, self.events, bound, design, shared.templates
        )
        self.checks_live = "IDX" in checked
        self.checked = sum(1 << ROW_INVARIANTS.index(name) for name in checked)

    def history(self, history: int) -> list[int]:
        """What each event, by number, makes of a history: a number, or -1 where it is not enabled."""
        after = [-1] * len(self.events)
        histories = self.parts.histories
        for number, code in self.history_events.after(histories.codes[history]):
            after[number] = histories.number_of(code)
        return after

    def pattern(self, history: int) -> int:
        """The number, among the cores' histories, of a history without the difference of its talk."""
        code = self.parts.classes.plain(self.parts.histories.codes[history], is_no_talk)
        return self.shared.cores.number_of(code)

    def sync(self, pattern: int, nodes: int, epoch_start_at: int, pending: int) -> tuple[int, int]:
        """The number of the core's history, and whether INV-SYNC is violated."""
        key = (pattern, nodes, epoch_start_at, pending)
        known = self.shared.sync_facts.get(key)
        if known is None:
            tree = Tree(self.parts.nodes[nodes], epoch_start_at=epoch_start_at)
            messages = self.shared.cores[pattern]
            s = State(messages, tree, pending=self.parts.pendings[pending], next_id=len(messages))
            known = self.shared.cores.number(_core_history(s)), int(self._violated(s, "SYNC") != 0)
            self.shared.sync_facts[key] = known
        return known

    def violated(self, key: Hashable, length: int, tree: Tree, enabled: int) -> int:
        """The bits of IDX and VIEW that a tree beside a history of this length violates.

        ``key`` identifies the tree.
        """
        known = self.shared.violations.get((key, length, enabled))
        if known is None:
            history = tuple([prompt(i, 2) for i in range(length)])
            s = State(history, tree, enabled=bool(enabled), next_id=length)
            known = self._violated(s, "IDX") | self._violated(s, "VIEW")
            self.shared.violations[key, length, enabled] = known
        return known

    def core(self, key: CoreKey) -> Core:
        """The core with this history, nodes, borders, pending call and fold."""
        history, nodes, borders, pending, enabled = key
        messages = self.shared.cores[history]
        tree, call = self.parts.tree(nodes, borders), self.parts.pendings[pending]
        s = State(messages, tree, pending=call, enabled=bool(enabled), next_id=len(messages))
        return Core(s, history, est(view(s)))

    def live(self, length: int) -> Domain:
        """The live indices that INV-IDX allows beside a history of this length: from 0 up to these."""
        known = self.shared.live_facts.get(length)
        if known is None:
            s = State(tuple(prompt(i, 0) for i in range(length)), next_id=length)
            observed = [not self._violated(s._replace(last_observed=v), "IDX") for v in range(TOP + 1)]
            gauges = [not self._violated(s._replace(gauge=Gauge(v)), "IDX") for v in range(TOP + 1)]
            known = Domain(_prefix(observed), _prefix(gauges))
            self.shared.live_facts[length] = known
        return known

    def domain(self, length: int) -> Domain:
        """The live indices of the states that are expanded: those that violate nothing checked."""
        return self.live(length) if self.checks_live else Domain(TOP, TOP)

    def edges(self, key: CoreKey) -> list[Edge]:
        """What every event that a core allows does to it, box by box."""
        core = self.core(key)
        domain = self.domain(len(core.state.history))
        found: list[Edge] = []
        for number, event in self.allowed(key, core.state):
            outcomes = self.outcomes(key[1:], core, event)
            found.extend(_edges(number, core, outcomes, domain, self.parts.borders))
        return found

    def allowed(self, key: Hashable, s: State) -> list[tuple[int, Event]]:
        """The events, with their numbers, that a state allows, whatever the bound. ``key`` identifies it."""
        machine, number = self.machine, self.number

        def compute(design: Clauses) -> list[tuple[int, Event]]:
            events = machine.enabled(s, ANY_BOUND, design)
            return [(number[event], event) for event in events if event in number]

        return self.shared.core_events.get((self.bound, key), self.design, compute)

    def outcomes(self, key: Hashable, core: Core, event: Event) -> list[Outcome]:
        """What an event does to a core, or to the part of it that an undo or a clear looks at.

        ``key`` identifies the core up to its history.
        """
        s = core.state
        history, length = core.history, len(s.history)
        domain = self.domain(length)
        seen = event.cut + 1 if isinstance(event, Undo) else 1 if isinstance(event, Clear) else length
        if seen < length:
            history = self.shared.cores.number_of(self.shared.cores.codes[history][:seen])
            s = s._replace(history=s.history[:seen], next_id=seen)
            domain = Domain(TOP, TOP)
        return self.shared.core_effects.get(
            (history, key, event, domain), self.design, lambda design: self._run(s, event, domain, design)
        )

    def _run(self, s: State, event: Event, domain: Domain, design: Clauses) -> list[Outcome]:
        machine, parts = self.machine, self.parts
        found: list[Outcome] = []
        known: dict[int, tuple[int, int, int, int]] = {}
        for box in boxes(s, lambda s: machine.effect(s, event, design), machine.canonical, domain):
            after = box.after
            if id(after) not in known:
                known[id(after)] = (
                    parts.nodes.number(after.tree.nodes),
                    parts.pendings.number(after.pending),
                    int(after.enabled),
                    est(view(after)),
                )
            found.append(Outcome(box, *known[id(after)]))
        return found

    def _violated(self, s: State, name: str) -> int:
        """The bit of an invariant if a state violates it (never, if the machine has no such invariant)."""
        check = self.machine.invariants.get(name)
        return 0 if check is None or check(s) is None else 1 << ROW_INVARIANTS.index(name)


def _core_history(s: State) -> Messages:
    """A history in which only what matters beyond INV-SYNC is told apart; the rest are prompts."""
    pending = None if s.pending is None else s.pending.carrier
    recorded = set(recorded_transitions(s.tree, s.tree.epoch_start_at))
    kept: set[int] = set()
    for receipt in accepted_receipts(s, 0):
        unrecorded = not recorded.issuperset(receipt.transitions)
        if receipt.carrier.id == pending or (unrecorded and receipt.position >= s.tree.epoch_start_at):
            kept |= {receipt.position, receipt.position + 1}
    return tuple(
        message if position in kept or message.is_summary else prompt(position, message.tokens)
        for position, message in enumerate(s.history)
    )


def _prefix(allowed: list[bool]) -> int:
    """The last index of the leading stretch of allowed ones; there must be no other."""
    last = allowed.index(False) - 1 if False in allowed else len(allowed) - 1
    if last < 0 or any(allowed[last + 1 :]):
        raise UnsupportedError("INV-IDX does not allow a live index exactly from 0 up to some length")
    return last


def _edges(
    number: int, core: Core, outcomes: list[Outcome], domain: Domain, borders: Interner[Borders]
) -> Iterator[Edge]:
    """The edges of one event: one for a box with a new gauge, else one for each change of the error."""
    counts = 1
    for box, nodes, pending, enabled, tokens in outcomes:
        gauge_last = min(box.g_last, domain.length)
        observed_last = min(box.lo_last, domain.observed)
        if observed_last < box.lo_first or gauge_last < box.g_first:
            continue
        parts = number, nodes, borders.number(borders_of(box.after.tree)), pending, enabled
        observed = PASSES if box.observed is None else box.observed
        if box.gauge is None:
            changes = changes_of_error(core, box.after.history, tokens, box.g_first, gauge_last)
            for first, last, change in changes:
                ends = box.lo_first, observed_last, first, last
                yield Edge(*parts, *ends, observed, PASSES, 0, change, counts)
                counts = 0
        else:
            ends = box.lo_first, observed_last, box.g_first, gauge_last
            gauge = box.gauge.length, int(box.gauge.kind is GaugeKind.MEASURED)
            error = trigger(box.after._replace(gauge=box.gauge)) - tokens
            yield Edge(*parts, *ends, observed, *gauge, error, counts)
            counts = 0


def changes_of_error(
    core: Core, after: Messages, tokens: int, g_first: int, g_last: int
) -> list[tuple[int, int, int]]:
    """Where the gauge passes: stretches of its length, and by how much ``trigger - est(view)`` changes."""
    before = core.state.history
    stretches: list[tuple[int, int, int]] = []
    for length in range(g_first, g_last + 1):
        change = est(after[length:]) - est(before[length:]) + core.tokens - tokens
        if stretches and stretches[-1][2] == change:
            stretches[-1] = (stretches[-1][0], length, change)
        else:
            stretches.append((length, length, change))
    return stretches
