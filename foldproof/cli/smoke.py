"""``foldproof smoke``: is this adapter alive and honest?"""

from __future__ import annotations

from typing import Annotated

import typer

from foldproof.cli.errors import Exit, IncompleteError
from foldproof.cli.options import Json, Quiet, Seed, print_json

HELP = """Ask an adapter the simplest questions: does it answer, is a reset session empty, is a message shown?

A mistake in the adapter is told apart from a fault of the implementation: run this first, then conform.

\b
Examples:
  foldproof smoke -- python adapter.py
  foldproof smoke --json -- node adapter.js

\b
Exit codes: 0 the adapter is sound, 3 it is not, with the question that it fails.
"""


def smoke(  # noqa: D103 - its help is HELP
    command: Annotated[
        list[str], typer.Argument(help="The adapter's command, after --.", show_default=False)
    ],
    timeout: Annotated[float, typer.Option(help="Seconds for one reply.")] = 10.0,
    json_output: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    from foldproof.conformance.session import GiveUpError, session  # noqa: PLC0415 - pydantic models
    from foldproof.conformance.smoke import smoke as ask  # noqa: PLC0415
    from foldproof.conformance.wire import WireError  # noqa: PLC0415

    try:
        with session(command, timeout) as opened:
            checks = ask(opened)
    except WireError as error:
        tail = f"; stderr ends: {error.stderr.splitlines()[-1][:200]}" if error.stderr else ""
        raise IncompleteError(f"{error}{tail}") from error
    except GiveUpError as error:
        raise IncompleteError(str(error)) from error
    sound = all(check.passed for check in checks)
    if json_output:
        print_json(
            {
                "verdict": "held" if sound else "errored",
                "checks": [{"name": c.name, "passed": c.passed, "detail": c.detail} for c in checks],
            }
        )
    else:
        for check in checks:
            if not quiet or not check.passed:
                detail = f": {check.detail}" if check.detail else ""
                typer.echo(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}{detail}")
        if not sound:
            typer.echo("the adapter is not sound yet: mend this before you judge the implementation")
    return Exit.HOLDS if sound else Exit.ERRORED
