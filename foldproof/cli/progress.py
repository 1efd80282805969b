"""A progress line for searches: on a terminal only, on stderr, gone when the search ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from foldproof.explore.eta import remaining_states
from foldproof.explore.matrix import Row
from foldproof.explore.result import OnProgress, Progress


@contextmanager
def progress_line(what: str, *, quiet: bool) -> Iterator[OnProgress | None]:
    """Give a callback that shows rate and frontier, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    from rich.console import Console  # noqa: PLC0415 - nothing to draw in a pipe

    console = Console(stderr=True)
    frontiers: dict[int, int] = {}
    with console.status(what) as status:

        def show(progress: Progress) -> None:
            frontiers[progress.layer] = progress.frontier
            status.update(f"{what}: {progress_text(progress, list(frontiers.values()))}")

        yield show


def progress_text(progress: Progress, frontiers: list[int]) -> str:
    """How far a search is, how fast, and how long it may still take by the growth of its layers."""
    seconds = max(progress.seconds, 1e-9)
    text = (
        f"layer {progress.layer}, frontier {progress.frontier:,}, {progress.states:,} states, "
        f"{progress.transitions / seconds:,.0f} transitions/s"
    )
    remaining = remaining_states(frontiers)
    if remaining is None:
        return text
    return f"{text}, about {_duration(remaining * seconds / progress.states)} left"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress_rows(what: str, *, quiet: bool) -> Iterator[Callable[[Row], None] | None]:
    """Give a callback that shows which row of a matrix was finished, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    from rich.console import Console  # noqa: PLC0415 - nothing to draw in a pipe

    with Console(stderr=True).status(what) as status:
        yield lambda row: status.update(f"{what}: done without {' + '.join(row.without)}")
