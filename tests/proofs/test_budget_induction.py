"""The budget machine is proved for histories of any length; the loss of any clause is refuted."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import pytest
import z3

from foldproof.explore.plain import transitions_breadth_first
from foldproof.model import budget_state
from foldproof.model.budget import BUDGET
from foldproof.model.budget_state import Event, Land, Undo
from foldproof.proofs.budget import (
    EVENTS,
    INVARIANTS,
    STRENGTHENING,
    concrete,
    inductive_steps,
    strengthened,
)
from foldproof.proofs.formula import Formula
from foldproof.proofs.induction import Steps
from foldproof.proofs.paths import Number, paths
from foldproof.proofs.solve import ask_cvc5, smt2

CELLS = (*INVARIANTS, *STRENGTHENING, "COVERAGE")


@cache
def _steps(event: type[Event], without: str | None = None, leaving_out: str | None = None) -> Steps:
    design = BUDGET.design if without is None else BUDGET.without(without)
    return inductive_steps(event, design, leaving_out)


def _goals(steps: Steps) -> list[tuple[str, Formula]]:
    return [(name, steps.formula(name)) for name in steps.goals]


def _refute(formula: Formula) -> tuple[Any, Any]:
    solver = z3.Solver()
    solver.add(*formula.hypotheses, z3.Not(formula.goal))
    answer = solver.check()
    return answer, solver.model() if answer == z3.sat else None


def test_the_grid_is_complete() -> None:
    assert set(EVENTS) == set(get_args(Event))
    for event in EVENTS:
        assert set(_steps(event).goals) == set(CELLS)


def test_the_initial_state_satisfies_the_strengthened_invariant() -> None:
    assert all(truth is True for _, truth in strengthened(BUDGET.initial))
    assert BUDGET.violations(BUDGET.initial) == []


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.__name__)
def test_every_cell_is_proved_by_both_solvers(event: type[Event]) -> None:
    for name, formula in _goals(_steps(event)):
        assert _refute(formula)[0] == z3.unsat, name
        assert ask_cvc5(smt2(formula)) == "unsat", name


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.__name__)
def test_no_proof_is_empty(event: type[Event]) -> None:
    """Every path of the event that is counted can be taken from a state that the hypotheses allow."""
    taken = _steps(event).taken
    assert taken
    for path in taken:
        solver = z3.Solver()
        solver.add(path)
        assert solver.check() == z3.sat


RULES = {
    "B1_view": "BeforeStep",
    "B2_rejected": "Rejected",
    "B3_input": "BeforeStep",
    "B4_futile": "Land",
    "B5_turn": "AppendUser",
    "B6_replaced": "Undo",
    "B7_up": "SwitchModel",
    "B7_down": "SwitchModel",
    "B8_resume": "Restore",
    "B9_attempts": "Rejected",
    "B10_single": "BeforeStep",
    "B11_gauge": "Fold",
    "B11_history": "AppendUser",
    "B11_tail": "AppendUser",
    "B12_reentry": "Restore",
}
"""An event whose step needs the clause."""


def test_every_clause_has_an_event_that_it_rules() -> None:
    assert set(RULES) == {str(clause) for clause in budget_state.Clause}


@pytest.mark.parametrize(("clause", "name"), RULES.items())
def test_a_missing_clause_is_refuted_by_a_state_of_the_machine(clause: str, name: str) -> None:
    """The countermodel is a state that satisfies the strengthening, and the model's own step breaks there."""
    design, refuted = BUDGET.without(clause), 0
    event_type = next(event for event in EVENTS if event.__name__ == name)
    for goal, formula in _goals(_steps(event_type, clause)):
        answer, model = _refute(formula)
        assert answer != z3.unknown
        if model is None:
            continue
        refuted += 1
        before, argument = concrete(model)
        event = event_type(argument) if event_type in (Land, Undo) else event_type()
        assert all(truth for _, truth in strengthened(before))
        assert BUDGET.guard(before, event, design, None) is None
        after = BUDGET.effect(before, event, design)
        broken = {v.invariant for v in BUDGET.violations(after)}
        broken |= {n for n, truth in strengthened(after) if not truth}
        assert goal in broken
    assert refuted


@pytest.mark.parametrize("conjunct", STRENGTHENING)
def test_every_conjunct_of_the_strengthening_is_needed(conjunct: str) -> None:
    others = [name for name in CELLS if name != conjunct]
    assert any(
        _refute(_steps(event, None, conjunct).formula(name))[0] == z3.sat
        for event in EVENTS
        for name in others
    )


def test_every_reachable_state_satisfies_the_strengthened_invariant() -> None:
    seen = set()
    for _, _, after, _ in transitions_breadth_first(BUDGET, 3, BUDGET.design):
        if after not in seen:
            seen.add(after)
            assert all(truth for _, truth in strengthened(after))
    assert len(seen) > 3_000


def _collatz_like(n: Any) -> str:
    if n > 10:
        return "large" if n * 2 > 30 else "middling"
    return "zero" if not n else "small"


def test_paths_partition_what_is_allowed() -> None:
    n = z3.Int("n")
    found = list(paths(lambda: _collatz_like(Number(n)), [n >= 0]))
    assert sorted(path.result for path in found) == ["large", "middling", "small", "zero"]
    for value in range(40):
        taken = [
            p.result
            for p in found
            if z3.is_true(z3.simplify(z3.substitute(p.condition, (n, z3.IntVal(value)))))
        ]
        assert taken == [_collatz_like(value)]


def test_a_function_that_does_not_end_is_said_not_to() -> None:
    def endless() -> None:
        n, count = Number(z3.Int("n")), 0
        while n > count:
            count += 1

    with pytest.raises(RecursionError, match="decisions on one path"):
        list(paths(endless, []))
