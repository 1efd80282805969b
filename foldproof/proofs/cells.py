"""The grid: one inductive step for every event and every invariant, for histories of any length."""

from __future__ import annotations

from typing import Any

from foldproof.model import index
from foldproof.model.design import DESIGN
from foldproof.model.events import EVENT_TYPES
from foldproof.model.index import Truth
from foldproof.model.machine import Clauses
from foldproof.proofs import gauge
from foldproof.proofs.formula import Formula
from foldproof.proofs.invariant import INVARIANT, PARTITION, Conjunct, Group
from foldproof.proofs.logic import TERMS, implies
from foldproof.proofs.premise import Named, all_instances, guard
from foldproof.proofs.slip import Slip
from foldproof.proofs.slots import same_span
from foldproof.proofs.transition import TRUNCATING, Effect
from foldproof.proofs.world import Moved, Unbounded, arbitrary_move, boolean, integer

EVENTS: tuple[str, ...] = tuple(event_type.__name__ for event_type in EVENT_TYPES)


def inductive_step(event: str, group: Group, design: Clauses = DESIGN, slip: Slip | None = None) -> Formula:
    """The invariant before the event and its guard; the invariant's group after it.

    The goal speaks of arbitrary parts; the hypotheses are the instances of the invariant at those parts
    and at the parts that an event or an existence claim leads to from them.
    """
    before, move = Unbounded(), arbitrary_move(event)
    i, n, m, f, g = map(integer, ("i", "n", "m", "f", "g"))
    kept, keeper = integer("frozen_end_kept"), integer("frozen_keeper")
    effect = Effect(TERMS, before.frame, move, design, before.has_cursor, kept)
    moved = Moved(before, effect, boolean("tree_changed"), slip, integer("new_node"), integer("new_frozen"))
    place = moved.place_before(i)
    nodes = [n, m, before.cursor, before.opener(place), before.closer(place)]
    frozen = [f, g, before.freezer(place), keeper]
    if group is Group.CAL:
        nodes += gauge.node_witnesses(before)
        frozen.append(gauge.FROZEN_WITNESS)
    named = Named(
        [*_near(place), *_near_frame(before, move.at, kept), *_near_nodes(before, nodes)],
        [place],
        nodes,
        frozen,
    )
    hypotheses = [
        *all_instances(before, INVARIANT, named),
        *before.cursor_is_last(nodes),
        *_fresh(before, moved, named),
        *_frozen_end_kept(before, effect, named, keeper),
        *_tree_unchanged(before, moved, named),
        guard(before, move, design, named),
    ]
    if group is Group.CAL:
        laws, goal = gauge.equation(before, moved)
        return Formula(hypotheses + laws, goal)
    goal = TERMS.every(*all_instances(moved, _conjuncts(group), Named([i], [i], [n, m], [f, g])))
    return Formula(hypotheses, goal)


def _conjuncts(group: Group) -> list[Conjunct]:
    chosen = [conjunct for conjunct in INVARIANT if conjunct.group is group]
    return [*chosen, PARTITION] if group is Group.VIEW else chosen


def _near(i: Any) -> list[Any]:
    return [i - 1, i, i + 1]


def _near_frame(s: Unbounded, at: Any, kept: Any) -> list[Any]:
    f = s.frame
    return [at, kept, f.epoch_start_at, f.carrier, f.carrier + 1, f.length - 1]


def _near_nodes(s: Unbounded, nodes: list[Any]) -> list[Any]:
    """Where the calls stand that opened and closed the named nodes, and their receipts."""
    places: list[Any] = []
    for key in nodes:
        span = s.node(key).span
        opening, closing = index.opening_carrier(span), index.closing_carrier(span)
        places += [opening, opening + 1, closing, closing + 1]
    return places


def _fresh(before: Unbounded, moved: Moved, named: Named) -> list[Truth]:
    """New parts have new keys, after all others."""
    new_node, new_frozen = moved.new_node_key, moved.new_frozen_key
    facts = [
        TERMS.negate(before.node(new_node).span.present),
        TERMS.negate(before.frozen_memory(new_frozen).present),
    ]
    facts += [implies(TERMS, before.node(key).span.present, key < new_node) for key in named.nodes]
    facts += [implies(TERMS, before.frozen_memory(key).present, key < new_frozen) for key in named.frozen]
    return facts


def _frozen_end_kept(before: Unbounded, effect: Effect, named: Named, keeper: Any) -> list[Truth]:
    """``frozen_end_kept`` is the greatest end of a frozen memory that outlives the cut, or 0.

    The end of the frozen part is itself the end of a frozen memory, or 0.
    """
    if effect.move.name not in TRUNCATING:
        return []
    kept = effect.frozen_end_kept

    def lives(key: Any) -> Truth:
        memory = before.frozen_memory(key)
        return TERMS.every(memory.present, index.survives(memory.end, effect.cut))

    ends = before.frozen_memory(keeper).end == kept
    facts = [TERMS.some(kept == 0, TERMS.every(lives(keeper), ends))]
    facts += [implies(TERMS, lives(key), before.frozen_memory(key).end <= kept) for key in named.frozen]
    whole = index.survives(before.frame.frozen_end, effect.cut)
    return [*facts, implies(TERMS, whole, kept == before.frame.frozen_end)]


def _tree_unchanged(before: Unbounded, moved: Moved, named: Named) -> list[Truth]:
    """Unless the tree changed, no part of it did."""
    parts = [same_span(TERMS, before.node(key).span, moved.node(key).span) for key in named.nodes]
    parts += [before.frozen_memory(key).present == moved.frozen_memory(key).present for key in named.frozen]
    parts += [
        before.frame.epoch_start_at == moved.effect.frame().epoch_start_at,
        before.frame.has_state == moved.effect.frame().has_state,
    ]
    if moved.effect.move.name != "Undo":
        return []
    return [TERMS.some(moved.tree_changed, TERMS.every(*parts))]
