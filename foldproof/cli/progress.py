"""A progress line for searches: on a terminal only, on stderr, gone when the search ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
    with console.status(what) as status:

        def show(progress: Progress) -> None:
            rate = progress.transitions / max(progress.seconds, 1e-9)
            status.update(
                f"{what}: layer {progress.layer}, frontier {progress.frontier:,}, "
                f"{progress.states:,} states, {rate:,.0f} transitions/s"
            )

        yield show


@contextmanager
def progress_rows(what: str, *, quiet: bool) -> Iterator[Callable[[Row], None] | None]:
    """Give a callback that shows which row of a matrix was finished, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return

    from rich.console import Console  # noqa: PLC0415 - nothing to draw in a pipe

    with Console(stderr=True).status(what) as status:
        yield lambda row: status.update(f"{what}: done without {' + '.join(row.without)}")
