"""Work shared among forked processes: the same results in the same order, and an error when one is killed."""

from __future__ import annotations

import os
import signal

import pytest

from foldproof.explore.engines import for_matrix
from foldproof.explore.forked import WorkerLostError, cores, forked
from foldproof.explore.matrix import necessity
from foldproof.model.core import CORE


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_in_the_order_of_the_arguments(workers: int) -> None:
    offset = 7
    found = list(forked(lambda number: (number + offset, os.getpid()), range(40), workers))
    assert [number for number, _ in found] == list(range(7, 47))
    own = {process for _, process in found} == {os.getpid()}
    assert own == (workers == 1)


def test_an_error_reaches_the_caller() -> None:
    def refuse(number: int) -> int:
        raise ValueError(f"not {number}")

    with pytest.raises(ValueError, match="not 3"):
        list(forked(refuse, [3, 4], 2))


def test_a_killed_process_is_an_error() -> None:
    def die(number: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(WorkerLostError, match="there is no result"):
        list(forked(die, [3, 4], 2))


def test_there_is_a_core() -> None:
    assert cores() >= 1


def test_a_matrix_is_the_same_from_several_processes_and_from_both_engines() -> None:
    expected = necessity(CORE, 2)
    assert necessity(CORE, 2, workers=2) == expected
    bulk = for_matrix("bulk", CORE, 2)
    assert necessity(CORE, 2, engine=bulk, workers=2) == expected
