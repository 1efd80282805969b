"""The recallable compactor refines the pass machine; every clause taken out of it is caught."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from foldproof.explore.plain import transitions_breadth_first
from foldproof.model.passes import PASS
from foldproof.model.passes_state import Clause, Phase
from foldproof.reference import passes, plan
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.session import Session
from foldproof.stateful_tests.extended_machines import PassMachine
from foldproof.stateful_tests.pass_refinement import PassDriver
from foldproof.stateful_tests.product import walk
from foldproof.stateful_tests.refinement import NotRefinedError
from tests.stateful.taken_out import Change, taken_out
from tests.stateful.test_session_machine import QUICK

WITHOUT: dict[Clause, tuple[Change, ...]] = {
    Clause.R1_EDGES: (
        Change(
            plan.edges, "out.append(position > open_until and", "out.append(True or position > open_until and"
        ),
    ),
    Clause.R2_FROZEN: (Change(plan.frozen_end, "return position + 1", "return 0"),),
    Clause.R3_FOLD: (
        Change(
            RecallableCompactor._jobs,
            "_Job(ItemClass.INDEX, items,",
            "_Job(ItemClass.INDEX, tuple(i for i in items if i.kind is not ItemClass.STATE),",
        ),
    ),
    Clause.R4_TWO_HOPS: (Change(plan._chunks, "not is_content(view[start])", "False"),),
    Clause.R5_ADOPT: (
        Change(
            plan.frozen_end,
            "is ItemClass.INDEX",
            "in (ItemClass.INDEX, ItemClass.BASIC)",
        ),
    ),
    Clause.R6_OWN: (
        Change(
            RecallableCompactor._summarise,
            "return [task.result() for task in tasks], degraded",
            "return sorted((task.result() for task in tasks), key=str.split), degraded",
        ),
    ),
    Clause.R7_BUFFERED: (
        Change(
            RecallableCompactor._summarise,
            "degraded += not body",
            "degraded += not body\n        if job.kind is ItemClass.INDEX:\n"
            "            commit(self.session, [job.region(body)])",
        ),
    ),
    Clause.R8_METRIC: (
        Change(
            RecallableCompactor._shrinks,
            "if before is not None and after is not None:\n                return after < before",
            "if before is not None:\n                after = after or size_after(self.session, regions)\n"
            "                return after < before",
        ),
    ),
    Clause.R9_DEFER: (Change(RecallableCompactor._deferred, "self.session.refused_tokens +", "0 +"),),
    Clause.R10_LEFT: (Change(passes.commit, "for region in regions:", "for region in reversed(regions):"),),
    Clause.R11_LAST: (
        Change(passes.commit, "for region in regions:", "for region in [regions[-1], *regions[:-1]]:"),
    ),
    Clause.R12_FOOTER: (
        Change(
            passes.checkpoint_text,
            'return f"{region.body}\\n{footer(seq, region.span)}"',
            'return f"{region.body}\\n{footer(seq, (region.span[0], region.span[1] - 1))}"',
        ),
    ),
    Clause.R13_RESUME: (Change(RecallableCompactor._resume, "guarded=False", "guarded=True"),),
    Clause.R14_BASE: (
        Change(
            RecallableCompactor._resume, "state = self.session.state_text", "state = self._state_in(view)"
        ),
    ),
    Clause.R15_STALED: (Change(RecallableCompactor._resume, "staled=staled", "staled=[]"),),
    Clause.R16_CANCEL: (
        Change(passes.can_land, "view = session.view()", "return True\n    view = session.view()"),
    ),
    Clause.R17_BOUNDARY: (Change(Session.undo, "if cut < self._unfinished_end():", "if False:"),),
}
BOUNDS = {Clause.R2_FROZEN: 3, Clause.R6_OWN: 3}
"""How many messages it takes, where it is not two."""
CAUGHT = (NotRefinedError, LookupError, ValueError)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    for task in asyncio.all_tasks(loop):  # of a walk that ended at a difference
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0.01))
    loop.close()


def left_out(loop: asyncio.AbstractEventLoop, bound: int) -> tuple[int, int, set[Phase]]:
    """How many of the machine's transitions a walk takes, of how many, and in which phase the others lie."""
    walked = walk(PassDriver(loop), bound)
    every = {(s, event) for s, event, *_ in transitions_breadth_first(PASS, bound, PASS.design)}
    assert walked.transitions <= every
    return len(walked.transitions), len(every), {state.phase for state, _ in every - walked.transitions}


def test_every_transition_of_the_machine_with_two_messages(loop: asyncio.AbstractEventLoop) -> None:
    """All but what would come between two regions of a commit: a session's has no await in it."""
    assert left_out(loop, 2) == (1_278, 1_420, {Phase.COMMITTING})


@pytest.mark.nightly
def test_every_transition_of_the_machine_with_three_messages(loop: asyncio.AbstractEventLoop) -> None:
    assert left_out(loop, 3) == (22_285, 26_127, {Phase.COMMITTING})


def test_every_sequence_of_four_commands(loop: asyncio.AbstractEventLoop) -> None:
    assert walk(PassDriver(loop, chunks=(1, 2)), 4, length=4).nodes > 100


def test_random_runs() -> None:
    PassMachine.reached.clear()
    run_state_machine_as_test(PassMachine, settings=settings(QUICK, max_examples=25))
    # The walks come everywhere; a short random run has to come to passes.
    assert {"Begin", "StateDone", "Crash", "Undo", "Clear"} <= set(PassMachine.reached)


@pytest.mark.nightly
def test_random_runs_for_long() -> None:
    run_state_machine_as_test(
        PassMachine, settings=settings(QUICK, max_examples=3_000, stateful_step_count=60, derandomize=False)
    )


@pytest.mark.parametrize("clause", list(Clause))
def test_a_compactor_without_the_clause_does_not_refine(
    loop: asyncio.AbstractEventLoop, clause: Clause
) -> None:
    with taken_out(*WITHOUT[clause]), pytest.raises(CAUGHT):
        walk(PassDriver(loop, chunks=(1, 2)), BOUNDS.get(clause, 2))


def test_the_page_has_a_row_for_every_clause() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0].strip("| ") for line in page.splitlines() if line.startswith("| R")]
    assert rows == [str(clause) for clause in Clause]
