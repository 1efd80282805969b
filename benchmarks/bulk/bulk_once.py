"""One search by the bulk engine, as a process of its own: bound and workers in, one JSON object out."""

from __future__ import annotations

import json
import resource
import sys

from foldproof.explore import bulk
from foldproof.model.core import CORE


def main() -> None:
    bound, workers = int(sys.argv[1]), int(sys.argv[2])
    found = bulk.search(CORE, bound, workers=workers)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * workers if workers > 1 else 0
    result = {
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "seconds": found.seconds,
        "bytes": (own + children) * 1024,
        "violated": found.violated,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
