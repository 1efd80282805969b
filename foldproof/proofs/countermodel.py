"""Countermodels made concrete: a state that has the invariant, an event, and what a fault breaks.

A refuted inductive step only says that *some* state is led astray. Here it is looked for among whole
states in slots, written as a state of the model, and replayed in the model. Whether a run leads there is
for the search to say: the countermodel is labelled *reachable*, with a shortest run, *unreachable*
within the bound, or not reached where the search gave up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import z3

from foldproof.explore.trace import Trace, encode, record, verdicts
from foldproof.model.core import CORE
from foldproof.model.design import Clause, without
from foldproof.model.events import Event, event_from_name
from foldproof.model.fold import CORE_COSTS
from foldproof.model.index import VOID
from foldproof.model.machine import Clauses
from foldproof.model.state import (
    Frozen,
    Gauge,
    Kind,
    Memory,
    Message,
    Node,
    Origin,
    Pending,
    Role,
    State,
)
from foldproof.proofs.bounded import arbitrary_slots
from foldproof.proofs.facts import Covers, MessageFacts, Move
from foldproof.proofs.invariant import INVARIANT, Group
from foldproof.proofs.literal import LITERAL, inv_cal, stepped
from foldproof.proofs.logic import INTEGERS, TERMS, implies, same
from foldproof.proofs.moves import move_of
from foldproof.proofs.premise import all_instances, guard
from foldproof.proofs.slots import NO_FROZEN, NO_MESSAGE, NO_NODE, Room, Slots, abstract, equal, normal
from foldproof.proofs.world import arbitrary_move

GREATEST_BOUND = 5
MOST_STATES = 12_000
"""States that a search may visit to label a countermodel: all of them up to a bound of 3."""

TRIES = 24
"""Countermodels that are looked at for one which the search reaches."""

_INDEXED = ("Undo", "CommitState", "CommitIndex", "ApplyCompaction")


@dataclass(frozen=True)
class Countermodel:
    """A state, an event, the state after it under a fault; ``run`` leads to the first, if it is reached.

    ``broken`` are the invariants that the state after violates to the letter. It is empty where only the
    strengthened invariant breaks: then it is a later event that does the harm.
    """

    event: Event
    missing: Clause
    bound: int
    before: State
    after: State
    broken: tuple[str, ...]
    run: tuple[Event, ...] | None

    @property
    def label(self) -> str:
        """Whether the search reaches it."""
        if self.run is not None:
            return "reachable"
        if reach(self.missing, self.bound).exhausted:
            return f"unreachable with histories of up to {self.bound}"
        return f"not reached among the first {MOST_STATES:,} states at bound {self.bound}"

    def trace(self) -> Trace:
        """The run with the event; of what is not reached, the one step, from its own first state."""
        design = without(self.missing)
        if self.run is not None:
            return record(CORE, [*self.run, self.event], design, self.bound)
        states = (self.before, self.after)
        return Trace(
            machine=CORE.name,
            without=(str(self.missing),),
            bound=self.bound,
            events=(str(self.event),),
            states=tuple(map(encode, states)),
            verdicts=tuple(verdicts(CORE, state) for state in states),
        )


def countermodel(event: str, group: Group, missing: Clause) -> Countermodel | None:
    """A smallest state from which the event, without a clause, breaks the invariant of this group.

    Reached states and literal violations are preferred. None where there is none of up to
    `GREATEST_BOUND` messages.
    """
    literal = LITERAL.get(group)
    goals: list[Callable[[Slots], Any]] = [] if literal is None else [literal]
    if group is not Group.CAL:
        goals.append(lambda s: _strengthened(s, group))
    found: Countermodel | None = None
    for holds in goals:
        for bound in range(1, GREATEST_BOUND + 1):
            here = _search(event, missing, bound, holds)
            if here is not None and here.run is not None:
                return here
            found = found or here
        if found is not None:
            return found
    return found


def _strengthened(s: Slots, group: Group) -> Any:
    conjuncts = [conjunct for conjunct in INVARIANT if conjunct.group is group]
    return s.logic.every(*all_instances(s, conjuncts, s.named))


def _search(event: str, missing: Clause, bound: int, holds: Callable[[Slots], Any]) -> Countermodel | None:
    """Ask for states one after the other, until one is reached; the first one if none is."""
    room = Room(bound, max(1, bound // 2), max(1, bound // 2))
    before, move = arbitrary_slots(room, "before_"), arbitrary_move(event)
    design = without(missing)
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(*_well_formed(before, bound), *all_instances(before, INVARIANT, before.named), inv_cal(before))
    solver.add(*_core_costs(before, move), guard(before, move, design, before.named))
    now = stepped(before, move, design)
    solver.add(now.frame.length <= bound, TERMS.negate(holds(now)))
    # Most runs end with all observed and measured, so such states are asked for first.
    settled = TERMS.every(
        *(at == before.frame.length for at in (before.frame.last_observed, before.frame.gauge_length))
    )
    first: Countermodel | None = None
    for _ in range(TRIES):
        answer = solver.check(settled)
        if answer == z3.unsat:
            answer = solver.check()
        if answer == z3.unknown:
            raise TimeoutError(f"{event} without {missing} at bound {bound}: {solver.reason_unknown()}")
        if answer == z3.unsat:
            break
        found = _concrete(solver.model(), before, move, missing, bound)
        if found.run is not None:
            return found
        first = first or found
        solver.add(z3.Not(_is(before, _evaluated(before, solver.model()))))
    return first


def _well_formed(s: Slots, bound: int) -> list[Any]:
    """Slots are filled from the left, and a field that means nothing has its fixed value."""
    f, rows = s.frame, ([node.span.present for node in s.nodes], [memory.present for memory in s.frozen])
    facts = [implies(TERMS, later, earlier) for row in rows for earlier, later in pairwise(row)]
    facts += [
        f.length <= bound,
        implies(TERMS, TERMS.negate(f.has_state), same(TERMS, f.state, NO_NODE.covers)),
    ]
    idle = TERMS.every(f.carrier == VOID, TERMS.negate(f.opens), TERMS.negate(f.closes))
    facts.append(TERMS.some(f.pending, idle))
    for i, message in enumerate(s.messages):
        kind = TERMS.every(TERMS.negate(message.opens), TERMS.negate(message.closes))
        facts += [
            implies(TERMS, i >= f.length, same(TERMS, message, NO_MESSAGE)),
            TERMS.some(message.carrier, kind),
        ]
    for node in s.nodes:
        is_open = TERMS.every(node.span.closed_at == 0, same(TERMS, node.covers, NO_NODE.covers))
        facts += [
            TERMS.some(node.span.present, same(TERMS, node, NO_NODE)),
            TERMS.some(node.span.closed, is_open),
        ]
    facts += [TERMS.some(memory.present, same(TERMS, memory, NO_FROZEN)) for memory in s.frozen]
    return facts


def _core_costs(s: Slots, move: Move) -> list[Any]:
    """Tokens as the core profile has them, so that the model can replay."""
    facts = [move.tokens == (CORE_COSTS.summary if move.name == "ApplyCompaction" else CORE_COSTS.message)]
    facts += [move.receipt_tokens == CORE_COSTS.message, move.memory_tokens == CORE_COSTS.memory]
    memories = [(TERMS.every(node.span.present, node.span.closed), node.covers) for node in s.nodes]
    memories += [(memory.present, memory.covers) for memory in s.frozen]
    memories += [(s.frame.has_state, s.frame.state)]
    facts += [implies(TERMS, there, covers.tokens == CORE_COSTS.memory) for there, covers in memories]
    for i, message in enumerate(s.messages):
        cost = TERMS.choose(message.summary, CORE_COSTS.summary, CORE_COSTS.message)
        facts.append(implies(TERMS, i < s.frame.length, message.tokens == cost))
    return facts


def _is(s: Slots, found: Slots) -> Any:
    """The state is this one, but for the gauge's tokens."""
    return equal(replace(s, gauge=0), replace(found, gauge=0))


