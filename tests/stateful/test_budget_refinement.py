"""The session's budget controller refines the budget machine; every clause taken out of it is caught."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from foldproof.explore.plain import transitions_breadth_first
from foldproof.model.budget import BUDGET
from foldproof.model.budget_state import ALPHABET, Clause, Land, Undo
from foldproof.reference.budget import verdict
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.session import Session
from foldproof.reference.state import SessionState
from foldproof.stateful_tests.budget_refinement import BudgetDriver
from foldproof.stateful_tests.extended_machines import BudgetMachine
from foldproof.stateful_tests.product import walk
from foldproof.stateful_tests.refinement import NotRefinedError
from tests.stateful.taken_out import Change, taken_out
from tests.stateful.test_session_machine import QUICK


def getter(name: str) -> Any:
    return getattr(SessionState, name).fget


SIZES = "Sizes(self.trigger, max(self._raw_tokens, self.trigger))"
PUBLISHED = f'self.__dict__.setdefault(("sizes", KEY), {SIZES})'
"""Sizes that are kept until what KEY names changes."""

WITHOUT: dict[Clause, tuple[Change, ...]] = {
    Clause.B1_VIEW: (
        Change(verdict, "if session.trigger <", "if (session.trigger if overflow else session.sizes.raw) <"),
    ),
    Clause.B2_REJECTED: (
        Change(verdict, "if session.trigger <", "if (session.sizes.raw if overflow else session.trigger) <"),
    ),
    Clause.B3_INPUT: (
        Change(
            RecallableCompactor._jobs,
            "everything = [*staled, *view[plan.start : plan.retained]]",
            "everything = [*self.session.history]",
        ),
    ),
    Clause.B4_FUTILE: (
        Change(
            SessionState._end_pass,
            "self.floor, self.refused_tokens = self._surface.tokens,",
            "self.refused_tokens =",
        ),
    ),
    Clause.B5_TURN: (
        Change(
            SessionState._put_message,
            "self.overflow_passes = 0",
            "self.overflow_passes, self.floor = 0, None",
        ),
    ),
    Clause.B6_REPLACED: (
        Change(SessionState._replaced, "self.floor, self.refused_tokens = None,", "self.refused_tokens ="),
    ),
    Clause.B7_UP: (Change(getter("recalibrates"), "!= self.settings", "> self.settings"),),
    Clause.B7_DOWN: (Change(getter("recalibrates"), "!= self.settings", "< self.settings"),),
    Clause.B8_RESUME: (
        Change(Session._resume, "self._recalibrate()", "self._recalibrate()\n    self.floor = None"),
    ),
    Clause.B9_ATTEMPTS: (Change(verdict, "if overflow and", "if False and overflow and"),),
    Clause.B10_SINGLE: (Change(verdict, "if session.pass_runs:", "if False:"),),
    Clause.B11_GAUGE: (Change(getter("sizes"), SIZES, PUBLISHED.replace("KEY", "len(self._history)")),),
    Clause.B11_HISTORY: (Change(getter("sizes"), SIZES, PUBLISHED.replace("KEY", "self._gauge")),),
    Clause.B11_TAIL: (
        Change(getter("sizes"), SIZES, "Sizes(self._gauge.tokens, max(self._raw_tokens, self.trigger))"),
    ),
    Clause.B12_REENTRY: (
        Change(getter("trigger"), "self._gauge.tokens + self._since_gauge", "self.sizes.projected"),
    ),
}
CAUGHT = (NotRefinedError, LookupError, ValueError, RecursionError)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    for task in asyncio.all_tasks(loop):  # of a walk that ended at a difference
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()


def test_every_transition_of_the_machine_with_two_messages(loop: asyncio.AbstractEventLoop) -> None:
    """All that the machine does, but for two things that no host of a session can do."""
    walked = walk(BudgetDriver(loop), 2)
    every = {(s, event) for s, event, *_ in transitions_breadth_first(BUDGET, 2, BUDGET.design)}
    assert walked.transitions <= every
    left = {type(event) for _, event in every - walked.transitions}
    assert left == {
        Land,  # with fewer messages kept than came while the pass was in flight
        Undo,  # of a reply alone
    }
    assert (walked.nodes, len(walked.transitions), len(every)) == (2_946, 11_804, 11_930)


def test_every_sequence_of_four_commands(loop: asyncio.AbstractEventLoop) -> None:
    assert walk(BudgetDriver(loop), 4, length=4).nodes > 2_000


@pytest.mark.nightly
def test_every_transition_of_the_machine_with_three_messages(loop: asyncio.AbstractEventLoop) -> None:
    walked = walk(BudgetDriver(loop), 3)
    every = {(s, event) for s, event, *_ in transitions_breadth_first(BUDGET, 3, BUDGET.design)}
    assert walked.transitions <= every
    assert {type(event) for _, event in every - walked.transitions} == {Land, Undo}


def test_random_runs() -> None:
    BudgetMachine.reached.clear()
    run_state_machine_as_test(BudgetMachine, settings=settings(QUICK, max_examples=100))
    assert set(BudgetMachine.reached) == {spelling.partition("(")[0] for spelling in ALPHABET.spellings}


@pytest.mark.nightly
def test_random_runs_for_long() -> None:
    run_state_machine_as_test(
        BudgetMachine, settings=settings(QUICK, max_examples=3_000, stateful_step_count=60, derandomize=False)
    )


@pytest.mark.parametrize("clause", list(Clause))
def test_a_controller_without_the_clause_does_not_refine(
    loop: asyncio.AbstractEventLoop, clause: Clause
) -> None:
    with taken_out(*WITHOUT[clause]), pytest.raises(CAUGHT):
        walk(BudgetDriver(loop), 2)


def test_the_page_has_a_row_for_every_clause() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].strip("| ") for line in page.splitlines() if line.startswith("| B")]
    assert rows == [str(clause) for clause in Clause]
