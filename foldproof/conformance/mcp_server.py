"""The recall tools as an MCP server: any client can read what compaction took out of a session's context."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldproof import __version__
from foldproof.reference.errors import FoldproofError
from foldproof.reference.recall import PROMPT_SECTION, SCHEMAS, RecallTools
from foldproof.reference.session import Session

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext


class LogReader:
    """The session in a log, read again whenever the file has changed: its agent may still be at work."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None
        self._session = self.session()

    def session(self) -> Session:
        """The session as the log tells it now. Raises FoldproofError, OSError."""
        status = self.path.stat()
        now = (status.st_size, status.st_mtime_ns)
        if now != self._seen:
            self._session, self._seen = Session.read(self.path), now
        return self._session


def recall_server(log: LogReader) -> Server[Any]:
    """An MCP server with ``history_read`` and ``history_search`` over a log (extra ``mcp``).

    A tool's error (an unknown checkpoint, a bad argument) is an error result with one line of text, as
    the model should see it; the server goes on.
    """
    from mcp import types  # noqa: PLC0415 - an extra
    from mcp.server import Server  # noqa: PLC0415

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=schema["name"],
                    description=schema["description"],
                    input_schema=schema["parameters"],
                    annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
                )
                for schema in SCHEMAS
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            text = await RecallTools(log.session()).call(params.name, params.arguments or {})
        except (FoldproofError, OSError) as error:
            return types.CallToolResult(
                content=[types.TextContent(text=_encodable(str(error)))], is_error=True
            )
        return types.CallToolResult(content=[types.TextContent(text=_encodable(text))])

    return Server(
        "foldproof",
        version=__version__,
        instructions=PROMPT_SECTION,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve(log: LogReader) -> None:
    """Serve on stdin and stdout until the client hangs up."""
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    server = recall_server(log)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _encodable(text: str) -> str:
    """Text that UTF-8 can carry: a lone surrogate, which a log may hold, is written as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
