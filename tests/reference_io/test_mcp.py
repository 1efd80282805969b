"""The MCP server, driven by the official client over stdio, in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from foldproof.conformance.replaying import replay_session
from foldproof.conformance.synthetic import plant, synthetic_session
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.messages import ChatMessage
from foldproof.reference.recall import PROMPT_SECTION, SCHEMAS
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

mcp = pytest.importorskip("mcp")


def test_a_client_lists_searches_reads_and_sees_the_log_grow(tmp_path: Path) -> None:
    log = tmp_path / "log"
    source, plants = plant(synthetic_session(20), 4)
    with Session.create(log, Settings.for_window(8_000)) as session:
        asyncio.run(replay_session(RecallableCompactor(session), source))

    async def go() -> None:
        parameters = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "foldproof", "mcp", str(log)]
        )
        async with mcp.Client(parameters) as client:
            assert client.server_info.name == "foldproof"
            assert client.instructions == PROMPT_SECTION
            listed = await client.list_tools()
            assert [(t.name, t.description, t.input_schema) for t in listed.tools] == [
                (s["name"], s["description"], s["parameters"]) for s in SCHEMAS
            ]

            async def call(name: str, **arguments: object) -> tuple[str, bool]:
                result = await client.call_tool(name, arguments)
                return result.content[0].text, bool(result.is_error)

            found, failed = await call("history_search", query=plants[0].literal.lower())
            assert plants[0].literal in found
            assert not failed
            checkpoint = found.split()[0]
            text, failed = await call("history_read", checkpoint=checkpoint)
            assert plants[0].sentence in text
            assert not failed
            for arguments in ({"checkpoint": "c999999"}, {"checkpoint": checkpoint, "offset": -1}, {}):
                text, failed = await call("history_read", **arguments)
                assert failed
                assert "\n" not in text
            assert (await call("history_search", query="grown since"))[0].startswith("No match.")
            with Session.open(log, Settings.for_window(8_000)) as session:
                session.append(ChatMessage("user", "it has grown since"))
                session.append_all(m.message for m in synthetic_session(12, 3).messages)
                await RecallableCompactor(session).compact_now()
            assert "it has grown since" in (await call("history_search", query="grown since"))[0]

    asyncio.run(asyncio.wait_for(go(), 60))


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [("absent", None, 2, "there is no such log"), ("bad", b"x\n", 3, ":1: ")],
)
def test_a_log_that_cannot_be_served_is_one_line(
    tmp_path: Path, name: str, content: bytes | None, code: int, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "foldproof", "mcp", str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
