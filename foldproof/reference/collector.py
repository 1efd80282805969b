"""Replaying a log without the cyclic garbage collector looking on.

A replay makes objects by the million, keeps them all, and ties no knots. The collector walks them
again and again all the same: at 10^6 events that was 40 % of the time, and made the cost of an event
grow with the length of the log.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cyclic collector, unless the host has done so itself. Also a decorator."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
