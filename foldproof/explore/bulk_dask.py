"""One search on an existing Dask cluster: each shard is an actor on a worker of its own.

The same shards and the same barrier as on one machine (`foldproof.explore.bulk_workers`); parcels go
through the client, pickled. An actor lives on one worker: when that worker is gone, so is its share of
the visited states, and the search ends with an error; it is never counted short.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from foldproof.explore.bulk_low import BulkError
from foldproof.explore.bulk_shard import Assignment, Parcel, Report, Shard
from foldproof.explore.bulk_workers import WorkerError

LOST = (
    "a worker of the Dask cluster was lost or failed, and its share of the visited states with it; "
    "there is no result: search again"
)


class Cluster:
    """A team of actors on the workers of a cluster."""

    def __init__(self, client: Any, assignments: list[Assignment]) -> None:
        workers = sorted(client.nthreads())
        self._client, self._workers = client, workers
        futures = [
            client.submit(Shard, assignment, actor=True, workers=[workers[place % len(workers)]], pure=False)
            for place, assignment in enumerate(assignments)
        ]
        self._actors = self._results(futures)

    def reports(self) -> list[Report]:
        """The counts so far."""
        return self._results([actor.report() for actor in self._actors])

    def layer(self) -> list[Report]:
        """All shards follow, exchange and absorb."""
        sent: list[list[Parcel]] = self._results([actor.follow() for actor in self._actors])
        inboxes = [[parcels[to] for parcels in sent if parcels[to].sender != to] for to in range(len(sent))]
        answers = [actor.absorb(inbox) for actor, inbox in zip(self._actors, inboxes, strict=True)]
        return self._results(answers)

    def transitions_by_event(self) -> list[dict[str, int]]:
        """Transitions by name of event, shard by shard."""
        return self._results([actor.transitions_by_event() for actor in self._actors])

    def close(self) -> None:
        """Give the actors up."""
        self._actors = []

    def _results(self, futures: list[Any]) -> list[Any]:
        """The results of futures; an error as soon as a worker that holds a shard is gone."""
        results: list[Any] = []
        for future in futures:
            while True:
                try:
                    results.append(future.result(timeout=_PATIENCE))
                    break
                except BulkError:
                    raise
                except TimeoutError:
                    self._check_workers()
                except Exception as error:
                    raise WorkerError(LOST) from error
        return results

    def _check_workers(self) -> None:
        if not set(self._workers) <= set(self._client.nthreads()):
            raise WorkerError(LOST)


_PATIENCE = 5
"""Seconds to wait for an answer before looking whether its worker is still there."""


@contextmanager
def cluster(address: str, assignments_for: Any) -> Iterator[Cluster]:
    """A team on the cluster with this scheduler address; ``assignments_for(n)`` gives n shards' work."""
    try:
        import distributed  # noqa: PLC0415 - an extra

        untyped: Any = distributed
    except ImportError as error:
        raise BulkError(
            "searching on a Dask cluster needs the extra: pip install 'foldproof[dask]'"
        ) from error
    try:
        client = untyped.Client(address, timeout=10)
    except OSError as error:
        raise BulkError(f"no Dask scheduler answers at {address}: {error}") from error
    except (ValueError, TypeError, RuntimeError, ImportError) as error:  # what its parts say of an address
        raise BulkError(
            f"{address!r} is not the address of a Dask scheduler ({error}); one is like tcp://127.0.0.1:8786"
        ) from error
    try:
        workers = len(client.nthreads())
        if not workers:
            raise BulkError(f"the Dask cluster at {address} has no workers")
        team = Cluster(client, assignments_for(workers))
        try:
            yield team
        finally:
            team.close()
    finally:
        client.close()
