"""A whole state at index level, in a fixed number of slots: integers, or terms for bounded proofs.

A model's state is *abstracted* into integers; a formula's state has the same slots filled with Z3
terms. `after` moves either by the transition relation, one part after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from foldproof.model import index
from foldproof.model.index import VOID, Index, Span, Truth
from foldproof.model.machine import Clauses
from foldproof.model.state import Memory, State
from foldproof.model.tree import span_of
from foldproof.proofs.facts import Covers, Frame, FrozenFacts, MessageFacts, Move, NodeFacts
from foldproof.proofs.logic import INTEGERS, Reasoning, pick, same
from foldproof.proofs.premise import Named
from foldproof.proofs.transition import Effect

FactsT = TypeVar("FactsT")

NO_MESSAGE = MessageFacts(False, False, False, False, False, False, 0)
NO_NODE = NodeFacts(Span(False, 0, False, 0), Covers(0, 0, False, 0))
NO_FROZEN = FrozenFacts(False, 0, 0, Covers(0, 0, False, 0))


class Room(NamedTuple):
    """How many messages, nodes and frozen memories a state in slots can hold."""

    messages: int
    nodes: int
    frozen: int


@dataclass(frozen=True)
class Slots:
    """A state in slots: those present come first, in order. ``gauge`` is the gauge's token count."""

    logic: Reasoning
    frame: Frame
    gauge: Index
    messages: tuple[MessageFacts, ...]
    nodes: tuple[NodeFacts, ...]
    frozen: tuple[FrozenFacts, ...]

    @property
    def room(self) -> Room:
        return Room(len(self.messages), len(self.nodes), len(self.frozen))

    def message(self, i: Index) -> MessageFacts:
        """The message at an index, which may be a term; a reply of no tokens outside the slots."""
        found = NO_MESSAGE
        for position, facts in enumerate(self.messages):
            found = pick(self.logic, i == position, facts, found)
        return found

    def is_open_here(self, node: NodeFacts) -> Truth:
        """The node is on the open stack of the current epoch."""
        here = index.in_epoch(node.span, self.frame.epoch_start_at)
        return self.logic.every(here, self.logic.negate(node.span.closed))

    def is_cursor(self, slot: int) -> Truth:
        """The node in this slot is the last one of the open stack."""
        later = (self.is_open_here(node) for node in self.nodes[slot + 1 :])
        none_later = self.logic.negate(self.logic.some(*later))
        return self.logic.every(self.is_open_here(self.nodes[slot]), none_later)

    @property
    def has_cursor(self) -> Truth:
        return self.logic.some(*map(self.is_open_here, self.nodes))

    def node(self, key: int) -> NodeFacts:
        return self.nodes[key]

    def frozen_memory(self, key: int) -> FrozenFacts:
        return self.frozen[key]

    def opened_by(self, i: Index) -> Truth:
        """Some node was opened by the carrier at this index."""
        spans = (node.span for node in self.nodes)
        return self.logic.some(*(self.logic.every(x.present, index.opening_carrier(x) == i) for x in spans))

    def closed_by(self, i: Index) -> Truth:
        """Some node was closed by the carrier at this index."""
        spans = (node.span for node in self.nodes)
        return self.logic.some(
            *(self.logic.every(x.present, x.closed, index.closing_carrier(x) == i) for x in spans)
        )

    def frozen_over(self, i: Index) -> Truth:
        """Some frozen memory covers this index."""
        return self.logic.some(*(self.logic.every(m.present, m.start <= i, i < m.end) for m in self.frozen))

    @property
    def named(self) -> Named:
        """All parts that there is room for."""
        messages, nodes, frozen = map(range, self.room)
        return Named(messages, messages, nodes, frozen)


def effect_on(s: Slots, move: Move, design: Clauses) -> Effect:
    """An event in this state: what the transition relation needs to know of all its parts."""
    kept: Index = 0
    cut = 0 if move.name == "Clear" else move.at
    for memory in s.frozen:  # ends increase, so the last one that survives is the greatest
        survives = s.logic.every(memory.present, index.survives(memory.end, cut))
        kept = s.logic.choose(survives, memory.end, kept)
    return Effect(s.logic, s.frame, move, design, s.has_cursor, kept)


def after(s: Slots, move: Move, design: Clauses) -> tuple[Slots, Truth, bool]:
    """The state after an event whose guard holds, its gauge still to be set.

    With it: whether the gauge is rebased, and whether the rebase takes the raw history for the view.
    """
    logic, effect = s.logic, effect_on(s, move, design)
    nodes = [effect.node(node, s.is_cursor(slot)) for slot, node in enumerate(s.nodes)]
    frozen = [effect.frozen(memory) for memory in s.frozen]
    changed = logic.some(
        *(logic.negate(same_span(logic, a.span, b.span)) for a, b in zip(s.nodes, nodes, strict=True)),
        *(logic.negate(logic.every(a.present == b.present)) for a, b in zip(s.frozen, frozen, strict=True)),
        logic.negate(effect.frame().epoch_start_at == s.frame.epoch_start_at),
        logic.negate(effect.frame().has_state == s.frame.has_state),
    )
    rebases = effect.rebases(changed)
    frame = effect.frame()
    frame = frame._replace(gauge_length=logic.choose(rebases, frame.length, frame.gauge_length))
    moved = Slots(
        logic,
        frame,
        s.gauge,
        tuple(effect.message(i, s.message) for i in range(len(s.messages))),
        _added(logic, _packed(logic, nodes), effect.new_node()),
        _added(logic, _packed(logic, frozen), effect.new_frozen()),
    )
    return moved, rebases, effect.rebased_from_raw


