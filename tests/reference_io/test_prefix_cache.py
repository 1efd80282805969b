"""What a pass costs the prompt cache stays flat while the session grows tenfold; a single summary's grows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from foldproof.conformance.prefix_cache import CacheRow, prefix_cache
from foldproof.reference.settings import Settings


def spread(rows: Sequence[CacheRow], name: str) -> tuple[float, float]:
    """Smallest and largest miss from pass 5 on, relative to pass 5's."""
    later = [getattr(row, name) for row in rows[4:]]
    return min(later) / later[0], max(later) / later[0]


def is_flat(rows: Sequence[CacheRow], name: str) -> bool:
    low, high = spread(rows, name)
    return low >= 0.9 and high <= 1.1


@pytest.mark.parametrize("fill", [True, False], ids=["full summaries", "extractive"])
def test_misses_stay_flat_from_pass_5_to_pass_50(tmp_path: Path, fill: bool) -> None:
    rows = asyncio.run(prefix_cache(tmp_path, Settings(fsync="never"), 50, 100, fill=fill))
    assert len(rows) == 50
    assert rows[-1].messages / rows[4].messages > 9.8
    assert is_flat(rows, "recallable")
    # The check can fail: as a single summary with the same budget in the view, the same facts grow.
    if fill:
        assert not is_flat(rows, "basic_matched")
        assert spread(rows, "basic_matched")[1] > 1.5
    for row in rows[1:]:
        assert row.basic == row.basic_request, "the basic compactor kept a prefix"
        assert row.basic_matched == row.basic_matched_request
        assert row.recallable < row.recallable_request or row.number < 4
    # The session's own share of the request that is served from the cache grows.
    first, last = rows[4], rows[-1]
    assert last.recallable / last.recallable_request < 0.8 * first.recallable / first.recallable_request
