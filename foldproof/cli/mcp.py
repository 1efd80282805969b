"""``foldproof mcp``: the recall tools over a log, for any MCP client, on stdin and stdout."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import Json, Quiet, Seed

HELP = """Serve history_read and history_search over a log to an MCP client, on stdin
and stdout.

The log is only read, and read again whenever it has grown: the agent that
writes it may be at work.

\b
Examples:
  foldproof compact session.jsonl --window 32000 --out session.log
  foldproof mcp session.log

A client's configuration:
  {"command": "foldproof", "args": ["mcp", "session.log"]}
"""


def mcp(  # noqa: D103 - its help is HELP
    log: Annotated[
        Path, typer.Argument(help="A log, as foldproof compact --out writes it.", show_default=False)
    ],
    as_json: Json = False,
    quiet: Quiet = False,
    seed: Seed = 0,
) -> int:
    del as_json, quiet, seed  # every command takes them; stdout is the protocol's, which is JSON, and no more
    if importlib.util.find_spec("mcp") is None:
        raise UsageError("the MCP server needs an extra: pip install 'foldproof[mcp]'")
    from foldproof.conformance.mcp_server import LogReader, serve  # noqa: PLC0415
    from foldproof.reference.errors import FoldproofError  # noqa: PLC0415

    try:
        reader = LogReader(log)
    except FileNotFoundError:
        raise UsageError(
            f"{log}: there is no such log; foldproof compact SESSION --out LOG writes one"
        ) from None
    except (FoldproofError, OSError) as error:
        raise IncompleteError(str(error)) from error
    asyncio.run(serve(reader))
    return Exit.HOLDS