def same_span(logic: Reasoning, left: Span, right: Span) -> Truth:
    """As a node of the model compares: ``closed_at`` counts only while closed."""
    equal_end = logic.some(logic.negate(left.closed), left.closed_at == right.closed_at)
    return logic.every(
        left.present == right.present,
        logic.some(
            logic.negate(left.present),
            logic.every(left.opened_at == right.opened_at, left.closed == right.closed, equal_end),
        ),
    )


def _present(facts: Any) -> Truth:
    return facts.span.present if isinstance(facts, NodeFacts) else facts.present


def _packed(logic: Reasoning, slots: list[FactsT]) -> list[FactsT]:
    """The same parts with those that are gone moved to the end; order is kept."""
    for last in range(len(slots) - 1, 0, -1):
        for slot in range(last):
            gap = logic.negate(_present(slots[slot]))
            here, there = slots[slot], slots[slot + 1]
            slots[slot], slots[slot + 1] = pick(logic, gap, there, here), pick(logic, gap, here, there)
    return slots


def _added(logic: Reasoning, slots: list[FactsT], new: FactsT) -> tuple[FactsT, ...]:
    """The new part, if it is present, in the first free slot."""
    placed: list[FactsT] = []
    free_before = logic.truth(False)
    for facts in slots:
        free = logic.negate(_present(facts))
        first = logic.every(free, logic.negate(free_before), _present(new))
        placed.append(pick(logic, first, new, facts))
        free_before = logic.some(free_before, free)
    return tuple(placed)


def abstract(s: State, room: Room) -> Slots:
    """The index level of a model's state: the refinement map of the proofs.

    Raises ValueError where the room is too small.
    """
    if len(s.history) > room.messages or len(s.tree.nodes) > room.nodes or len(s.tree.frozen) > room.frozen:
        raise ValueError(f"a state does not fit into {room}")
    place = {message.id: position for position, message in enumerate(s.history)}
    pending = s.pending
    frame = Frame(
        length=len(s.history),
        frozen_end=s.tree.frozen_end,
        epoch_start_at=s.tree.epoch_start_at,
        has_state=s.tree.state is not None,
        state=_covers(s.tree.state, place),
        last_observed=s.last_observed,
        gauge_length=s.gauge.length,
        enabled=s.enabled,
        pending=pending is not None,
        carrier=VOID if pending is None else place.get(pending.carrier, VOID),
        opens=pending is not None and pending.transition.opens,
        closes=pending is not None and pending.transition.closes,
    )
    messages = tuple(
        MessageFacts(
            m.is_prompt,
            m.is_carrier,
            m.is_receipt,
            m.is_summary,
            m.transition is not None and m.transition.opens,
            m.transition is not None and m.transition.closes,
            m.tokens,
        )
        for m in s.history
    )
    nodes = tuple(NodeFacts(span_of(node), _covers(node.memory, place)) for node in s.tree.nodes)
    frozen = tuple(FrozenFacts(True, f.start, f.end, _covers(f.memory, place)) for f in s.tree.frozen)
    return Slots(
        INTEGERS,
        frame,
        s.gauge.tokens,
        messages + (NO_MESSAGE,) * (room.messages - len(messages)),
        nodes + (NO_NODE,) * (room.nodes - len(nodes)),
        frozen + (NO_FROZEN,) * (room.frozen - len(frozen)),
    )


def _covers(memory: Memory | None, place: dict[int, int]) -> Covers:
    """Where the ids of a memory lie: an interval while all are stored, side by side and in order."""
    if memory is None:
        return NO_NODE.covers
    places = [place.get(i, VOID) for i in memory.covers]
    intact = bool(places) and places == list(range(places[0], places[0] + len(places))) and VOID not in places
    return (
        Covers(places[0], places[-1] + 1, True, memory.tokens)
        if intact
        else Covers(0, 0, False, memory.tokens)
    )


def normal(s: Slots) -> Slots:
    """The same state with a fixed value wherever a field means nothing: equal states, equal slots.

    For integers only.
    """
    f = s.frame
    state = _normal_covers(f.state) if f.has_state else NO_NODE.covers
    f = f._replace(state=state)
    if not f.pending:
        f = f._replace(carrier=VOID, opens=False, closes=False)
    nodes = tuple(_normal_node(node) if node.span.present else NO_NODE for node in s.nodes)
    frozen = tuple(m._replace(covers=_normal_covers(m.covers)) if m.present else NO_FROZEN for m in s.frozen)
    messages = tuple(m if i < f.length else NO_MESSAGE for i, m in enumerate(s.messages))
    return Slots(s.logic, f, s.gauge, messages, nodes, frozen)


def _normal_covers(covers: Covers) -> Covers:
    return covers if covers.intact else Covers(0, 0, False, covers.tokens)


def _normal_node(node: NodeFacts) -> NodeFacts:
    if not node.span.closed:
        return NodeFacts(node.span._replace(closed_at=0), NO_NODE.covers)
    return NodeFacts(node.span, _normal_covers(node.covers))


def equal(left: Slots, right: Slots) -> Truth:
    """Two states in slots are the same, field by field; the gauge's tokens count."""
    return left.logic.every(
        same(left.logic, left.frame, right.frame),
        left.gauge == right.gauge,
        same(left.logic, left.messages, right.messages),
        same(left.logic, left.nodes, right.nodes),
        same(left.logic, left.frozen, right.frozen),
    )
