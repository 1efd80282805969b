"""Shapes: many cores that behave alike, worked out once.

More separations (see `foldproof.explore.bulk_tables` for the first ones) hold of a core that violates
nothing:

- *A summary* decides nothing but what the history allows; beyond that it is a prompt.
- *Length*: where no call is pending or unrecorded, a prompt more at the end changes nothing but lengths.
  So one core, with as many prompts as the bound allows, stands for those of every length; live indices
  that come out as the length before or after the event are written down as just that.
- *What is folded before the epoch* (frozen memories, state memory) decides no live index and no node, and
  nodes decide nothing about it. So its share is worked out with nodes that forbid nothing, and the rest
  with one memory of an odd price in its place; a gauge that comes out as the estimate of the view, odd
  price included, is the view's whatever is folded.
- *Where the epoch starts* decides which events are allowed, and what a commit of a call does, or an undo
  before it. The other outcomes are worked out with an epoch from the start.
- *Nodes* decide which events are allowed, and what a commit, an undo, a clear or a replacement does; of a
  call, the cursor alone. The other outcomes are worked out without nodes.

A *shape* is what is left: nodes, the epoch's start, the pending call, the fold. Where an outcome cannot be
written in these terms, `Shapes.edges` gives None, and the core is worked out on its own. As all of this is
an assumption on the model, the audit watches over it.
"""

from __future__ import annotations

from typing import NamedTuple

from foldproof.explore.bulk_edges import AFTER, BEFORE, EdgeTable
from foldproof.explore.bulk_histories import is_call, prompt
from foldproof.explore.bulk_low import Domain
from foldproof.explore.bulk_parts import borders_of
from foldproof.explore.bulk_tables import ANY_BOUND, PASSES, Core, Edge, Outcome, Tables, changes_of_error
from foldproof.model.events import (
    ApplyCompaction,
    Call,
    Clear,
    CommitIndex,
    CommitState,
    Event,
    FlagFlip,
    Restore,
    StepEnd,
    Undo,
)
from foldproof.model.fold import est, view
from foldproof.model.machine import Clauses
from foldproof.model.state import GaugeKind, Memory, Node, State, Tree

# A negative ``pending`` in an edge of a shape: that pending call, its carrier at the length before.

ELSEWHERE = -1
"""In an edge of a shape: the borders come from `Shapes.borders`."""

_ODD_PRICE = 1000
"""Tokens of the memory that stands for all that is folded: more than any history costs."""

_COST = 2
"""Tokens of the prompts that stand for all others."""


_MOVES_BORDERS = Undo | Clear | CommitState | CommitIndex | ApplyCompaction
"""Events that may do more to some borders than to others."""


class Shape(NamedTuple):
    """The key of a shape; ``history`` numbers the core's history, or the one that stands for all lengths."""

    history: int
    any_length: bool
    nodes: int
    epoch_start_at: int
    pending: int
    enabled: int


class _Seen(NamedTuple):
    """What the outcome of one event is worked out on: a shape as far as the event looks at it."""

    history: int
    nodes: int
    epoch_start_at: int
    folded: bool
    pending: int
    enabled: int
    nodes_are_own: bool = True