def _concrete(model: Any, s: Slots, move: Move, missing: Clause, bound: int) -> Countermodel:
    before = state_of(_evaluated(s, model))
    event = _event(move, model)
    design = without(missing)
    reason = CORE.guard(before, event, design, bound)
    if reason is not None:
        raise AssertionError(f"a countermodel whose event is not enabled: {event}: {reason}")
    after = CORE.effect(before, event, design)
    predicted = stepped(abstract(before, s.room), move_of(event), design)
    if normal(predicted) != normal(abstract(after, s.room)):
        raise AssertionError(f"a countermodel that the model does not follow: {event} in {before}")
    broken = tuple(violation.invariant for violation in CORE.violations(after))
    run = reach(missing, bound).run_to(before)
    return Countermodel(event, missing, bound, before, after, broken, run)


def _evaluated(s: Slots, model: Any) -> Slots:
    """The state in slots with the integers and truths that a solver's model gives it."""

    def value(term: Any) -> Any:
        if isinstance(term, tuple):
            return type(term)._make(map(value, term)) if hasattr(term, "_make") else tuple(map(value, term))
        found = model.eval(term, model_completion=True)
        return z3.is_true(found) if z3.is_bool(found) else found.as_long()

    parts = (value(part) for part in (s.messages, s.nodes, s.frozen))
    return normal(Slots(INTEGERS, value(s.frame), value(s.gauge), *parts))


