"""Shapes: many cores that behave alike, worked out once.

Two more separations (see `foldproof.explore.bulk_tables` for the first ones) hold of a core that violates
nothing:

- *Length*: where no call is pending or unrecorded, a prompt more at the end changes nothing but lengths.
  So one core, with as many prompts as the bound allows, stands for those of every length; live indices
  that come out as the length before or after the event are written down as just that.
- *What is folded before the epoch* (frozen memories, state memory) decides no live index and no node, and
  nodes decide nothing about it. So its share is worked out with nodes that forbid nothing, and the rest
  with one memory of an odd price in its place; a gauge that comes out as the estimate of the view, odd
  price included, is the view's whatever is folded.

A *shape* is what is left: nodes, the epoch's start, the pending call, the fold. Where an outcome cannot be
written in these terms, `Shapes.edges` gives None, and the core is worked out on its own. As all of this is
an assumption on the model, the audit watches over it.
"""

from __future__ import annotations

from typing import NamedTuple

from foldproof.explore.bulk_low import Domain
from foldproof.explore.bulk_parts import Ints, borders_of
from foldproof.explore.bulk_tables import (
    ANY_BOUND,
    PASSES,
    ROW_INVARIANTS,
    Core,
    CoreKey,
    Edge,
    Outcome,
    Tables,
    changes_of_error,
    prompt,
)
from foldproof.model.events import Event
from foldproof.model.fold import est, view
from foldproof.model.machine import Clauses
from foldproof.model.state import GaugeKind, Memory, Node, State, Tree

BEFORE, AFTER = 64, 96
"""In an edge of a shape, ``BEFORE + i`` and ``AFTER + i`` are the length of the history then, plus ``i``."""

# A negative ``pending`` in an edge of a shape: that pending call, its carrier at the length before.

ELSEWHERE = -1
"""In an edge of a shape: the borders come from `Shapes.borders`."""

_ODD_PRICE = 1000
"""Tokens of the memory that stands for all that is folded: more than any history costs."""


def resolved(values: Ints, before: Ints, after: Ints) -> Ints:
    """Indices of edges with the lengths put in."""
    relative_to_before = (values >= BEFORE) & (values < AFTER)
    shifted = values + relative_to_before * (before - BEFORE)
    return shifted + (values >= AFTER) * (after - AFTER)


class Shape(NamedTuple):
    """The key of a shape; ``history`` numbers the core's history that stands for all of its lengths."""

    history: int
    nodes: int
    epoch_start_at: int
    pending: int
    enabled: int
    any_length: bool


class Shapes:
    """The shapes of one search's cores."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._everything_checked = tables.checked == (1 << len(ROW_INVARIANTS)) - 1

    def of(self, key: CoreKey) -> Shape | None:
        """The shape of a core, or None when it has to be worked out on its own."""
        core = self.tables.core(key)
        s = core.state
        tree = s.tree
        unfolded = not tree.frozen and tree.state is None and not tree.frozen_end
        simple = tree.epoch_memory_at is None and (tree.epoch_start_at > 0 or unfolded)
        if not self._everything_checked or core.violated or not simple:
            return None
        any_length = s.pending is None and not any(message.is_carrier for message in s.history)
        history = key[0]
        if any_length:
            start = s.history[:1] if s.history and s.history[0].is_summary else ()
            costs = est((prompt(0, 2),))
            longest = (*start, *(prompt(i, costs) for i in range(len(start), self.tables.bound)))
            if any(message != longest[place] for place, message in enumerate(s.history)):
                return None
            history = self.tables.shared.cores.number(longest)
        return Shape(history, key[1], tree.epoch_start_at, key[3], key[4], any_length)

    def edges(self, shape: Shape) -> list[Edge] | None:
        """The edges of a shape, or None when they cannot be told without the rest of the core."""
        tables, parts = self.tables, self.tables.parts
        history = tables.shared.cores[shape.history]
        folded = Memory(_ODD_PRICE, ()) if shape.epoch_start_at else None
        s = State(
            history,
            Tree(parts.nodes[shape.nodes], (), 0, folded, shape.epoch_start_at),
            pending=parts.pendings[shape.pending],
            enabled=bool(shape.enabled),
            next_id=len(history),
        )
        core = Core(s, len(history), 0, est(view(s)))
        domain = tables.domain(core.length)
        key = ("shape", *shape[1:])
        allowed = tables.shared.core_events.get(
            (shape.history, key),
            tables.design,
            lambda design: list(tables.machine.enabled(s, ANY_BOUND, design)),
        )
        edges: list[Edge] = []
        for event in allowed:
            number = tables.number.get(event)
            if number is None:
                continue
            for place, outcome in enumerate(tables.outcomes(key, core, event, domain)):
                edge = _edge(number, core, outcome, domain, shape.any_length)
                if edge is not None and shape.any_length and edge.pending != 0:
                    edge = self._with_pending_at_the_end(edge, core.length)
                if edge is None:
                    return None
                edges.append(edge._replace(counts=int(place == 0)))
        return edges

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
                reached = tables.machine.canonical(tables.machine.effect(s, event, design))
                after[event] = tables.parts.borders.number(borders_of(reached.tree))
            return after

        known = tables.shared.border_effects.get((tables.bound, borders, enabled), tables.design, compute)
        return [known.get(event, -1) for event in tables.events]


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
