"""One function on many arguments, shared among processes that are forked from this one."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")

_function: Callable[[Any], Any]


class WorkerLostError(Exception):
    """A process ended before its work was done."""


def cores() -> int:
    """The processor cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def forked(
    function: Callable[[ArgumentT], ResultT], arguments: Sequence[ArgumentT], workers: int
) -> Iterator[ResultT]:
    """The function's results, in the order of the arguments, each as soon as those before it are there.

    ``workers`` processes work on them. The function need not be picklable: the processes are forked.
    Where they cannot be, or for one worker, this process does the work. An error in the function is
    raised here. Raises `WorkerLostError` when a process is killed.
    """
    workers = min(workers, len(arguments))
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(function, arguments)
        return
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, context, _start, (function,))
    try:
        yield from pool.map(_apply, arguments)
    except BrokenProcessPool as error:
        raise WorkerLostError(
            "a worker process ended (out of memory, or killed); there is no result: "
            "try again with fewer workers"
        ) from error
    finally:
        # Waiting matters: a pool that is left behind is taken apart while the interpreter ends, noisily.
        pool.shutdown(wait=True, cancel_futures=True)


def _start(function: Callable[[Any], Any]) -> None:
    global _function  # noqa: PLW0603 - what a forked process is for
    _function = function


def _apply(argument: Any) -> Any:
    return _function(argument)
