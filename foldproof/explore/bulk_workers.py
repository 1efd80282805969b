"""One search on several processes of this machine: each a shard, a barrier after each layer.

Parcels go through shared memory, so that bits are copied once on either side and never pickled.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Protocol

import numpy as np

from foldproof.explore.bulk_low import BulkError
from foldproof.explore.bulk_shard import Assignment, Parcel, Report, Shard
from foldproof.explore.result import OnProgress, Progress


class WorkerError(BulkError):
    """A process of the search ended or failed; there is no result."""


@dataclass
class Tally:
    """What the shards found together."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    complete: bool = True
    events: dict[str, int] = field(default_factory=dict)
    violating: list[dict[str, int]] = field(default_factory=list)  # after each number of events


class Team(Protocol):
    """Shards, wherever they run."""

    def reports(self) -> list[Report]: ...

    def layer(self) -> list[Report]:
        """All shards follow, exchange and absorb."""
        ...

    def transitions_by_event(self) -> list[dict[str, int]]: ...


def drive(team: Team, on_progress: OnProgress | None, memory: int | None) -> Tally:
    """Run a team's search to its end, layer by layer."""
    started = time.perf_counter()
    tally = Tally()
    reports = team.reports()
    identities = [report.identity for report in reports]
    tally.violating.append(_sum(report.violating for report in reports))
    while any(report.frontier for report in reports):
        if memory is not None and sum(report.bytes for report in reports) > memory:
            tally.complete = False
            break
        reports = team.layer()
        tally.depth += 1
        expected = [(identity, tally.depth) for identity in identities]
        if [(report.identity, report.layer) for report in reports] != expected:
            raise WorkerError(
                "a shard of the search was lost and made anew, without its visited states; there is no "
                "result: search again"
            )
        tally.violating.append(_sum(report.violating for report in reports))
        tally.states = sum(report.states for report in reports)
        tally.transitions = sum(report.transitions for report in reports)
        if on_progress is not None:
            frontier = sum(report.frontier for report in reports)
            elapsed = time.perf_counter() - started
            on_progress(Progress(tally.depth, frontier, tally.states, tally.transitions, elapsed))
    tally.states = sum(report.states for report in reports)
    tally.events = _sum(team.transitions_by_event())
    return tally


def _sum(counts: Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(total)


class Processes:
    """A team of processes on this machine."""

    def __init__(self, assignments: list[Assignment]) -> None:
        context = _context()
        resource_tracker.ensure_running()  # one for all: who opens a block must not track it apart
        self._pipes: list[Connection] = []
        self._processes: list[BaseProcess] = []
        for assignment in assignments:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, assignment), daemon=True)  # type: ignore[attr-defined]
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    @property
    def pids(self) -> list[int | None]:
        return [process.pid for process in self._processes]

    def reports(self) -> list[Report]:
        """The counts so far."""
        return self._ask("report", [None] * len(self._pipes))

    def layer(self) -> list[Report]:
        """All shards follow, exchange and absorb."""
        sent: list[list[_Posted]] = self._ask("follow", [None] * len(self._pipes))
        inboxes = [[parcels[to] for parcels in sent] for to in range(len(self._pipes))]
        reports: list[Report] = self._ask("absorb", inboxes)
        self._ask("forget", [None] * len(self._pipes))
        return reports

    def transitions_by_event(self) -> list[dict[str, int]]:
        """Transitions by name of event, shard by shard."""
        return self._ask("transitions_by_event", [None] * len(self._pipes))

    def close(self) -> None:
        """End all processes."""
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            with suppress(OSError):  # it may have ended already
                pipe.send(_STOP)
            pipe.close()
            process.join(timeout=5)
            if process.is_alive():
                process.terminate()
                process.join()

    def _ask(self, request: str, arguments: list[Any]) -> list[Any]:
        """One request to every shard at once, and their answers."""
        answers: list[Any] = []
        try:
            for pipe, argument in zip(self._pipes, arguments, strict=True):
                pipe.send((request, argument))
            answers = [pipe.recv() for pipe in self._pipes]
        except (EOFError, OSError) as error:
            raise WorkerError(
                "a worker process of the search ended (out of memory, or killed); there is no result: "
                "search again with fewer workers or a smaller bound"
            ) from error
        for answer in answers:
            if isinstance(answer, BulkError):
                raise answer
        return answers


@contextmanager
def processes(assignments: list[Assignment]) -> Iterator[Processes]:
    """A team of processes, ended in any case."""
    team = Processes(assignments)
    try:
        yield team
    finally:
        team.close()


def _context() -> BaseContext:
    """Fork where there is fork: a worker starts at once, and a machine need not be pickled."""
    methods = multiprocessing.get_all_start_methods()
    return multiprocessing.get_context("fork" if "fork" in methods else None)


_STOP = ("stop", None)
"""The last request. A closed pipe alone would not do: workers forked later hold its other end."""


@dataclass(frozen=True)
class _Posted:
    """A parcel whose arrays lie in shared memory: keys first, then bits."""

    sender: int
    parts: dict[str, list[Any]]
    rows: int
    blocks: int
    name: str


def _post(parcel: Parcel) -> tuple[_Posted, SharedMemory]:
    rows, blocks = parcel.bits.shape
    memory = SharedMemory(create=True, size=max(rows * (8 + 4 * blocks), 1))
    np.ndarray(rows, np.int64, memory.buf)[:] = parcel.keys
    np.ndarray((rows, blocks), np.uint32, memory.buf, offset=8 * rows)[:] = parcel.bits
    return _Posted(parcel.sender, parcel.parts, rows, blocks, memory.name), memory


def _open(posted: _Posted) -> Parcel:
    memory = SharedMemory(name=posted.name)
    keys = np.ndarray(posted.rows, np.int64, memory.buf).copy()
    bits = np.ndarray((posted.rows, posted.blocks), np.uint32, memory.buf, offset=8 * posted.rows).copy()
    memory.close()
    return Parcel(posted.sender, posted.parts, keys, bits)


def _serve(pipe: Connection, assignment: Assignment) -> None:
    """A worker process: answer requests until the pipe is closed. An error is an answer too."""
    posted: list[SharedMemory] = []
    try:
        shard = Shard(assignment)
        answer: dict[str, Callable[[Any], Any]] = {
            "report": lambda _: shard.report(),
            "follow": lambda _: _follow(shard, posted),
            "absorb": lambda parcels: shard.absorb(
                [_open(p) for p in parcels if p.sender != assignment.shard]
            ),
            "forget": lambda _: _forget(posted),
            "transitions_by_event": lambda _: shard.transitions_by_event(),
        }
        while True:
            request, argument = pipe.recv()
            if request == _STOP[0]:
                return
            pipe.send(answer[request](argument))
    except BulkError as error:
        pipe.send(error)
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the search is over, or given up: nobody waits for an answer
    finally:
        _forget(posted)


def _follow(shard: Shard, posted: list[SharedMemory]) -> list[_Posted]:
    slips: list[_Posted] = []
    for parcel in shard.follow():
        slip, memory = _post(parcel)
        slips.append(slip)
        posted.append(memory)
    return slips


def _forget(posted: list[SharedMemory]) -> None:
    while posted:
        memory = posted.pop()
        memory.close()
        memory.unlink()