class Shapes:
    """The shapes of one search's cores, and their edges."""

    def __init__(self, tables: Tables, edges: EdgeTable) -> None:
        self.tables = tables
        self._table = edges
        self._cores: dict[_Seen, Core] = {}
        self._leaves: dict[tuple[Event, bool], bool] = {}
        self._known: dict[tuple[int, bool, _Seen], list[int] | None] = {}

    def history(self, history: int) -> int:
        """The history that stands for a core's in shapes: twice its number, plus whether for all lengths.

        A summary becomes a prompt; where all are prompts then, there are as many as the bound allows.
        """
        cores = self.tables.shared.cores
        messages = cores[history]
        if any(is_call(message) for message in messages):
            kept = (m if is_call(m) else prompt(place, _COST) for place, m in enumerate(messages))
            return 2 * cores.number(tuple(kept))
        most = max(self.tables.bound, len(messages))
        return 2 * cores.number(tuple(prompt(place, _COST) for place in range(most))) + 1

    def edges(self, shape: Shape) -> list[int] | None:
        """The edges of a shape, by number; None when they cannot be told without the rest of the core."""
        own = _Seen(
            shape.history,
            shape.nodes,
            shape.epoch_start_at,
            shape.epoch_start_at > 0,
            shape.pending,
            shape.enabled,
        )
        bare = own._replace(epoch_start_at=0, folded=True)
        free = bare._replace(nodes=self.tables.parts.nodes.number(()), nodes_are_own=False)
        edges: list[int] = []
        for number, event in self.tables.allowed(own, self._core(own).state):
            seen = self._seen(event, shape, own, bare, free)
            found = self._of_event(number, event, seen, shape.any_length)
            if found is None and seen != own:
                found = self._of_event(number, event, own, shape.any_length)
            if found is None:
                return None
            edges.extend(found)
        return edges

    def _seen(self, event: Event, shape: Shape, own: _Seen, bare: _Seen, free: _Seen) -> _Seen:
        """What the outcome of an event is worked out on: as little as it looks at, if it is as expected."""
        match event:
            case Undo(cut):
                return own if cut < shape.epoch_start_at else bare
            case ApplyCompaction():
                return bare
            case Clear():
                return own._replace(epoch_start_at=min(shape.epoch_start_at, 1))
            case StepEnd() | Restore() | FlagFlip():
                return free if shape.any_length else own
            case Call():
                s = self._core(own).state
                nodes = () if s.cursor is None else (s.tree.nodes[s.cursor],)
                return free._replace(nodes=self.tables.parts.nodes.number(nodes))
        return free

    def _of_event(self, number: int, event: Event, seen: _Seen, any_length: bool) -> list[int] | None:
        key = number, any_length, seen
        if key not in self._known:
            self._known[key] = self._worked_out(number, event, seen, any_length)
        return self._known[key]

    def _worked_out(self, number: int, event: Event, seen: _Seen, any_length: bool) -> list[int] | None:
        core = self._core(seen)
        length = len(core.state.history)
        domain = self.tables.domain(length)
        edges: list[int] = []
        for place, outcome in enumerate(self.tables.outcomes(seen[1:], core, event)):
            stay = outcome.nodes == seen.nodes
            if not stay and not seen.nodes_are_own:
                return None
            edge = _edge(number, core, outcome, domain, any_length)
            if edge is not None and stay:
                edge = edge._replace(nodes=PASSES)
            if edge is not None and any_length and edge.pending != 0:
                edge = self._with_pending_at_the_end(edge, length)
            if edge is None:
                return None
            edges.append(self._table.number(edge._replace(counts=int(place == 0))))
        return edges

    def _core(self, seen: _Seen) -> Core:
        known = self._cores.get(seen)
        if known is None:
            parts = self.tables.parts
            history = self.tables.shared.cores[seen.history]
            folded = Memory(_ODD_PRICE, ()) if seen.folded else None
            s = State(
                history,
                Tree(parts.nodes[seen.nodes], (), 0, folded, seen.epoch_start_at),
                pending=parts.pendings[seen.pending],
                enabled=bool(seen.enabled),
                next_id=len(history),
            )
            known = self._cores[seen] = Core(s, seen.history, est(view(s)))
        return known

    def _with_pending_at_the_end(self, edge: Edge, length: int) -> Edge | None:
        """An edge that makes a call pending, whose carrier is the message after the history before."""
        pending = self.tables.parts.pendings[edge.pending]
        at_the_end = pending is not None and pending.carrier == length
        return edge._replace(pending=-edge.pending) if at_the_end else None

    def pending_at(self, pending: int, length: int) -> int:
        """A pending call, by number, with its carrier at an index."""
        pendings = self.tables.parts.pendings
        call = pendings[pending]
        assert call is not None
        return pendings.number(call._replace(carrier=length))

    def borders(self, borders: int, enabled: int) -> list[int]:
        """What each event, by number, makes of the borders; -1 where they do not allow the event."""
        tables = self.tables

        def compute(design: Clauses) -> dict[Event, int]:
            after: dict[Event, int] = {}
            history = tuple(prompt(i, 2) for i in range(tables.bound))
            tree = tables.parts.tree(0, borders)
            tree = tree._replace(nodes=(Node(tree.epoch_start_at),))
            s = State(history, tree, enabled=bool(enabled), next_id=len(history))
            for event in tables.machine.enabled(s, ANY_BOUND, design):
                if not isinstance(event, _MOVES_BORDERS) and self._leaves_borders(event, s):
                    after[event] = borders
                    continue
                tree_after = tables.machine.canonical(tables.machine.effect(s, event, design)).tree
                after[event] = tables.parts.borders.number(borders_of(tree_after))
            return after

        known = tables.shared.border_effects.get((tables.bound, borders, enabled), tables.design, compute)
        return [known.get(event, -1) for event in tables.events]

    def _leaves_borders(self, event: Event, s: State) -> bool:
        """Whether an event leaves the borders of a state alone: asked of the first such state only."""
        known = self._leaves.get((event, s.enabled))
        if known is None:
            machine = self.tables.machine
            after = machine.canonical(machine.effect(s, event, self.tables.design)).tree
            known = self._leaves[event, s.enabled] = borders_of(after) == borders_of(s.tree)
        return known


def _ambiguous(folded: Memory | None, after: State) -> bool:
    """Whether the estimates of view and history agree only because all that was folded is shown again.

    Then a real core may show less of it again, and which of the two the gauge came from is not known.
    """
    if folded is None or not after.enabled or not after.history:
        return False
    return after.tree.state != folded and est(view(after)) == est(after.history)


def _edge(number: int, core: Core, outcome: Outcome, domain: Domain, any_length: bool) -> Edge | None:
    box = outcome.box
    length = len(box.after.history)

    def told(index: int) -> int | None:
        """An index in terms of the length after the event; as it is where the length is fixed."""
        if index == length:
            return AFTER
        return None if any_length else index

    first = [0 if f == 0 else AFTER + 1 if f == length + 1 else told(f) for f in (box.lo_first, box.g_first)]
    last = [
        BEFORE if end >= limit else told(end)
        for end, limit in ((box.lo_last, domain.observed), (box.g_last, domain.length))
    ]
    observed = PASSES if box.observed is None else told(box.observed)
    if box.gauge is None:
        gauge_length: int | None = PASSES
        kind = 0
        g_last = min(box.g_last, domain.length)
        changes = changes_of_error(core, box.after.history, outcome.tokens, box.g_first, g_last)
        if any(change for _, _, change in changes):
            return None
    else:
        gauge_length = told(box.gauge.length)
        kind = int(box.gauge.kind is GaugeKind.MEASURED)
        if box.gauge.length != length or box.gauge.tokens != outcome.tokens:
            return None
        if _ambiguous(core.state.tree.state, box.after):
            return None
    ends = (first[0], last[0], first[1], last[1], observed, gauge_length)
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    parts = number, outcome.nodes, ELSEWHERE, outcome.pending, outcome.enabled
    return Edge._make((*parts, *known, kind, 0, 0))
