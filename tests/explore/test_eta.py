"""The estimate of what a search has still to find, held against what searches find."""

from __future__ import annotations

import pytest

from foldproof.explore import bulk
from foldproof.explore.eta import remaining_states
from foldproof.explore.result import Progress
from foldproof.model.core import CORE


@pytest.mark.parametrize("bound", [4, 5])
def test_right_within_two_fifths_once_layers_no_longer_double_and_soon_better(bound: int) -> None:
    seen: list[Progress] = []
    states = bulk.search(CORE, bound, on_progress=seen.append).states
    frontiers = [progress.frontier for progress in seen]
    largest = frontiers.index(max(frontiers))
    estimated = 0
    for layer in range(len(frontiers)):
        estimate = remaining_states(frontiers[: layer + 1])
        if estimate is not None:
            total = seen[layer].states + estimate
            assert total == pytest.approx(states, rel=1 / 6 if layer > largest else 0.4)
            estimated += 1
    assert estimated > len(frontiers) // 2


@pytest.mark.parametrize("frontiers", [[], [5], [5, 28], [5, 28, 139], [9, 3, 0]])
def test_nothing_is_said_too_early_or_at_the_end(frontiers: list[int]) -> None:
    assert remaining_states(frontiers) is None


def test_a_level_search_is_not_said_to_go_on_for_ever() -> None:
    estimate = remaining_states([1_000, 1_000, 1_000])
    assert estimate is not None
    assert 1_000 < estimate < 100_000
