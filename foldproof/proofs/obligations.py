"""All obligations, by name: the grid of events and invariants, its lemmas and its consequences."""

from __future__ import annotations

from foldproof.model.design import DESIGN, Clause, without
from foldproof.model.machine import Clauses
from foldproof.proofs import consequences, gauge
from foldproof.proofs.bounded import no_violation
from foldproof.proofs.cells import EVENTS, inductive_step
from foldproof.proofs.extended import EXTENDED
from foldproof.proofs.formula import Formula, Mutant, Obligation
from foldproof.proofs.invariant import Group
from foldproof.proofs.lemmas import LEMMAS
from foldproof.proofs.slip import Slip

CLAUSES_THAT_RULE: dict[tuple[str, Group], tuple[Clause, ...]] = {
    ("Undo", Group.IDX): (Clause.D1A_UNDO, Clause.D1C, Clause.D6_REPAIR, Clause.D9),
    ("Undo", Group.CAL): (Clause.D1B, Clause.D1A_UNDO),
    ("Undo", Group.VIEW): (Clause.D1A_UNDO, Clause.D6_REPAIR, Clause.D9),
    ("Undo", Group.SYNC): (Clause.D9,),
    ("Undo", Group.LAMINAR): (Clause.D9,),
    ("Clear", Group.IDX): (Clause.D1A_CLEAR, Clause.D1C, Clause.D6_REPAIR, Clause.D9),
    ("Clear", Group.CAL): (Clause.D1A_CLEAR,),
    ("Clear", Group.VIEW): (Clause.D1A_CLEAR, Clause.D6_REPAIR, Clause.D9),
    ("Clear", Group.SYNC): (Clause.D9,),
    ("Clear", Group.LAMINAR): (Clause.D9,),
    ("ApplyCompaction", Group.IDX): (Clause.D1A_COMPACT, Clause.D1C),
    ("ApplyCompaction", Group.VIEW): (Clause.D1A_COMPACT,),
    ("ApplyCompaction", Group.SYNC): (Clause.D1A_COMPACT,),
    ("CommitState", Group.SYNC): (Clause.D5,),
    ("CommitIndex", Group.SYNC): (Clause.D5,),
    ("StepEnd", Group.CAL): (Clause.D7,),
    ("Restore", Group.CAL): (Clause.D2_RESUME,),
    ("Restore", Group.SYNC): (Clause.D8,),
    ("FlagFlip", Group.CAL): (Clause.D6_REBASE,),
    ("FlagFlip", Group.SYNC): (Clause.D6_SETTLE,),
}
"""The clauses without which a step is not inductive, the first one its mutant; a test holds it complete."""

_SAYS = {
    Group.IDX: "every index stays in the history",
    Group.CAL: "the gauge plus what came after it stays the size of the view",
    Group.VIEW: "every message stays accounted for exactly once",
    Group.SYNC: "the tree stays what the accepted receipts say",
    Group.LAMINAR: "spans stay nested or apart, in the order of opening",
}


def _slip(event: str, group: Group) -> Slip:
    if group is Group.CAL:
        return Slip.GAUGE_TOO_LONG
    if group is Group.IDX:
        return Slip.EPOCH_TOO_FAR
    return Slip.SPAN_TOO_LONG


def _mutant(event: str, group: Group, design: Clauses = DESIGN) -> Mutant:
    clauses = CLAUSES_THAT_RULE.get((event, group), ())
    if clauses:
        return Mutant(clauses[0], lambda: inductive_step(event, group, design - {clauses[0]}))
    slip = _slip(event, group)
    return Mutant(f"off-by-one: {slip}", lambda: inductive_step(event, group, design, slip))


def _cell(event: str, group: Group) -> Obligation:
    def formula() -> Formula:
        return inductive_step(event, group)

    says = f"after {event}, {_SAYS[group]}"
    return Obligation(f"{event}/{group}", says, formula, _mutant(event, group), event, group)


def _below_the_boundary(group: Group) -> Obligation:
    """Undo across the epoch's boundary, which D4 forbids: rollback would keep the invariants there too."""
    design = without(Clause.D4)
    says = f"even below the epoch boundary (without D4), after Undo {_SAYS[group]}"
    return Obligation(
        f"Undo-below/{group}",
        says,
        lambda: inductive_step("Undo", group, design),
        _mutant("Undo", group, design),
    )


GRID: tuple[Obligation, ...] = tuple(_cell(event, group) for event in EVENTS for group in Group)

OTHERS: tuple[Obligation, ...] = (
    Obligation(
        "initial",
        "a new session has the whole strengthened invariant",
        consequences.initial_state,
        Mutant("off-by-one: last_observed starts at 1", lambda: consequences.initial_state(1)),
    ),
    Obligation(
        "literal/IDX",
        "the strengthened invariant implies INV-IDX as the kernel states it",
        consequences.literal_idx,
        Mutant("off-by-one: strictly inside the history", lambda: consequences.literal_idx(1)),
    ),
    Obligation(
        "literal/SYNC",
        "the strengthened invariant implies INV-SYNC as the kernel states it",
        consequences.literal_sync,
        Mutant("off-by-one: a transition is placed after its carrier", lambda: consequences.literal_sync(1)),
    ),
    Obligation(
        "Restore/only-pending",
        "the only stored transition that a resume can find unrecorded is the pending one",
        consequences.resume_commits_pending_only,
        Mutant("the pending one is recorded too", lambda: consequences.resume_commits_pending_only(True)),
    ),
    Obligation(
        "measure/tail-step",
        "induction step: past the last span, view and history grow alike",
        lambda: Formula(*gauge.tail_step()),
        Mutant(
            "off-by-one: the last folded index counts too", lambda: Formula(*gauge.tail_step(clear=False))
        ),
    ),
)

_UNROLLED = {2: (2, Clause.D8), 3: (2, Clause.D9)}
"""Steps that both solvers can unroll in seconds: the bound of the history, a clause that breaks there."""


def _bounded(steps: int) -> Obligation:
    """The whole machine, so many steps from its initial state."""
    bound, clause = _UNROLLED[steps]
    return Obligation(
        f"bounded/{steps}-steps",
        f"whatever the events and the token counts, no invariant breaks first in step {steps}, "
        f"histories of up to {bound}",
        lambda: no_violation(bound, steps),
        Mutant(clause, lambda: no_violation(bound, steps, without(clause))),
    )


OBLIGATIONS: dict[str, Obligation] = {
    obligation.name: obligation
    for obligation in (
        *LEMMAS,
        *GRID,
        *map(_below_the_boundary, Group),
        *OTHERS,
        *map(_bounded, _UNROLLED),
        *EXTENDED,
    )
}
"""Every obligation, in the order in which they are shown."""
