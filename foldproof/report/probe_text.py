"""The handoff probe's report for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NAMES = {
    "recallable": "recallable",
    "basic": "basic, same settings",
    "basic_matched": "basic, same budget in the view",
}
_COLUMNS = ("pass", "stale", "in view", "found", "readable", "view", "missed", "recall")
_SHOWN = 12


def probe_lines(report: dict[str, Any], *, quiet: bool = False) -> Iterator[str]:
    """Yield the lines: a table a compactor (long ones thinned out), then the totals."""
    yield (
        f"{report['session']}: {report['messages']:,} messages, {report['facts']} facts planted, "
        f"window {report['window_tokens']:,} tokens"
    )
    for name, part in report["compactors"].items():
        passes = part["passes"]
        yield ""
        if not passes:
            yield f"{_NAMES[name]}: no pass"
            continue
        last = passes[-1]
        yield (
            f"{_NAMES[name]}: {len(passes)} passes; of {last['stale']} facts compacted at the last one, "
            f"{last['in_view']} in view, {last['found']} found, {last['readable']} readable in two hops"
        )
        if not quiet:
            yield "  " + "".join(f"{column:>10}" for column in _COLUMNS)
            for item in _thinned(passes):
                values = (
                    item["pass"],
                    item["stale"],
                    item["in_view"],
                    item["found"],
                    item["readable"],
                    item["view_tokens"],
                    item["cache_missed_tokens"],
                    round(item["read_tokens"]),
                )
                yield "  " + "".join(f"{value:>10,}" for value in values)
    if not quiet:
        yield ""
        yield "view, missed (by the prompt cache) and recall (search and read, mean) are in tokens"


def _thinned(passes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most `_SHOWN` rows, evenly spread, the first and the last among them."""
    if len(passes) <= _SHOWN:
        return passes
    return [passes[round(n * (len(passes) - 1) / (_SHOWN - 1))] for n in range(_SHOWN)]
