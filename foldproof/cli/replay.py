"""``foldproof replay``: execute a trace again, refuse it where it does not follow, show it step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json
from foldproof.explore.trace import Trace
from foldproof.explore.tracefile import TraceError, read_trace
from foldproof.explore.tracefile import replay as follow
from foldproof.report.text import trace_lines

HELP = """Execute a trace again, JSON or ITF, and show it step by step.

With --against, the file is a recorded run in the conformance protocol (as ``conform --save`` writes it): its
requests are sent to COMMAND again, and what it answers now is judged.

Every state and verdict that the file stores is compared with the model's; a trace that does not follow
is refused with the step and the place.

\b
Examples:
  foldproof replay VIEW.json
  foldproof replay VIEW.itf.json --json
  foldproof replay faults/01-SYNC-sync-restore.jsonl --against -- python adapter.py

\b
Exit codes: 0 the invariants hold in every state, 1 one is violated, 3 the file is not such a trace.
"""


def replay(  # noqa: D103 - its help is HELP
    file: Annotated[Path, typer.Argument(help="A trace, .json or .itf.json.", show_default=False)],
    command: Annotated[
        list[str] | None, typer.Argument(help="With --against: a command, after --.", show_default=False)
    ] = None,
    against: Annotated[
        bool, typer.Option("--against", help="Send a recorded run's requests to COMMAND again.")
    ] = False,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    if against or command:
        if not (against and command):
            raise UsageError("--against needs a command after --, and a command needs --against")
        return _replay_against(file, command, json_output=json_output, quiet=quiet)
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


def _replay_against(file: Path, command: list[str], *, json_output: bool, quiet: bool) -> int:
    """Send a recorded run's requests to a process and judge its answers of now."""
    from foldproof.conformance.resend import resend  # noqa: PLC0415 - pydantic models
    from foldproof.conformance.run_report import run_lines  # noqa: PLC0415
    from foldproof.conformance.runfile import RunError  # noqa: PLC0415
    from foldproof.conformance.wire import WireError  # noqa: PLC0415

    try:
        checker, findings, exchanges = resend(file, command)
    except (RunError, WireError) as error:
        if isinstance(error, RunError) and _is_trace(file):
            what = (
                "a trace of the model; --against takes a recorded run (.jsonl), as conform --save writes it"
            )
            raise UsageError(f"{file}: {what}") from error
        raise IncompleteError(str(error)) from error
    if json_output:
        steps = [
            {
                "step": e.request.seq,
                "status": e.reply.status,
                "findings": [f.to_json() for f in findings if f.step == e.request.seq],
            }
            for e in exchanges
        ]
        print_json({"steps": steps, "verdicts": checker.verdicts()})
    else:
        for number, line in enumerate(run_lines(checker, findings, len(exchanges) - 1)):
            if number == 0 or not quiet:
                typer.echo(line)
    return Exit.VIOLATED if findings else Exit.HOLDS


def _is_trace(file: Path) -> bool:
    try:
        read_trace(file)
    except TraceError:
        return False
    return True


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
