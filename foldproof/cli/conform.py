"""``foldproof conform``: run the suite against an implementation in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import Json, Quiet, Seed, print_json, writable_directory

if TYPE_CHECKING:
    from foldproof.conformance.campaign_record import Report

HELP = """Run the conformance suite against an implementation.

COMMAND is started in a process of its own and speaks the protocol on stdin and stdout (docs/conformance.md).
It is given every short script of events, random scripts that are shrunk, and the named vectors. Each fault is
shown with its shortest script, the two sides of the broken equation, and the design clause that explains it.

\b
Examples:
  foldproof conform -- python my_adapter.py
  foldproof conform --mode refinement -- python -m foldproof.conformance.model_adapter
  foldproof conform --budget 60 --junit out.xml --save faults -- node adapter.mjs

\b
Exit codes: 0 nothing broke, 1 something did, 2 usage, 3 the implementation could not be run or errored.
"""


def conform(  # noqa: D103 - its help is HELP
    command: Annotated[
        list[str], typer.Argument(help="The adapter's command, after --.", show_default=False)
    ],
    mode: Annotated[
        str,
        typer.Option(help="invariants, for any implementation; refinement, for one that claims the design."),
    ] = "invariants",
    exhaustive: Annotated[int, typer.Option(help="Every script of up to so many events.")] = 4,
    examples: Annotated[int, typer.Option(help="How many random scripts.")] = 150,
    steps: Annotated[int, typer.Option(help="How many events a random script has at most.")] = 18,
    vectors: Annotated[
        Path | None, typer.Option(help="A folder of vectors instead of the shipped ones.")
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds for the whole campaign.")] = 120.0,
    timeout: Annotated[float, typer.Option(help="Seconds for one reply.")] = 10.0,
    workers: Annotated[int, typer.Option(help="Processes that run short scripts side by side.")] = 1,
    only: Annotated[
        list[str] | None, typer.Option(help="Send this event only (repeatable), as undo.")
    ] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Never send this event (repeatable).")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a Markdown summary to this file.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Write each fault there: a run to replay, ITF, and one HTML page of all."),
    ] = None,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.conformance.campaign import run_campaign  # noqa: PLC0415 - pydantic models
    from foldproof.conformance.campaign_record import Settings  # noqa: PLC0415 - pydantic models
    from foldproof.conformance.scenarios import SCENARIOS  # noqa: PLC0415
    from foldproof.conformance.script import words  # noqa: PLC0415
    from foldproof.conformance.vectors import VectorError, read_vectors  # noqa: PLC0415
    from foldproof.conformance.wire import WireError  # noqa: PLC0415

    if mode not in ("invariants", "refinement"):
        raise UsageError(f"--mode is invariants or refinement, not {mode!r}")
    if (
        exhaustive < 0
        or examples < 0
        or steps < 1
        or not 1 <= workers <= 64
        or not 0 < budget < 1e9
        or not 0 < timeout < 1e9
    ):
        raise UsageError(
            "--exhaustive, --examples, --steps, --workers, --budget and --timeout count something"
        )
    settings = Settings(
        exhaustive,
        examples,
        steps,
        budget,
        workers,
        seed,
        timeout,
        mode == "refinement",
        chosen_words(only or [], skip or []),
    )
    for path in (junit, markdown):
        if path is not None and not path.absolute().parent.is_dir():
            raise UsageError(f"cannot write {path}: its folder does not exist")
    if save is not None:
        writable_directory(save)
    try:
        cases = (
            [(s.name, words(s.script)) for s in SCENARIOS]
            if vectors is None
            else [(v.name, words(v.script)) for v in read_vectors(vectors)]
        )
    except VectorError as error:
        raise IncompleteError(str(error)) from error
    try:
        report = run_campaign(command, settings, cases)
    except WireError as error:
        tail = f"; stderr ends: {error.stderr.splitlines()[-1][:200]}" if error.stderr else ""
        raise IncompleteError(f"{error}{tail}") from error
    show(report, json_output=json_output, quiet=quiet, junit=junit, markdown=markdown, save=save)
    return {"held": Exit.HOLDS, "violated": Exit.VIOLATED}.get(report.verdict, Exit.ERRORED)


def chosen_words(only: list[str], skip: list[str]) -> tuple[str, ...]:
    """The words that a script may have. Raises `UsageError` for an event that does not exist."""
    from foldproof.conformance.script import EVENT_OF  # noqa: PLC0415

    events = tuple(dict.fromkeys(EVENT_OF.values()))
    for name in (*only, *skip):
        if name not in events:
            raise UsageError(f"there is no event {name!r}; events are {', '.join(events)}")
    return tuple(word for word, name in EVENT_OF.items() if (not only or name in only) and name not in skip)


def show(
    report: Report,
    *,
    json_output: bool,
    quiet: bool,
    junit: Path | None,
    markdown: Path | None,
    save: Path | None,
) -> None:
    """Print the report and write the files that were asked for."""
    from foldproof.conformance import campaign_report as forms  # noqa: PLC0415 - pydantic models

    if json_output:
        print_json(forms.report_json(report))
    else:
        for number, line in enumerate(forms.report_lines(report)):
            if quiet and number > 2:
                break
            typer.echo(line)
    if os.environ.get("GITHUB_ACTIONS") == "true" and not json_output:
        for line in forms.github_annotations(report):
            typer.echo(line)
    if junit is not None:
        junit.write_bytes(forms.junit(report))
    if markdown is not None:
        markdown.write_text(forms.markdown(report), encoding="utf-8")
    if save is not None:
        written = forms.save(report, save)
        if written:
            written.append(write_page(written, save, report.handshake.implementation.name))
        for path in written:
            typer.echo(f"wrote {path}", err=True)
    elif report.located and not json_output and not quiet:
        typer.echo("\n--save DIR keeps each fault as a run, as an ITF trace, and on a page to look at")


def write_page(written: list[Path], directory: Path, name: str) -> Path:
    """One page of all faults, each beside the model: what `foldproof explore --run` makes of the runs."""
    from foldproof.conformance.exhibits import run_exhibit  # noqa: PLC0415 - jinja2
    from foldproof.report.explorer.page import explorer_page  # noqa: PLC0415

    page = directory / "faults.html"
    exhibits = [run_exhibit(path) for path in written if path.suffix == ".jsonl"]
    page.write_text(explorer_page(exhibits, f"Faults of {name}"), encoding="utf-8")
    return page
