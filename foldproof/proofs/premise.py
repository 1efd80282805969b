"""What is known before an event: its guard, and instances of the strengthened invariant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from foldproof.model import index
from foldproof.model.design import Clause
from foldproof.model.index import Index, Truth
from foldproof.model.machine import Clauses
from foldproof.proofs.facts import Move
from foldproof.proofs.invariant import Conjunct, Parts
from foldproof.proofs.logic import implies


class Named(NamedTuple):
    """The parts of a state that a statement for all parts is instantiated at.

    ``claimed`` are the indices at which a statement says that some node or memory exists: each such
    instance names a further part, so they are fewer.
    """

    indices: Sequence[Index]
    claimed: Sequence[Index]
    nodes: Sequence[Any]
    frozen: Sequence[Any]


def instances(s: Parts, conjunct: Conjunct, named: Named) -> Iterator[Truth]:
    """A conjunct at every choice of the named parts that it speaks of."""
    kinds: dict[str, Sequence[Any]] = {
        "i": named.indices,
        "e": named.claimed,
        "n": named.nodes,
        "f": named.frozen,
    }
    for choice in product(*(kinds[kind] for kind in conjunct.over)):
        yield conjunct.holds(s, *choice)


def all_instances(s: Parts, conjuncts: Iterable[Conjunct], named: Named) -> list[Truth]:
    """Several conjuncts, each at every choice of the named parts."""
    return [truth for conjunct in conjuncts for truth in instances(s, conjunct, named)]


def guard(s: Parts, move: Move, design: Clauses, named: Named) -> Truth:
    """The event's guard; where it speaks of all messages or nodes, at the named ones."""
    f, logic, at = s.frame, s.logic, move.at
    idle = logic.negate(f.pending)
    match move.name:
        case "AppendUser" | "AppendReply":
            return idle
        case "Call":
            kind = logic.some(move.opens, move.closes)
            return logic.every(f.enabled, idle, kind, implies(logic, move.closes, s.has_cursor))
        case "StepEnd":
            return f.enabled
        case "Undo":
            past_summary = (
                implies(logic, logic.every(at <= i, i < f.length), logic.negate(s.message(i).summary))
                for i in named.indices
            )
            in_epoch = at >= f.epoch_start_at if Clause.D4 in design else logic.truth(True)
            return logic.every(at >= 0, at < f.length, s.message(at).prompt, in_epoch, *past_summary)
        case "Clear":
            return f.length > 0
        case "CommitState" | "CommitIndex":
            strictly = move.name == "CommitState"
            past = index.is_past(at, f.epoch_start_at, f.frozen_end, strictly)
            return logic.every(f.enabled, past, _may_compact(s, at, design, named))
        case "ApplyCompaction":
            return logic.every(logic.negate(f.enabled), at >= 1, _may_compact(s, at, design, named))
    return logic.truth(True)


def _may_compact(s: Parts, k: Index, design: Clauses, named: Named) -> Truth:
    logic = s.logic
    idle = logic.negate(s.frame.pending) if Clause.D5 in design else logic.truth(True)
    whole_call = implies(logic, k < s.frame.length, logic.negate(s.message(k).receipt))
    whole_spans = (logic.negate(index.parts(s.node(n).span, k)) for n in named.nodes)
    return logic.every(idle, k <= s.frame.length, whole_call, *whole_spans)
