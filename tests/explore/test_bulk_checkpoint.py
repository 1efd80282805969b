"""A search cut off after any layer, resumed, finds what an unbroken one finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from foldproof.explore import bulk
from foldproof.explore.bulk_low import BulkError
from foldproof.explore.result import Progress
from foldproof.model.core import CORE


class Cut(Exception):  # noqa: N818 - not an error
    pass


def run_until(layer: int, path: Path, bound: int, without: tuple[str, ...]) -> None:
    def stop(progress: Progress) -> None:
        if progress.layer > layer:
            raise Cut

    with pytest.raises(Cut):
        bulk.search(
            CORE, bound, CORE.without(*without), on_progress=stop, checkpoint=path, checkpoint_every=0
        )


@pytest.mark.parametrize("without", [(), ("D1a_undo", "D7"), ("D9",)], ids="+".join)
@pytest.mark.parametrize("layer", [1, 4, 7, 11])
def test_resumed_is_equal_to_unbroken(tmp_path: Path, layer: int, without: tuple[str, ...]) -> None:
    path = tmp_path / "search.npz"
    design = CORE.without(*without)
    unbroken = bulk.search(CORE, 3, design)
    run_until(layer, path, 3, without)
    resumed = bulk.search(CORE, 3, design, checkpoint=path)
    assert resumed == replace(unbroken, seconds=resumed.seconds)
    assert not path.exists()


def test_resumed_starts_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    run_until(9, path, 4, ())
    layers: list[int] = []
    bulk.search(CORE, 4, checkpoint=path, on_progress=lambda progress: layers.append(progress.layer))
    assert layers[0] == 10


def test_stopped_for_memory_goes_on_with_more(tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    stopped = bulk.search(CORE, 4, memory=300_000, checkpoint=path)
    assert not stopped.complete
    assert path.exists()
    resumed = bulk.search(CORE, 4, checkpoint=path)
    assert (resumed.states, resumed.transitions, resumed.complete) == (34_220, 304_509, True)


def test_a_checkpoint_of_another_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    run_until(3, path, 3, ())
    with pytest.raises(BulkError, match="its bound is 3, not 4"):
        bulk.search(CORE, 4, checkpoint=path)
    with pytest.raises(BulkError, match="its without is"):
        bulk.search(CORE, 3, CORE.without("D9"), checkpoint=path)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_torn_checkpoint_is_refused(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "search.npz"
    run_until(5, path, 3, ())
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep if keep >= 1 else keep * len(whole))])
    with pytest.raises(BulkError, match="not a whole checkpoint"):
        bulk.search(CORE, 3, checkpoint=path)
