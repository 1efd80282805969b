"""``foldproof replay``: execute a trace again, refuse it where it does not follow, show it step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError
from foldproof.cli.options import Json, Quiet, Seed, print_json
from foldproof.explore.trace import Trace
from foldproof.explore.tracefile import TraceError, read_trace
from foldproof.explore.tracefile import replay as follow
from foldproof.report.text import trace_lines

HELP = """Execute a trace again, JSON or ITF, and show it step by step.

Every state and verdict that the file stores is compared with the model's; a trace that does not follow
is refused with the step and the place.

\b
Examples:
  foldproof replay VIEW.json
  foldproof replay VIEW.itf.json --json

\b
Exit codes: 0 the invariants hold in every state, 1 one is violated, 3 the file is not such a trace.
"""


def replay(  # noqa: D103 - its help is HELP
    file: Annotated[Path, typer.Argument(help="A trace, .json or .itf.json.", show_default=False)],
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    try:
        trace = read_trace(file)
        follow(trace)
    except TraceError as error:
        text = str(error)
        raise IncompleteError(text if text.startswith(str(file)) else f"{file}: {text}") from error
    violated = any(v.verdict == "violated" for verdicts in trace.verdicts for v in verdicts.values())
    if json_output:
        print_json(replay_json(trace))
    elif quiet:
        typer.echo(f"{file}: {len(trace.events)} steps follow; {'violated' if violated else 'holds'}")
    else:
        for line in trace_lines(trace):
            typer.echo(line)
    return Exit.VIOLATED if violated else Exit.HOLDS


def replay_json(trace: Trace) -> dict[str, Any]:
    """The JSON that ``replay`` promises: one entry a step, then the worst verdict of each invariant."""
    document = trace.model_dump(mode="json", exclude_none=True)
    return {
        "machine": trace.machine,
        "without": list(trace.without),
        "bound": trace.bound,
        "steps": [
            {"step": number, "event": event, "state": state, "verdicts": verdicts}
            for number, (event, state, verdicts) in enumerate(
                zip(["start", *document["events"]], document["states"], document["verdicts"], strict=True)
            )
        ],
        "verdicts": {
            name: "violated" if any(v[name].verdict == "violated" for v in trace.verdicts) else "held"
            for name in trace.verdicts[-1]
        },
    }
