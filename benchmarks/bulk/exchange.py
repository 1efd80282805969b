"""What the exchange between shards costs: processes of one machine against a Dask cluster on it.

    python benchmarks/bulk/exchange.py --bounds 5 6 7 --rounds 3

Both search with the same shards, one after the other in every round. The work of a shard is its processor
time; what a team takes beyond the work of its busiest shard is exchange, barrier and waiting, and for a
processor that others use as well; the processor time beyond the shards' is told apart for that. With
``--dask ADDRESS`` an existing cluster is measured; otherwise a LocalCluster is started with as many worker
processes as there are to be shards.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

from foldproof.explore.bulk_dask import cluster
from foldproof.explore.bulk_shard import Assignment
from foldproof.explore.bulk_workers import drive, processes
from foldproof.model.core import CORE

NAMES = tuple(map(str, CORE.invariants))


def measured(opened: Any, spent: Callable[[], float]) -> dict[str, float]:
    """One search by a team: seconds, work, bytes. ``spent`` is the processor time of all that take part."""
    before, start = spent(), time.perf_counter()
    with opened as team:
        tally = drive(team, None, None)
        reports = team.reports()
    seconds, processor = time.perf_counter() - start, spent() - before
    busy = [report.busy for report in reports]
    return {
        "states": tally.states,
        "seconds": seconds,
        "busiest": max(busy),
        "wait": (seconds - max(busy)) / tally.depth,
        "extra": (processor - sum(busy)) / tally.depth,
        "bytes": sum(report.sent for report in reports),
    }


def own() -> float:
    """Processor time of this process and of those that it has started and that have ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bounds", type=int, nargs="+", default=[5, 6, 7])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--dask", metavar="ADDRESS")
    options = parser.parse_args()

    def assignments(bound: int) -> Callable[[int], list[Assignment]]:
        return lambda shards: [
            Assignment(CORE, bound, CORE.design, NAMES, 3, shard, shards) for shard in range(shards)
        ]

    def rows(address: str) -> None:
        import distributed  # noqa: PLC0415 - an extra, and slow to import

        untyped: Any = distributed
        client = untyped.Client(address)
        print(
            "| L | team | seconds | busiest shard | beyond it, a layer | processor beyond, a layer "
            "| bytes sent | bytes a state |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for bound in options.bounds:
            found: dict[str, list[dict[str, float]]] = {"processes": [], "Dask": []}
            for _ in range(options.rounds):
                found["processes"].append(measured(processes(assignments(bound)(options.shards)), own))
                found["Dask"].append(
                    measured(
                        cluster(address, assignments(bound)),
                        lambda: own() + sum(client.run(time.process_time).values()),
                    )
                )
            for name, runs in found.items():
                middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
                print(
                    f"| {bound} | {name} | {middle['seconds']:.2f} | {middle['busiest']:.2f} "
                    f"| {1000 * middle['wait']:.0f} ms | {1000 * middle['extra']:.0f} ms "
                    f"| {middle['bytes']:,.0f} | {middle['bytes'] / middle['states']:.1f} |",
                    flush=True,
                )
        client.close()

    if options.dask is not None:
        rows(options.dask)
        return
    import distributed  # noqa: PLC0415 - an extra, and slow to import

    with distributed.LocalCluster(
        n_workers=options.shards, threads_per_worker=1, dashboard_address=None
    ) as local:
        rows(local.scheduler_address)


if __name__ == "__main__":
    main()
