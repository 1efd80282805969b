"""The obligations: complete against the grid, proved by both solvers, and able to fail."""

from __future__ import annotations

from itertools import product

import pytest
import z3

from foldproof.model import index
from foldproof.model.design import DESIGN, Clause, without
from foldproof.model.events import EVENT_TYPES
from foldproof.model.invariants import Invariant
from foldproof.proofs import solve
from foldproof.proofs.cells import inductive_step
from foldproof.proofs.formula import Formula, Mutant, Obligation
from foldproof.proofs.invariant import Group
from foldproof.proofs.logic import INTEGERS
from foldproof.proofs.obligations import CLAUSES_THAT_RULE, OBLIGATIONS
from foldproof.proofs.slots import same_span
from foldproof.proofs.solve import Answer, Solvers, ask_cvc5, ask_z3, decide, decide_all, smt2

GRID = [
    (event.__name__, str(invariant)) for event, invariant in product(EVENT_TYPES, [*Invariant, Group.LAMINAR])
]


def test_grid_is_complete() -> None:
    """A cell for every event of the model and every invariant of the model, and laminarity."""
    placed = {(o.event, str(o.invariant)) for o in OBLIGATIONS.values() if o.event is not None}
    assert placed == set(GRID)


def test_all_are_proved_by_both() -> None:
    outcomes = [outcome for outcome, _ in decide_all(list(OBLIGATIONS), workers=2)]
    assert {outcome.name for outcome in outcomes} == set(OBLIGATIONS)
    for outcome in outcomes:
        assert not outcome.failures, outcome
        assert (outcome.z3, outcome.cvc5) == (Answer.PROVED, Answer.PROVED)


@pytest.mark.nightly
@pytest.mark.parametrize(("event", "invariant"), GRID)
def test_clauses_that_rule(event: str, invariant: str) -> None:
    """Which clauses a step needs, found by taking every one away."""
    group = Group(invariant)
    needed = set()
    for clause in Clause:
        answer = ask_z3(inductive_step(event, group, without(clause)).negation)
        assert answer in ("sat", "unsat")
        if answer == "sat":
            needed.add(clause)
    assert needed == set(CLAUSES_THAT_RULE.get((event, group), ()))


def test_every_clause_rules_somewhere() -> None:
    """All but D4, whose reason is the budget: `Undo-below/*` proves that it can be missed."""
    ruling = {clause for clauses in CLAUSES_THAT_RULE.values() for clause in clauses}
    assert ruling == DESIGN - {Clause.D4}


@pytest.mark.parametrize("group", [Group.IDX, Group.SYNC])
def test_a_commit_need_not_clamp(group: Group) -> None:
    """A step's end does not need D1c, as long as whatever shortens the history keeps to it."""
    assert ask_z3(inductive_step("StepEnd", group, without(Clause.D1C)).negation) == "unsat"


def _obligation(formula: Formula, wrong: Formula) -> Obligation:
    return Obligation("made-up", "made up", lambda: formula, Mutant("made up", lambda: wrong))


X = z3.Int("x")
TRUE = Formula([X > 1], X > 0)
FALSE = Formula([X > 0], X > 1)


def test_false_is_refuted() -> None:
    outcome = decide(_obligation(FALSE, FALSE))
    assert outcome.refuted
    assert outcome.failures == ["z3 says refuted", "cvc5 says refuted"]


def test_empty_proof_fails() -> None:
    outcome = decide(_obligation(Formula([X > 1, X < 0], X > 5), FALSE))
    assert outcome.z3 is Answer.PROVED
    assert outcome.failures == ["its hypotheses cannot be met"]


def test_missed_mutant_fails() -> None:
    assert decide(_obligation(TRUE, TRUE)).failures == ["its mutant is proved, not refuted"]


def test_unknown_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "ask_z3", lambda *_: "unknown")
    outcome = decide(_obligation(TRUE, FALSE))
    assert outcome.failures[0] == "z3 says unknown"
    assert len(outcome.failures) == 3


def test_hard_question_is_unknown() -> None:
    """A real time-out, in both solvers: neither answers a hard question within its limit."""
    a, b, c = z3.Ints("a b c")
    cubes = Formula([a > 1, b > 1, c > 1], a * a * a + b * b * b != c * c * c)
    text = smt2(cubes).replace("QF_UFLIA", "QF_NIA")
    assert solve.answer_of(ask_cvc5(text, timeout=0.2)) is Answer.UNKNOWN
    assert solve.answer_of(ask_z3(cubes.negation, timeout=0.2)) is Answer.UNKNOWN


@pytest.mark.parametrize("solver", list(Solvers))
def test_one_solver_alone(solver: Solvers) -> None:
    outcome = decide(_obligation(TRUE, FALSE), solver)
    assert not outcome.failures
    assert (outcome.z3 is None, outcome.cvc5 is None) == (solver == "cvc5", solver == "z3")


def test_clamping_does_not_refine_rollback() -> None:
    """The countermodel of the docs: a node at 0, closed by the carrier at 4; an undo cuts at 2."""
    at_two = index.Span(True, 0, False, 0)
    closed = at_two._replace(closed=True, closed_at=index.carrier_closes_at(4))
    assert same_span(INTEGERS, index.rolled_back(closed, 2), at_two)
    assert not same_span(INTEGERS, index.clamped(closed, 2), at_two)
    assert index.clamped(closed, 2) == index.Span(True, 0, True, 1)
