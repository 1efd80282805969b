"""``foldproof probe``: what of planted facts survives compaction, in the view and within reach."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json

HELP = """Plant facts in a session, compact it, and look for them after every pass.

The facts are decisions, constraints and rare literals, one sentence each.

Compared are the recallable compactor, the basic one with the same settings,
and the basic one with a summary as large as all checkpoints of the
recallable one together (the same budget in the view). No model takes part:
the probe says what could still be known, and what it would cost.

\b
Examples:
  foldproof probe                                    a synthetic session
  foldproof probe session.jsonl --window 32000 --facts 60 --plot probe.png
  foldproof probe --turns 400 --json --seed 7

\b
Exit codes: 0 every compacted fact is found by search and readable in two
hops, 1 one is not, 2 usage, 3 the session cannot be read.
"""


def probe(  # noqa: D103 - its help is HELP
    session: Annotated[
        Path | None, typer.Argument(help="A recorded session; without, a synthetic one.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="pi, dsh, openai, anthropic or auto.")] = "auto",
    window: Annotated[int, typer.Option(help="The model's context window, in tokens.")] = 32_000,
    facts: Annotated[int, typer.Option(help="How many facts to plant.")] = 60,
    turns: Annotated[int, typer.Option(help="Length of the synthetic session, in user prompts.")] = 300,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the result: .png, .svg or .pdf.")
    ] = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.cli import recall_options as shared  # noqa: PLC0415
    from foldproof.conformance.probe import probe_basic, probe_recallable  # noqa: PLC0415
    from foldproof.conformance.synthetic import plant, synthetic_session  # noqa: PLC0415
    from foldproof.reference.session import Session  # noqa: PLC0415

    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        raise UsageError(f"--plot {plot}: the name has to end in .png, .svg or .pdf")
    if facts < 1 or turns < 1:
        raise UsageError("--facts and --turns are at least 1")
    settings = shared.window_settings(window, fsync="never")
    source = shared.imported(session, form) if session is not None else synthetic_session(turns, seed)
    try:
        source, plants = plant(source, facts, seed)
    except ValueError as error:
        raise UsageError(f"--facts {facts}: {error}") from error

    with tempfile.TemporaryDirectory() as folder:

        def run(name: str, job: Callable[[Session], Coroutine[Any, Any, list[Any]]]) -> list[Any]:
            with Session.create(Path(folder) / name, settings) as live:
                return asyncio.run(job(live))

        ours = run("recallable", lambda live: probe_recallable(live, source, plants))
        if not ours:
            raise UsageError(
                f"--window {window}: the session never reached the threshold; take a smaller window"
            )
        rows = {
            "recallable": ours,
            "basic": run("basic", lambda live: probe_basic(live, source, plants)),
            "basic_matched": run("matched", lambda live: probe_basic(live, source, plants, match=ours)),
        }
    report = {
        "session": source.file if session is not None else f"a synthetic session of {turns} turns",
        "messages": len(source.messages),
        "facts": facts,
        "window_tokens": window,
        "seed": seed,
        "compactors": {
            name: {"passes": [row.to_json() for row in items], **_totals(items)}
            for name, items in rows.items()
        },
    }
    if plot is not None:
        from foldproof.report.probe_plot import plot_probe  # noqa: PLC0415

        try:
            plot_probe(report, plot)
        except OSError as error:
            raise IncompleteError(f"--plot {plot}: {error.strerror or error}") from error
    if json_output:
        print_json(report)
    else:
        from foldproof.report.probe_text import probe_lines  # noqa: PLC0415

        for line in probe_lines(report, quiet=quiet):
            typer.echo(line)
    lost = any(row.found < row.stale or row.readable < row.stale for row in ours)
    return Exit.VIOLATED if lost else Exit.HOLDS


def _totals(rows: list[Any]) -> dict[str, Any]:
    """Recall and cache in one place: how often a recall came through, and what the passes cost."""
    asked = sum(row.stale for row in rows)
    return {
        "recall": {
            "asked": asked,
            "found": sum(row.found for row in rows),
            "read": sum(row.recalled for row in rows),
        },
        "cache": {
            "missed_tokens": sum(row.cache_missed_tokens for row in rows),
            "request_tokens": sum(row.view_tokens for row in rows),
        },
        "summarizer_input_tokens": sum(row.summarizer_input_tokens for row in rows),
    }
