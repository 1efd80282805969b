"""Numbers that another implementation, written from the specification alone, arrived at as well."""

import pytest

from foldproof.explore.plain import search, transitions_breadth_first
from foldproof.model.core import CORE


@pytest.mark.parametrize(
    ("bound", "states", "transitions", "layers"), [(3, 5_713, 45_977, 13), (4, 34_220, 304_509, 15)]
)
def test_states_transitions_and_layers(bound: int, states: int, transitions: int, layers: int) -> None:
    result = search(CORE, bound)
    assert (result.states, result.transitions, result.depth) == (states, transitions, layers)
    assert result.complete
    assert not result.violated


def test_transitions_per_event_at_bound_4() -> None:
    assert search(CORE, 4).events == {
        "AppendReply": 5_648, "AppendUser": 5_648, "ApplyCompaction": 57_234, "Call": 446, "Clear": 34_216,
        "CommitIndex": 33_402, "CommitState": 25_220, "FlagFlip": 34_220, "Measure": 34_220,
        "Restore": 34_220, "StepEnd": 18_832, "Undo": 21_203,
    }  # fmt: skip


@pytest.mark.parametrize(("bound", "pairs", "loops"), [(3, 44_456, 3_302), (4, 296_920, 17_417)])
def test_distinct_pairs_and_self_loops(bound: int, pairs: int, loops: int) -> None:
    reached: set[tuple[object, object]] = set()
    same = 0
    for before, _, after, _ in transitions_breadth_first(CORE, bound, CORE.design):
        same += before == after
        reached.add((before, after))
    assert (len(reached), same) == (pairs, loops)
