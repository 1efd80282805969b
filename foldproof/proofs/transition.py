"""The transition relation at index level: what each event does to each index, node and memory.

`foldproof.model.step` says what an event does to a session; this says what that does to one arbitrary
part of it, by the same functions of `foldproof.model.index`. An exhaustive test holds the two equal:
for every transition within a bound, under the design and under each fault, the index level of the
state after is what is computed here from the index level of the state before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from foldproof.model import index
from foldproof.model.design import Clause
from foldproof.model.index import VOID, Index, Span, Truth
from foldproof.model.machine import Clauses
from foldproof.proofs.facts import Covers, Frame, FrozenFacts, MessageFacts, Move, NodeFacts
from foldproof.proofs.logic import Reasoning, pick

COMMITTING = ("StepEnd", "Restore", "FlagFlip")
"""The events that may write a pending transition into the tree."""

TRUNCATING = ("Undo", "Clear")


@dataclass(frozen=True)
class Effect:
    """One event in one frame, under a design.

    ``has_cursor`` says whether the current epoch has an open node. ``frozen_end_kept`` is the end of
    the last frozen memory that outlives the event's truncation (0 without one): a fact about all
    frozen memories that the frame alone does not hold.
    """

    logic: Reasoning
    before: Frame
    move: Move
    design: Clauses
    has_cursor: Truth
    frozen_end_kept: Index

    @property
    def cut(self) -> Index:
        """The length that a truncating event cuts the history to."""
        return 0 if self.move.name == "Clear" else self.move.at

    @property
    def repairs(self) -> Truth:
        """Whether a truncation repairs the tree (D1a, D6)."""
        clause = {"Undo": Clause.D1A_UNDO, "Clear": Clause.D1A_CLEAR}.get(self.move.name)
        if clause not in self.design:
            return self.logic.truth(False)
        if Clause.D6_REPAIR in self.design:
            return self.logic.truth(True)
        return self.before.enabled

    @property
    def settles(self) -> Truth:
        """Whether the event ends a step: it looks for the pending transition and observes the history."""
        if self.move.name == "StepEnd":
            return self.logic.truth(True)
        if self.move.name == "FlagFlip" and Clause.D6_SETTLE in self.design:
            return self.logic.every(self.before.enabled, self.before.pending)
        return self.logic.truth(False)

    @property
    def commits(self) -> Truth:
        """Whether the event writes the pending transition into the tree.

        A resume commits whatever the tree lacks; that this is the pending transition, if anything, is
        an obligation of its own (``Restore/only-pending``).
        """
        f, logic = self.before, self.logic
        if self.move.name == "Restore":
            found = f.carrier >= f.epoch_start_at if Clause.D8 in self.design else logic.truth(False)
        else:
            start = f.last_observed
            if Clause.D1C in self.design:
                start = index.clamp(start, f.length, logic)
            found = logic.every(self.settles, f.carrier >= start)
        return logic.every(f.pending, found, logic.some(logic.negate(f.closes), self.has_cursor))

    def frame(self) -> Frame:
        """The frame after the event; the gauge's length is the caller's, by `rebases`."""
        f, at = self.before, self.move.at
        match self.move.name:
            case "AppendUser" | "AppendReply":
                return f._replace(length=f.length + 1)
            case "Call":
                return f._replace(
                    length=f.length + 2,
                    pending=self.logic.truth(True),
                    carrier=f.length,
                    opens=self.move.opens,
                    closes=self.move.closes,
                )
            case "Undo" | "Clear":
                return self._truncated()
            case "CommitState":
                memory = Covers(f.frozen_end, at, self.logic.truth(True), self.move.memory_tokens)
                return f._replace(has_state=self.logic.truth(True), state=memory, epoch_start_at=at)
            case "CommitIndex":
                return f._replace(has_state=self.logic.truth(False), frozen_end=at, epoch_start_at=at)
            case "ApplyCompaction":
                return self._compacted()
            case "StepEnd" | "Restore" | "FlagFlip":
                return self._settled()
        return f  # Measure: the gauge alone

    def _settled(self) -> Frame:
        f, logic = self.before, self.logic
        settles = logic.truth(True) if self.move.name == "Restore" else self.settles
        return f._replace(
            pending=logic.every(f.pending, logic.negate(settles)),
            last_observed=logic.choose(settles, f.length, f.last_observed),
            enabled=logic.negate(f.enabled) if self.move.name == "FlagFlip" else f.enabled,
        )

    def _truncated(self) -> Frame:
        f, cut, logic = self.before, self.cut, self.logic
        stays = index.survives(f.epoch_start_at, cut)
        cleared = self.move.name == "Clear"
        observed = f.last_observed
        if Clause.D1C in self.design:
            observed = 0 if cleared else index.clamp(observed, cut, logic)
        return f._replace(
            length=cut,
            frozen_end=logic.choose(self.repairs, self.frozen_end_kept, f.frozen_end),
            epoch_start_at=logic.choose(
                self.repairs,
                logic.choose(stays, f.epoch_start_at, self.frozen_end_kept),
                f.epoch_start_at,
            ),
            has_state=logic.every(f.has_state, logic.some(logic.negate(self.repairs), stays)),
            state=self._moved(f.state),
            last_observed=observed,
            pending=logic.truth(False) if cleared else logic.every(f.pending, f.carrier < cut),
        )

    def _compacted(self) -> Frame:
        f, k, logic = self.before, self.move.at, self.logic
        length = index.translate(f.length, k)
        observed = f.last_observed
        if Clause.D1C in self.design:
            observed = index.clamp(observed, length, logic)
        carrier = logic.choose(f.carrier >= k, index.translate(f.carrier, k), VOID)
        moved = f._replace(length=length, state=self._moved(f.state), last_observed=observed, carrier=carrier)
        if Clause.D1A_COMPACT not in self.design:
            return moved
        return moved._replace(frozen_end=0, epoch_start_at=0, has_state=logic.truth(False))

    def rebases(self, tree_changed: Truth) -> Truth:
        """Whether the gauge restarts at the length of the history."""
        f, logic = self.before, self.logic
        match self.move.name:
            case "Undo":
                return logic.some(index.outlives(f.gauge_length, self.cut), tree_changed)
            case "StepEnd":
                return self._rebased_by_close()
            case "FlagFlip":
                always = Clause.D6_REBASE in self.design
                return logic.truth(True) if always else self._rebased_by_close()
            case "AppendUser" | "AppendReply" | "Call":
                return logic.truth(False)
        return logic.truth(True)

    def _rebased_by_close(self) -> Truth:
        if Clause.D7 not in self.design:
            return self.logic.truth(False)
        return self.logic.every(self.commits, self.before.closes)

    @property
    def rebased_from_raw(self) -> bool:
        """The fault of D1b and D2_resume: a rebase takes the raw history for the view."""
        if self.move.name == "Restore":
            return Clause.D2_RESUME not in self.design
        return self.move.name in ("Undo", "ApplyCompaction") and Clause.D1B not in self.design

    def node(self, node: NodeFacts, is_cursor: Truth) -> NodeFacts:
        """A node that was there before, after the event."""
        logic = self.logic
        if self.move.name in COMMITTING:
            closing = logic.every(self.commits, self.before.closes, is_cursor)
            closed_at = index.carrier_closes_at(self.before.carrier)
            span = Span(node.span.present, node.span.opened_at, logic.truth(True), closed_at)
            start, end = index.spoken_for(span)
            memory = Covers(start, end, logic.truth(True), self.move.memory_tokens)
            return pick(logic, closing, NodeFacts(span, memory), node)
        if self.move.name in TRUNCATING:
            repair = index.rolled_back if Clause.D9 in self.design else index.clamped
            span = pick(logic, self.repairs, repair(node.span, self.cut, logic), node.span)
            return NodeFacts(span, self._moved(node.covers))
        if self.move.name == "ApplyCompaction":
            kept = Clause.D1A_COMPACT not in self.design
            span = node.span if kept else index.translated(node.span, self.move.at, logic)
            return NodeFacts(span, self._moved(node.covers))
        return node

    def new_node(self) -> NodeFacts:
        """The node that the event opens; not present where it opens none."""
        logic, opened_at = self.logic, index.carrier_opens_at(self.before.carrier)
        opening = logic.truth(False)
        if self.move.name in COMMITTING:
            opening = logic.every(self.commits, self.before.opens)
        return NodeFacts(Span(opening, opened_at, logic.truth(False), 0), Covers(0, 0, logic.truth(False), 0))

    def frozen(self, memory: FrozenFacts) -> FrozenFacts:
        """A frozen memory that was there before, after the event."""
        logic, present = self.logic, memory.present
        if self.move.name in TRUNCATING:
            kept = logic.some(logic.negate(self.repairs), index.survives(memory.end, self.cut))
            present = logic.every(present, kept)
        elif self.move.name == "ApplyCompaction" and Clause.D1A_COMPACT in self.design:
            present = logic.truth(False)
        return memory._replace(present=present, covers=self._moved(memory.covers))

    def new_frozen(self) -> FrozenFacts:
        """The frozen memory that the event adds; not present where it adds none."""
        start, end = self.before.frozen_end, self.move.at
        adds = self.logic.truth(self.move.name == "CommitIndex")
        return FrozenFacts(
            adds, start, end, Covers(start, end, self.logic.truth(True), self.move.memory_tokens)
        )

    def message(self, i: Index, before: Callable[[Index], MessageFacts]) -> MessageFacts:
        """The message at an index after the event, from the messages before it."""
        logic, length = self.logic, self.before.length
        match self.move.name:
            case "AppendUser" | "AppendReply":
                kind = "prompt" if self.move.name == "AppendUser" else "reply"
                return pick(logic, i == length, self._stored(kind, self.move.tokens), before(i))
            case "Call":
                receipt = self._stored("receipt", self.move.receipt_tokens)
                carrier = self._stored("carrier", self.move.tokens)
                rest = pick(logic, i == length + 1, receipt, before(i))
                return pick(logic, i == length, carrier, rest)
            case "ApplyCompaction":
                summary = self._stored("summary", self.move.tokens)
                return pick(logic, i == 0, summary, before(i - index.translate(0, self.move.at)))
        return before(i)

    def _stored(self, kind: str, tokens: Index) -> MessageFacts:
        is_a = (self.logic.truth(kind == name) for name in ("prompt", "carrier", "receipt", "summary"))
        prompt, carrier, receipt, summary = is_a
        no = self.logic.truth(False)
        opens, closes = (self.move.opens, self.move.closes) if kind == "carrier" else (no, no)
        return MessageFacts(prompt, carrier, receipt, summary, opens, closes, tokens)

    def _moved(self, covers: Covers) -> Covers:
        """Where the ids of a memory lie after the event; not intact once one of them is gone."""
        if self.move.name in TRUNCATING:
            return covers._replace(
                intact=self.logic.every(covers.intact, index.survives(covers.end, self.cut))
            )
        if self.move.name == "ApplyCompaction":
            k = self.move.at
            return Covers(
                index.translate(covers.start, k),
                index.translate(covers.end, k),
                self.logic.every(covers.intact, covers.start >= k),
                covers.tokens,
            )
        return covers
