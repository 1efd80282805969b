"""Prompt-cache misses of 50 passes while the session grows tenfold from the 5th to the 50th.

python benchmarks/reference/prefix_cache.py            summaries that use up their caps
python benchmarks/reference/prefix_cache.py --extractive

Prints one JSON object: chosen rows, and for each compactor the smallest and largest miss of the passes
from the 5th on, as ratios to the 5th's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from foldproof.conformance.prefix_cache import prefix_cache
from foldproof.reference.settings import Settings


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--extractive", action="store_true")
    parser.add_argument("--passes", type=int, default=50)
    parser.add_argument("--messages", type=int, default=100, help="messages a pass")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        job = prefix_cache(
            Path(folder), Settings(fsync="never"), chosen.passes, chosen.messages, fill=not chosen.extractive
        )
        rows = asyncio.run(job)
    later = rows[4:]
    spread = {
        name: [round(f(getattr(r, name) for r in later) / getattr(later[0], name), 3) for f in (min, max)]
        for name in ("recallable", "basic", "basic_matched")
    }
    shown = [row.to_json() for row in rows if row.number in (1, 5) or row.number % 10 == 0]
    growth = round(rows[-1].messages / rows[4].messages, 2)
    print(json.dumps({"growth": growth, "relative_to_pass_5": spread, "passes": shown}, indent=1))


if __name__ == "__main__":
    main()
