"""The bulk engine on a real Dask cluster of local processes."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from dataclasses import replace

import pytest

from foldproof.explore import bulk
from foldproof.explore.bulk_low import BulkError
from foldproof.explore.result import Progress
from foldproof.model.core import CORE

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")


@pytest.fixture
def cluster() -> Iterator[distributed.LocalCluster]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the cluster's own code warns of is not ours to judge
        with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as local:
            with distributed.Client(local) as client:
                client.wait_for_workers(3)
            yield local


@pytest.mark.filterwarnings("ignore")
def test_same_result_as_one_process(cluster: distributed.LocalCluster) -> None:
    for without in ((), ("D1a_undo", "D7")):
        design = CORE.without(*without)
        alone = bulk.search(CORE, 4, design)
        spread = bulk.search(CORE, 4, design, dask=cluster.scheduler_address)
        assert spread == replace(alone, seconds=spread.seconds)


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_is_an_error(cluster: distributed.LocalCluster) -> None:
    def kill_one(progress: Progress) -> None:
        if progress.layer == 5:
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    with pytest.raises(BulkError, match="there is no result"):
        bulk.search(CORE, 5, dask=cluster.scheduler_address, on_progress=kill_one)


@pytest.mark.filterwarnings("ignore")
def test_no_scheduler_is_an_error() -> None:
    with pytest.raises(BulkError, match="no Dask scheduler answers at"):
        bulk.search(CORE, 3, dask="tcp://127.0.0.1:9")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", ["", "here", "http://127.0.0.1:8786", "tls://127.0.0.1:9"])
def test_a_bad_address_is_one_clear_error(address: str) -> None:
    with pytest.raises(BulkError, match=r"is not the address of a Dask scheduler .* one is like tcp://"):
        bulk.search(CORE, 3, dask=address)
