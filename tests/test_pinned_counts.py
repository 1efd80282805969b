"""The reachable states and transitions that two independent implementations agree on."""

import pytest

from foldproof.model.core import CORE


@pytest.mark.parametrize(("bound", "states", "transitions", "loops"), [(3, 5_713, 45_977, 3_302)])
def test_core_counts(bound: int, states: int, transitions: int, loops: int) -> None:
    seen, frontier, taken, same = {CORE.initial}, [CORE.initial], 0, 0
    while frontier:
        reached = []
        for state in frontier:
            for event in CORE.enabled(state, bound, CORE.design):
                after = CORE.canonical(CORE.effect(state, event, CORE.design))
                taken += 1
                same += after == state
                if after not in seen:
                    seen.add(after)
                    reached.append(after)
        frontier = reached
    assert (len(seen), taken, same) == (states, transitions, loops)
