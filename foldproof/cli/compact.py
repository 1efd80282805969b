"""``foldproof compact``: replay a recorded session through a compactor and report every pass."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json

HELP = """Replay a recorded session through a compactor, and report every pass.

The session is read in its own format, message by message; before each
request that its agent sent, a pass runs if the context has reached the
threshold. With the recallable compactor the same session is also run
through the basic one (a single summary, rewritten every pass), for
comparison. --out keeps the log, for foldproof recall and foldproof mcp.

\b
Examples:
  foldproof compact session.jsonl --window 32000
  foldproof compact session.jsonl --format pi --window 32000 --out session.log
  foldproof compact chat.json --summarizer chat --model gpt-4o-mini --json

\b
Exit codes: 0 done, 2 usage, 3 the session cannot be read or a pass failed.
"""


def compact(  # noqa: D103 - its help is HELP
    session: Annotated[Path, typer.Argument(help="The recorded session.", show_default=False)],
    form: Annotated[str, typer.Option("--format", help="pi, dsh, openai, anthropic or auto.")] = "auto",
    window: Annotated[int, typer.Option(help="The model's context window, in tokens.")] = 128_000,
    out: Annotated[Path | None, typer.Option(metavar="LOG", help="Write the log there.")] = None,
    compactor: Annotated[str, typer.Option(help="recallable or basic.")] = "recallable",
    summarizer: Annotated[str, typer.Option(help="extractive (local) or chat (a model).")] = "extractive",
    model: Annotated[str | None, typer.Option(help="The chat summarizer's model.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Its OpenAI-compatible endpoint.", envvar="OPENAI_BASE_URL")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one attempt of a summary.")] = 120.0,
    tokens: Annotated[str, typer.Option(help="characters, or a tiktoken encoding or model.")] = "characters",
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.cli import recall_options as shared  # noqa: PLC0415
    from foldproof.conformance.replaying import replay_session  # noqa: PLC0415
    from foldproof.reference.basic import BasicCompactor  # noqa: PLC0415
    from foldproof.reference.compactor import RecallableCompactor  # noqa: PLC0415
    from foldproof.reference.errors import FoldproofError  # noqa: PLC0415
    from foldproof.reference.session import Session  # noqa: PLC0415
    from foldproof.report.compaction import compaction_lines  # noqa: PLC0415

    kinds = {"recallable": RecallableCompactor, "basic": BasicCompactor}
    if compactor not in kinds:
        raise UsageError(f"there is no compactor {compactor!r}; choose from {', '.join(kinds)}")
    if out is not None and out.exists():
        raise UsageError(f"--out {out}: exists already; remove it, or name another file")
    if out is not None and not out.resolve().parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.resolve().parent}")
    estimate = shared.chosen_estimate(tokens)
    writer = shared.chosen_summarizer(summarizer, model, base_url, timeout, estimate)
    settings = shared.window_settings(window, fsync="never")
    source = shared.imported(session, form)

    def run(kind: str, log: Path) -> dict[str, Any]:
        with Session.create(log, settings, estimate) as live:
            replay = asyncio.run(replay_session(kinds[kind](live, writer), source))
            return {
                "compactor": kind,
                "messages": len(source.messages),
                "passes": [pass_json(report) for report in replay.passes],
                "surface": surface_json(live),
                "notes": [*source.notes, *replay.notes],
            }

    # Written under a name of its own, in the target's folder, and moved when it is complete.
    with tempfile.TemporaryDirectory(dir=out.resolve().parent if out is not None else None) as folder:
        try:
            result = run(compactor, Path(folder) / "log")
            baseline = run("basic", Path(folder) / "basic") if compactor == "recallable" else None
        except (FoldproofError, OSError) as error:
            raise IncompleteError(f"{session}: {error}") from error
        if out is not None:
            (Path(folder) / "log").rename(out)
    report = {
        "session": str(session),
        "format": source.format,
        "window_tokens": window,
        "threshold_tokens": settings.threshold_tokens,
        **result,
        "baseline": baseline,
        "log": str(out) if out is not None else None,
    }
    if json_output:
        print_json(report)
    else:
        for line in compaction_lines(report, quiet=quiet):
            typer.echo(line)
    return Exit.HOLDS


def pass_json(report: Any) -> dict[str, Any]:
    """One pass as the JSON promises it."""
    return {
        "number": report.number,
        "outcome": report.outcome,
        "stubs": report.stubs,
        "regions": report.regions,
        "tokens_before": report.tokens_before,
        "tokens_after": report.tokens_after,
        "cache_missed_tokens": report.cache_missed_tokens,
        "cache_missed_bytes": report.cache_missed_bytes,
        "summarizer_input_tokens": report.summarizer_input_tokens,
        "summarizer_calls": report.summarizer_calls,
        "degraded": report.degraded,
    }


def surface_json(live: Any) -> dict[str, int]:
    """How the surface ends up: items by class, and its size in tokens."""
    counts = {"index": 0, "state": 0, "basic": 0, "message": 0}
    for item in live.view():
        counts[item.kind.value] += 1
    return counts | {"tokens": live.tokens}
