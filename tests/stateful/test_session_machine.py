"""The Hypothesis machine on real files: it holds, and without any clause it does not."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from foldproof.model.design import Clause
from foldproof.stateful_tests.refinement import NotRefinedError, RefusedError
from foldproof.stateful_tests.session_machine import SessionMachine
from tests.stateful.test_refinement import lacking

QUICK = settings(
    max_examples=150,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(QUICK, max_examples=3_000, stateful_step_count=60, derandomize=False)


def test_session_and_model_stay_equal() -> None:
    SessionMachine.reached.clear()
    run_state_machine_as_test(SessionMachine, settings=QUICK)
    for situation in (
        "pass of several regions",
        "pass over a closed task",
        "pass overtaken",
        "resumed in mid-commit",
        "crash",
    ):
        assert SessionMachine.reached[situation], f"no run came to: {situation}"


@pytest.mark.nightly
def test_session_and_model_stay_equal_for_long() -> None:
    run_state_machine_as_test(SessionMachine, settings=LONG)


@pytest.mark.parametrize("clause", list(Clause))
def test_the_machine_misses_every_clause(clause: Clause) -> None:
    machine = type("Faulty", (SessionMachine,), {"session_type": lacking(clause)})
    once = settings(QUICK, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    # A fault shows as a difference, or as a tree that points at nothing.
    with pytest.raises((NotRefinedError, RefusedError, LookupError, ValueError)):
        run_state_machine_as_test(machine, settings=once)
