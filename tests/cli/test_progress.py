"""The progress line: rate always, the time left once the layers tell."""

from __future__ import annotations

import pytest

from foldproof.cli.progress import progress_text
from foldproof.explore.result import Progress


def test_rate_and_frontier() -> None:
    text = progress_text(Progress(3, 139, 173, 2_000, 0.5), [5, 28, 139])
    assert text == "layer 3, frontier 139, 173 states, 4,000 transitions/s"


@pytest.mark.parametrize(
    ("seconds", "left"),
    [(1.0, "about 1 s left"), (400.0, "about 2 min left"), (36_000.0, "about 3.4 h left")],
)
def test_time_left_by_the_growth_of_the_layers(seconds: float, left: str) -> None:
    progress = Progress(10, 32_496, 136_424, 1_000_000, seconds)
    assert progress_text(progress, [21_863, 32_980, 36_515, 32_496]).endswith(left)
