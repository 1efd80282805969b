"""What the strengthened invariant is for, and what it rests on: first state, literal invariants, resume."""

from __future__ import annotations

from foldproof.model import index
from foldproof.model.index import Index, Truth
from foldproof.model.state import INITIAL
from foldproof.proofs.formula import Formula
from foldproof.proofs.invariant import INVARIANT, PARTITION
from foldproof.proofs.logic import TERMS, implies
from foldproof.proofs.premise import Named, all_instances
from foldproof.proofs.slots import Room, abstract
from foldproof.proofs.world import Unbounded, integer


def initial_state(last_observed: int = 0) -> Formula:
    """A new session has the invariant; ``last_observed`` is there to be wrong."""
    s = Unbounded()
    first = abstract(INITIAL, Room(0, 0, 0)).frame
    equations = [
        ours == value
        for ours, value in zip(s.frame, first, strict=True)
        if not isinstance(value, tuple)  # a state memory that is not there has no fields
    ]
    s.frame = s.frame._replace(last_observed=s.frame.last_observed + last_observed)
    i, n, m, f, g = map(integer, ("i", "n", "m", "f", "g"))
    nothing = [TERMS.negate(s.node(key).span.present) for key in (n, m)]
    nothing += [TERMS.negate(s.frozen_memory(key).present) for key in (f, g)]
    goals = all_instances(s, (*INVARIANT, PARTITION), Named([i], [i], [n, m], [f, g]))
    return Formula(equations + nothing, TERMS.every(*goals))


def _premises(s: Unbounded) -> tuple[Named, list[Truth]]:
    i, n, m = map(integer, ("i", "n", "m"))
    f, g = integer("f"), integer("g")
    nodes = [n, m, s.opener(i), s.closer(i)]
    places: list[Index] = [i, i + 1, s.frame.carrier, s.frame.carrier + 1]
    for key in nodes:
        span = s.node(key).span
        opening, closing = index.opening_carrier(span), index.closing_carrier(span)
        places += [opening, opening + 1, closing, closing + 1]
    named = Named(places, [i], nodes, [f, g])
    return named, [*all_instances(s, INVARIANT, named), *s.cursor_is_last(nodes)]


def literal_idx(beyond: int = 0) -> Formula:
    """INV-IDX as the kernel states it follows, anchor by anchor."""
    s = Unbounded()
    _, hypotheses = _premises(s)
    f, span = s.frame, s.node(integer("n")).span
    cursors = TERMS.every(
        *(x + beyond <= f.length for x in (f.epoch_start_at, f.last_observed, f.gauge_length))
    )
    return Formula(hypotheses, TERMS.every(cursors, index.anchored(span, f.length, TERMS)))


def literal_sync(beyond: int = 0) -> Formula:
    """INV-SYNC as the kernel states it follows, as the equality of two sorted lists without repeats.

    At any index of the current epoch: the tree records an open or a close exactly where an accepted
    call that is not pending asks for it, and two different nodes never record the same one.
    """
    s = Unbounded()
    _, hypotheses = _premises(s)
    f, i, n, m = s.frame, integer("i"), integer("n"), integer("m")
    epoch, here = f.epoch_start_at, s.message(i)
    inside = TERMS.every(epoch <= i, i + 1 < f.length)
    accepted = TERMS.every(
        inside, here.carrier, s.message(i + 1).receipt, TERMS.negate(TERMS.every(f.pending, i == f.carrier))
    )

    def opens(key: Index) -> Truth:
        span = s.node(key).span
        return TERMS.every(index.records_open(span, epoch), index.opening_carrier(span) + beyond == i)

    def closes(key: Index) -> Truth:
        span = s.node(key).span
        return TERMS.every(index.records_close(span, epoch), index.closing_carrier(span) + beyond == i)

    apart = TERMS.negate(n == m)
    return Formula(
        hypotheses,
        TERMS.every(
            implies(TERMS, opens(n), accepted, here.opens),
            implies(TERMS, closes(n), accepted, here.closes),
            implies(TERMS, TERMS.every(accepted, here.opens), opens(s.opener(i))),
            implies(TERMS, TERMS.every(accepted, here.closes), closes(s.closer(i))),
            implies(TERMS, TERMS.every(apart, opens(n)), TERMS.negate(opens(m))),
            implies(TERMS, TERMS.every(apart, closes(n)), TERMS.negate(closes(m))),
        ),
    )


def resume_commits_pending_only(forgets_pending: bool = False) -> Formula:
    """What a resume finds stored and not recorded is the pending transition, and it finds that.

    The model's resume walks over all receipts of the epoch; so one commit is all that it does.
    """
    s = Unbounded()
    _, hypotheses = _premises(s)
    f, i = s.frame, integer("i")
    here = s.message(i)
    accepted = TERMS.every(f.epoch_start_at <= i, i + 1 < f.length, here.carrier, s.message(i + 1).receipt)
    recorded = TERMS.every(
        implies(TERMS, here.opens, s.opened_by(i)), implies(TERMS, here.closes, s.closed_by(i))
    )
    is_pending = TERMS.every(f.pending, i == f.carrier)
    excused = TERMS.truth(False) if forgets_pending else is_pending
    found = implies(TERMS, f.pending, f.epoch_start_at <= f.carrier, f.carrier + 1 < f.length)
    unrecorded = implies(TERMS, TERMS.every(accepted, TERMS.negate(recorded)), excused)
    return Formula(hypotheses, TERMS.every(found, unrecorded))
