"""LAYOUT and FROZEN of the pass machine, proved for any length over a counting that is the model's."""

from __future__ import annotations

from functools import cache

import pytest
import z3

from foldproof.explore.plain import transitions_breadth_first
from foldproof.model.passes import PASS
from foldproof.model.passes_invariants import inv_frozen, inv_layout
from foldproof.proofs import induction
from foldproof.proofs.formula import Formula
from foldproof.proofs.induction import Steps
from foldproof.proofs.shape import (
    CONJUNCTS,
    GOALS,
    KINDS,
    Move,
    Shape,
    allowed,
    arbitrary,
    effect,
    frozen,
    inductive_steps,
    layout,
    move_of,
    shape_of,
    strengthened,
)


@cache
def _steps(kind: str, without: str | None = None, leaving_out: str | None = None) -> Steps:
    design = PASS.design if without is None else PASS.without(without)
    return inductive_steps(kind, design, leaving_out)


def _goals(steps: Steps) -> list[tuple[str, Formula]]:
    return [(name, steps.formula(name)) for name in steps.goals]


def _refute(formula: Formula) -> z3.ModelRef | None:
    solver = z3.Solver()
    solver.add(*formula.hypotheses, z3.Not(formula.goal))
    answer = solver.check()
    assert answer != z3.unknown
    return solver.model() if answer == z3.sat else None


def _differential(bound: int, *without: str) -> int:
    """Hold the counting equal to the model on every transition within a bound; how many there are."""
    design, count = PASS.without(*without), 0
    kinds = set()
    for before, event, after, _ in transitions_breadth_first(PASS, bound, design):
        if PASS.violations(before):
            continue
        move = move_of(before, event, after)
        kinds.add(move.kind)
        counted = shape_of(before)
        assert allowed(counted, move, design), (before, event)
        assert effect(counted, move, design) == shape_of(after), (before, event)
        assert layout(shape_of(after)) == (inv_layout(after) is None), after
        assert not without or frozen(shape_of(after)) >= (inv_frozen(after) is None)
        count += 1
    assert kinds == set(KINDS)
    return count


def test_the_counting_is_the_models() -> None:
    assert _differential(3) == 26_127


@pytest.mark.nightly
def test_the_counting_is_the_models_at_a_larger_bound() -> None:
    assert _differential(4) == 305_395


def test_every_reachable_shape_satisfies_the_strengthened_invariant() -> None:
    seen = {shape_of(after) for _, _, after, _ in transitions_breadth_first(PASS, 3, PASS.design)}
    assert len(seen) == 65
    assert all(truth for shape in seen for _, truth in strengthened(shape))


def test_the_initial_shape() -> None:
    assert shape_of(PASS.initial) == Shape()
    assert all(truth for _, truth in strengthened(Shape()))


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_is_inductive(kind: str) -> None:
    steps = _steps(kind)
    assert set(steps.goals) == {*CONJUNCTS, "COVERAGE"}
    assert {name for name, formula in _goals(steps) if _refute(formula) is not None} == set()


@pytest.mark.parametrize("kind", KINDS)
def test_no_proof_is_empty(kind: str) -> None:
    taken = _steps(kind).taken
    assert taken
    for path in taken:
        solver = z3.Solver()
        solver.add(path)
        assert solver.check() == z3.sat


@pytest.mark.parametrize(
    ("clause", "kind", "name"),
    [
        ("R2_frozen", "CommitChunk", "FROZEN"),
        ("R10_left", "CommitChunk", "LAYOUT"),
        ("R11_last", "CommitChunk", "LAYOUT"),
        ("R13_resume", "Refuse", "LAYOUT"),
        ("R16_cancel", "Undo", "COUNTS"),
        ("R16_cancel", "Clear", "COUNTS"),
        ("R17_boundary", "Undo", "COUNTS"),
    ],
)
def test_a_missing_clause_is_refuted(clause: str, kind: str, name: str) -> None:
    """The countermodel is a shape that satisfies the invariant, and the step on numbers breaks there."""
    design = PASS.without(clause)
    model = _refute(_steps(kind, clause).formula(name))
    assert model is not None
    before = induction.concrete(model, arbitrary())
    move = induction.concrete(model, Move(kind, induction.number("messages"), induction.number("planned")))
    assert all(truth for _, truth in strengthened(before))
    assert allowed(before, move, design)
    assert not dict(strengthened(effect(before, move, design)))[name]


@pytest.mark.parametrize("conjunct", [name for name in CONJUNCTS if name not in GOALS])
def test_every_conjunct_is_needed(conjunct: str) -> None:
    assert any(
        _refute(formula) is not None
        for kind in KINDS
        for name, formula in _goals(_steps(kind, None, conjunct))
        if name != conjunct
    )
