"""``foldproof validate``: judge recorded runs of any implementation, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from foldproof.cli.errors import Exit
from foldproof.cli.options import Json, Quiet, Seed, print_json

HELP = """Judge recorded runs in the conformance protocol.

A file holds the protocol's lines, requests and replies interleaved, from start to stop. Each step's view,
anchors, sizes and committed transitions are checked; what the run does not observe is unchecked, never held.

\b
Examples:
  foldproof validate tests/runs/*.jsonl
  foldproof validate run.jsonl --json

\b
Exit codes: 0 nothing broke, 1 something did, 3 a file is not a complete run.
"""


def validate(  # noqa: D103 - its help is HELP
    files: Annotated[list[Path], typer.Argument(help="Recorded runs, .jsonl.", show_default=False)],
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.conformance.explain import explained  # noqa: PLC0415 - pydantic models
    from foldproof.conformance.run_report import file_json, label, run_lines  # noqa: PLC0415
    from foldproof.conformance.runfile import RunError, validate_file  # noqa: PLC0415

    documents: list[dict[str, Any]] = []
    for path in files:
        try:
            run, checker = validate_file(path)
        except RunError as error:
            typer.echo(f"foldproof: {error}", err=True)
            documents.append({"file": str(path), "verdict": "errored", "error": str(error), "findings": []})
            continue
        findings = explained(checker.findings, run.exchanges)
        documents.append(file_json(str(path), checker, findings, len(run.exchanges) - 1))
        if json_output:
            continue
        if quiet:
            typer.echo(f"{path}: {documents[-1]['verdict']} ({len(findings)} findings, {label(checker)})")
        else:
            typer.echo(f"{path}")
            for line in run_lines(checker, findings, len(run.exchanges) - 1):
                typer.echo(f"  {line}")
    if json_output:
        print_json({"files": documents})
    verdicts = {document["verdict"] for document in documents}
    return Exit.ERRORED if "errored" in verdicts else Exit.VIOLATED if "violated" in verdicts else Exit.HOLDS
