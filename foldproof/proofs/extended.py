"""Obligations of the machines beside the core: one for each event of the budget, and of the pass's shape.

Each says that the event keeps the whole strengthened invariant, and with it the properties that it names. Its
mutant lacks a clause that the event needs or, where it needs none, one conjunct of the invariant before.
"""

from __future__ import annotations

from collections.abc import Callable

from foldproof.model.budget import BUDGET
from foldproof.model.budget_state import Clause as B
from foldproof.model.passes import PASS
from foldproof.model.passes_state import Clause as R
from foldproof.proofs import budget, shape
from foldproof.proofs.formula import Formula, Mutant, Obligation
from foldproof.proofs.induction import Steps

BUDGET_MUTANTS: dict[str, str] = {
    "AppendUser": B.B5_TURN,
    "BeforeStep": B.B1_VIEW,
    "AfterStep": B.B11_HISTORY,
    "Rejected": B.B2_REJECTED,
    "Measure": "REMEMBERED",
    "Fold": B.B11_GAUGE,
    "Land": B.B4_FUTILE,
    "Fail": "STATUS",
    "SwitchModel": B.B7_UP,
    "Undo": B.B6_REPLACED,
    "Clear": B.B6_REPLACED,
    "Restore": B.B8_RESUME,
}
SHAPE_MUTANTS: dict[str, str] = {
    "Append": "COUNTS",
    "Undo": R.R17_BOUNDARY,
    "Clear": R.R16_CANCEL,
    "LegacyHead": "PHASES",
    "Begin": "LAYOUT",
    "Answer": "FROZEN",
    "Refuse": R.R13_RESUME,
    "Pass": "WHOLE",
    "CommitChunk": R.R2_FROZEN,
    "CommitState": "FROZEN",
    "Break": "TORN",
    "Resume": "TORN",
}
"""The clause, or the conjunct, that each event's mutant lacks."""


_SAYS = {
    "budget": "all ten properties of the budget machine still hold",
    "pass": "the surface keeps its layout, and as many stubs as were ever committed",
}


def _obligation(
    machine: str,
    event: str,
    lacks: str,
    conjuncts: tuple[str, ...],
    steps: Callable[[str | None, str | None], Steps],
) -> Obligation:
    """``steps`` is given a missing clause and a missing conjunct, and builds the step."""
    is_conjunct = lacks in conjuncts
    says = f"after {event}, {_SAYS[machine]}"
    named = f"{lacks} is not known before" if is_conjunct else lacks

    def mutant() -> Formula:
        return steps(None, lacks).formula() if is_conjunct else steps(lacks, None).formula()

    return Obligation(f"{machine}/{event}", says, lambda: steps(None, None).formula(), Mutant(named, mutant))


def _of_budget(event: str, lacks: str) -> Obligation:
    event_type = next(each for each in budget.EVENTS if each.__name__ == event)

    def steps(clause: str | None, conjunct: str | None) -> Steps:
        design = BUDGET.design if clause is None else BUDGET.without(clause)
        return budget.inductive_steps(event_type, design, conjunct)

    return _obligation("budget", event, lacks, budget.STRENGTHENING, steps)


def _of_shape(kind: str, lacks: str) -> Obligation:
    def steps(clause: str | None, conjunct: str | None) -> Steps:
        design = PASS.design if clause is None else PASS.without(clause)
        return shape.inductive_steps(kind, design, conjunct)

    return _obligation("pass", kind, lacks, shape.CONJUNCTS, steps)


EXTENDED: tuple[Obligation, ...] = (
    *(_of_budget(event, lacks) for event, lacks in BUDGET_MUTANTS.items()),
    *(_of_shape(kind, lacks) for kind, lacks in SHAPE_MUTANTS.items()),
)
