"""Sharded searches: the same result as one process, and an error, never a wrong count, when one ends."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import Any

import pytest

from foldproof.explore import bulk
from foldproof.explore.bulk_shard import Assignment, Shard
from foldproof.explore.bulk_workers import WorkerError, drive, processes
from foldproof.explore.result import Progress
from foldproof.model.core import CORE

NAMES = tuple(map(str, CORE.invariants))


def assignments(bound: int, shards: int) -> list[Assignment]:
    return [Assignment(CORE, bound, CORE.design, NAMES, 2, shard, shards) for shard in range(shards)]


@pytest.mark.parametrize("without", [(), ("D1a_undo", "D7"), ("D5", "D9")], ids="+".join)
@pytest.mark.parametrize("workers", [2, 3])
def test_same_result_as_one_process(without: tuple[str, ...], workers: int) -> None:
    design = CORE.without(*without)
    alone = bulk.search(CORE, 4, design, limit=2)
    together = bulk.search(CORE, 4, design, limit=2, workers=workers)
    assert together == replace(alone, seconds=together.seconds)


def test_every_shard_takes_part() -> None:
    with processes(assignments(4, 3)) as team:
        tally = drive(team, None, None)
        states = [report.states for report in team.reports()]
    assert sum(states) == tally.states == 34_220
    assert min(states) > 1_000


def test_a_killed_worker_is_an_error() -> None:
    with processes(assignments(5, 2)) as team:

        def kill_one(progress: Progress) -> None:
            if progress.layer == 6:
                os.kill(team.pids[1], signal.SIGKILL)

        with pytest.raises(WorkerError, match="there is no result"):
            drive(team, kill_one, None)


def test_an_error_in_a_worker_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Shard) -> Any:
        raise bulk.TooLargeError("no room")

    monkeypatch.setattr(Shard, "follow", refuse)
    with pytest.raises(bulk.TooLargeError, match="no room"):
        bulk.search(CORE, 3, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_memory_bound_stops_the_search_and_says_so(workers: int) -> None:
    found = bulk.search(CORE, 5, workers=workers, memory=500_000)
    assert not found.complete
    assert 0 < found.states < 188_043
    assert {found.verdict(name) for name in NAMES} == {"unchecked"}


def test_progress_tells_layers_in_order() -> None:
    seen: list[Progress] = []
    found = bulk.search(CORE, 4, on_progress=seen.append)
    assert [progress.layer for progress in seen] == list(range(1, found.depth + 1))
    assert seen[-1].states == found.states
    assert seen[-1].transitions == found.transitions
    assert seen[-1].frontier == 0
