"""How many states a breadth-first search has still to find, by the growth of its layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

SLOW = 2.0
"""Growth from one layer to the next below which an estimate is worth giving."""

_LEAST_BEND = 0.02
_MOST_LAYERS = 1_000


def remaining_states(frontiers: Sequence[int]) -> int | None:
    """States beyond the last of these layers, or None while nothing can be said.

    The logarithm of a layer's size is a curve that bends down by about as much from layer to layer, so
    the last three layers are continued by a parabola. In the core this is right within two fifths from the
    moment on that layers no longer double (it says too little), and within a sixth past the largest layer.
    """
    if len(frontiers) < 3 or frontiers[-1] == 0 or frontiers[-1] >= SLOW * frontiers[-2]:
        return None
    before, last, size = (math.log(frontier) for frontier in frontiers[-3:])
    growth = size - last
    bend = min(growth - (last - before), -_LEAST_BEND)
    total = 0.0
    for _ in range(_MOST_LAYERS):
        growth += bend
        size += growth
        if size < 0:
            break
        total += math.exp(size)
    return round(total)