def _event(move: Move, model: Any) -> Event:
    def value(term: Any) -> Any:
        return model.eval(term, model_completion=True)

    if move.name == "Call":
        opens, closes = (z3.is_true(value(truth)) for truth in (move.opens, move.closes))
        return event_from_name(f"Call({_kind(opens, closes)})")
    return event_from_name(f"{move.name}({value(move.at).as_long()})" if move.name in _INDEXED else move.name)


def _kind(opens: bool, closes: bool) -> Kind:
    return Kind.NEXT if opens and closes else Kind.OPEN if opens else Kind.CLOSE


def state_of(s: Slots) -> State:
    """A state of the model with this index level: the inverse of `abstract`, ids being places."""
    f = s.frame
    history = tuple(_message(i, facts) for i, facts in enumerate(s.messages[: f.length]))
    nodes = tuple(
        Node(n.span.opened_at, n.span.closed_at if n.span.closed else None, _memory(n.covers))
        for n in s.nodes
        if n.span.present
    )
    frozen = tuple(Frozen(m.start, m.end, _some(m.covers)) for m in s.frozen if m.present)
    state = State(history=history, gauge=Gauge(f.gauge_length, s.gauge), last_observed=f.last_observed)
    tree = state.tree._replace(
        nodes=nodes,
        frozen=frozen,
        frozen_end=f.frozen_end,
        state=_memory(f.state) if f.has_state else None,
        epoch_start_at=f.epoch_start_at,
    )
    state = state._replace(tree=tree, enabled=f.enabled, next_id=f.length)
    if not f.pending:
        return state
    cursor = None if state.cursor is None else nodes[state.cursor].opened_at
    return state._replace(pending=Pending(_kind(f.opens, f.closes), f.carrier, cursor))


def _message(i: int, facts: MessageFacts) -> Message:
    if facts.carrier:
        transition = _kind(facts.opens, facts.closes)
        return Message(i, Role.ASSISTANT, Origin.MODEL, facts.tokens, i, transition)
    if facts.receipt:
        return Message(i, Role.TOOL, Origin.TOOL, facts.tokens, i - 1)
    if facts.prompt:
        return Message(i, Role.USER, Origin.USER, facts.tokens)
    if facts.summary:
        return Message(i, Role.USER, Origin.SUMMARY, facts.tokens)
    return Message(i, Role.ASSISTANT, Origin.MODEL, facts.tokens)


def _memory(covers: Covers) -> Memory | None:
    return None if covers == NO_NODE.covers else _some(covers)


def _some(covers: Covers) -> Memory:
    return Memory(covers.tokens, tuple(range(covers.start, covers.end)))


def _key(state: State, bound: int) -> Slots:
    """A state's index level; how the gauge came by its tokens does not count, nor how many they are."""
    room = Room(bound, max(1, bound // 2), bound)
    return replace(normal(abstract(state, room)), gauge=0)


class Reach:
    """A search from the initial state that goes on only as far as it is asked to."""

    def __init__(self, missing: Clause, bound: int) -> None:
        self.design: Clauses = without(missing)
        self.bound = bound
        self._runs: dict[State, tuple[Event, ...]] = {CORE.initial: ()}
        self._by_key: dict[Slots, tuple[Event, ...]] = {_key(CORE.initial, bound): ()}
        self._waiting = deque([CORE.initial])

    @property
    def exhausted(self) -> bool:
        """Every state within the bound has been visited: what was not met is unreachable."""
        return not self._waiting

    def run_to(self, state: State) -> tuple[Event, ...] | None:
        """A shortest run without a violation to a state of this index level; None where there is none.

        After `MOST_STATES` states it gives up: see `exhausted`.
        """
        key = _key(state, self.bound)
        while key not in self._by_key and self._waiting and len(self._runs) < MOST_STATES:
            before = self._waiting.popleft()
            for event in CORE.enabled(before, self.bound, self.design):
                now = CORE.canonical(CORE.effect(before, event, self.design))
                if now in self._runs or CORE.violations(now):
                    continue
                self._runs[now] = (*self._runs[before], event)
                self._by_key.setdefault(_key(now, self.bound), self._runs[now])
                self._waiting.append(now)
        return self._by_key.get(key)


@lru_cache(maxsize=8)
def reach(missing: Clause, bound: int) -> Reach:
    """The search under a fault, shared by all countermodels that it labels."""
    return Reach(missing, bound)
