"""Bounded model checking: some steps of the whole machine, with events and token counts left open.

The steps are unrolled into one formula over states in slots. What the events are, where they cut and
what every message and memory costs is the solver's to choose; the history is bounded, as in a search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import z3

from foldproof.model.design import DESIGN
from foldproof.model.events import Event, event_from_name
from foldproof.model.index import Truth
from foldproof.model.machine import Clauses
from foldproof.model.state import INITIAL
from foldproof.proofs.cells import EVENTS
from foldproof.proofs.facts import Covers, FrozenFacts, MessageFacts, Move, NodeFacts
from foldproof.proofs.formula import Formula
from foldproof.proofs.literal import LITERAL, holds, stepped
from foldproof.proofs.logic import TERMS, implies
from foldproof.proofs.premise import guard
from foldproof.proofs.slots import Room, Slots, abstract, equal
from foldproof.proofs.world import arbitrary_frame, arbitrary_move, arbitrary_span, boolean, integer


def room_for(bound: int, steps: int) -> Room:
    """What a run of so many steps can fill: a node takes two messages, a frozen memory one and a step."""
    return Room(bound, max(1, bound // 2), max(1, min(bound, steps // 2)))


def arbitrary_slots(room: Room, prefix: str) -> Slots:
    """A state in slots of which nothing is known."""
    messages = tuple(_message(f"{prefix}message{i}_") for i in range(room.messages))
    nodes = tuple(
        NodeFacts(arbitrary_span(f"{prefix}node{j}_"), _covers(f"{prefix}node{j}_"))
        for j in range(room.nodes)
    )
    frozen = tuple(_frozen(f"{prefix}frozen{j}_") for j in range(room.frozen))
    return Slots(TERMS, arbitrary_frame(prefix), integer(f"{prefix}gauge"), messages, nodes, frozen)


def _message(prefix: str) -> MessageFacts:
    kinds = ("prompt", "carrier", "receipt", "summary", "opens", "closes")
    prompt, carrier, receipt, summary, opens, closes = (boolean(prefix + kind) for kind in kinds)
    return MessageFacts(prompt, carrier, receipt, summary, opens, closes, integer(f"{prefix}tokens"))


def _covers(prefix: str) -> Covers:
    start, end = integer(f"{prefix}covers_start"), integer(f"{prefix}covers_end")
    return Covers(start, end, boolean(f"{prefix}intact"), integer(f"{prefix}memory_tokens"))


def _frozen(prefix: str) -> FrozenFacts:
    start, end = integer(f"{prefix}start"), integer(f"{prefix}end")
    return FrozenFacts(boolean(f"{prefix}present"), start, end, _covers(prefix))


@dataclass(frozen=True)
class Step:
    """One step of the unrolling: which event, and its parameters."""

    chosen: Any
    move: Move

    def takes(self, event: str) -> Truth:
        """The step is this event."""
        return self.chosen == EVENTS.index(event)


class Unrolling:
    """A run of so many steps from the initial state, its events and costs left open."""

    def __init__(self, bound: int, steps: int, design: Clauses = DESIGN) -> None:
        self.bound, self.design = bound, design
        self.room = room_for(bound, steps)
        first = arbitrary_slots(self.room, "s0_")
        self.states = [first]
        self.steps: list[Step] = []
        self.facts: list[Truth] = [equal(first, abstract(INITIAL, self.room))]
        for number in range(steps):
            self._unroll(number)

    def _unroll(self, number: int) -> None:
        before = self.states[-1]
        now = arbitrary_slots(self.room, f"s{number + 1}_")
        step = Step(integer(f"event{number}"), arbitrary_move("", f"move{number}_"))
        self.facts += [step.chosen >= 0, step.chosen < len(EVENTS)]
        costs = (step.move.tokens, step.move.receipt_tokens, step.move.memory_tokens)
        self.facts += [cost >= 0 for cost in costs]
        for event in EVENTS:
            move = step.move._replace(name=event)
            enabled = TERMS.every(
                guard(before, move, self.design, before.named), self._has_room(before, move)
            )
            taken = TERMS.every(enabled, equal(now, stepped(before, move, self.design)))
            self.facts.append(implies(TERMS, step.takes(event), taken))
        self.states.append(now)
        self.steps.append(step)

    def _has_room(self, before: Slots, move: Move) -> Truth:
        """Events that store messages stay within the bound, as in a search."""
        stored = {"AppendUser": 1, "AppendReply": 1, "Call": 2}.get(move.name, 0)
        return before.frame.length + stored <= self.bound if stored else TERMS.truth(True)

    def first_violation(self, invariants: tuple[str, ...] | None = None) -> list[Truth]:
        """The last state violates one of the invariants, and no state before it violates any."""
        *earlier, last = self.states
        chosen = (
            LITERAL if invariants is None else {name: LITERAL[name] for name in LITERAL if name in invariants}
        )
        violated = TERMS.some(*(TERMS.negate(invariant(last)) for invariant in chosen.values()))
        return [*map(holds, earlier), violated]

    def events(self, model: Any) -> tuple[Event, ...]:
        """The events that a countermodel has chosen."""
        return tuple(_event(step, model) for step in self.steps)


def _event(step: Step, model: Any) -> Event:
    def value(term: Any) -> Any:
        return model.eval(term, model_completion=True)

    name = EVENTS[value(step.chosen).as_long()]
    if name == "Call":
        opens, closes = (z3.is_true(value(truth)) for truth in (step.move.opens, step.move.closes))
        return event_from_name(f"Call({'next' if opens and closes else 'open' if opens else 'close'})")
    if name in ("Undo", "CommitState", "CommitIndex", "ApplyCompaction"):
        return event_from_name(f"{name}({value(step.move.at).as_long()})")
    return event_from_name(name)


def shortest_violation(
    bound: int,
    most_steps: int,
    design: Clauses,
    invariants: tuple[str, ...] | None = None,
    timeout: float = 300,
) -> tuple[Event, ...] | None:
    """The events of a shortest run to a violation, or None if there is none of at most so many steps.

    Raises TimeoutError where the solver does not know.
    """
    for steps in range(most_steps + 1):
        run = Unrolling(bound, steps, design)
        solver = z3.Solver()
        solver.set("timeout", int(timeout * 1000))
        solver.add(*run.facts, *run.first_violation(invariants))
        answer = solver.check()
        if answer == z3.unknown:
            raise TimeoutError(f"{steps} steps at bound {bound}: {solver.reason_unknown()}")
        if answer == z3.sat:
            return run.events(solver.model())
    return None


def no_violation(bound: int, steps: int, design: Clauses = DESIGN) -> Formula:
    """No run of so many steps ends in the first violation of an invariant, whatever tokens cost."""
    run = Unrolling(bound, steps, design)
    *earlier, violated = run.first_violation()
    return Formula([*run.facts, *earlier], TERMS.negate(violated))
