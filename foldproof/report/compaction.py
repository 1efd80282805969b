"""The report of ``foldproof compact`` for people: one line a pass, and the comparison with the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_COLUMNS = ("pass", "stubs", "new", "before", "after", "missed", "read")


def compaction_lines(report: dict[str, Any], *, quiet: bool = False) -> Iterator[str]:
    """Yield the lines. ``missed`` is what the prompt cache cannot serve, ``read`` the summarizer's input."""
    yield (
        f"{report['session']}: {report['messages']:,} messages ({report['format']}), "
        f"window {report['window_tokens']:,}, threshold {report['threshold_tokens']:,} tokens"
    )
    if not quiet:
        for note in report["notes"]:
            yield f"note: {note}"
    for part in (report, report["baseline"]):
        if part is not None:
            yield ""
            yield from _passes(part, quiet=quiet)
    if report["baseline"] is not None and report["passes"] and report["baseline"]["passes"]:
        yield ""
        yield _comparison(report["passes"], report["baseline"]["passes"])
    if report["log"] is not None:
        yield ""
        yield f"log: {report['log']}"


def _passes(part: dict[str, Any], *, quiet: bool) -> Iterator[str]:
    passes, surface = part["passes"], part["surface"]
    shape = ", ".join(
        f"{surface[kind]} {kind}" for kind in ("index", "state", "basic", "message") if surface[kind]
    )
    yield f"{part['compactor']}: {len(passes)} passes; at the end {surface['tokens']:,} tokens: {shape}"
    if quiet:
        return
    if not passes:
        yield "  no pass was due: below the threshold, or nothing stale yet"
        return
    yield "  " + "".join(f"{name:>9}" for name in _COLUMNS)
    for item in passes:
        values = (
            item["number"],
            item["stubs"],
            item["regions"],
            item["tokens_before"],
            item["tokens_after"],
            item["cache_missed_tokens"],
            item["summarizer_input_tokens"],
        )
        refused = "" if item["outcome"] == "committed" else f"  ({item['outcome']})"
        yield "  " + "".join(f"{value:>9,}" for value in values) + refused


def _comparison(ours: Sequence[dict[str, Any]], basic: Sequence[dict[str, Any]]) -> str:
    def share(passes: Sequence[dict[str, Any]]) -> float:
        total = sum(item["tokens_after"] for item in passes)
        return float(sum(item["cache_missed_tokens"] for item in passes) / max(1, total))

    return (
        f"of the requests right after a pass, the prompt cache missed {share(ours):.0%} with the recallable "
        f"compactor, {share(basic):.0%} with the basic one"
    )
