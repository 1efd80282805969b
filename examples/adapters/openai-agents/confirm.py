"""Confirms with openai-agents alone what the field report says of it. Exits 0 when every finding is there, 1
otherwise."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agents.extensions.memory import AdvancedSQLiteSession
from agents.memory import OpenAIResponsesCompactionSession


class Endpoint:
    """Stands in for the provider's client; keeps the texts that it was asked to compact."""

    def __init__(self) -> None:
        self.responses, self.given = self, []

    async def compact(self, *, model: str, input: Any = None, previous_response_id: str | None = None) -> Any:
        """One compaction item."""
        self.given = [str(entry["content"]) for entry in input or []]
        text = f"COMPACTED {self.given or previous_response_id}"
        return SimpleNamespace(
            output=[{"type": "compaction", "id": "c", "encrypted_content": text}], usage=None
        )


def compacting(store: Any, endpoint: Any, mode: Any) -> OpenAIResponsesCompactionSession:
    """The wrapper that compacts a session, with our endpoint."""
    return OpenAIResponsesCompactionSession("s", store, client=endpoint, compaction_mode=mode)


def user(text: str) -> Any:
    """A prompt."""
    return {"role": "user", "content": text}


def reply(text: str) -> Any:
    """An answer."""
    return {"role": "assistant", "content": text}


def texts(items: Any) -> list[str]:
    """The texts of items."""
    return [str(entry.get("content") or entry.get("encrypted_content")) for entry in items]


async def empty_branch() -> bool:
    """A branch from the first turn has no rows: after a reopen it does not exist, and what it took back is
    there again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.db"
        first = AdvancedSQLiteSession(session_id="s", db_path=path, create_tables=True)
        await first.add_items([user("taken back"), reply("ok")])
        branch = await first.create_branch_from_turn(1, "second try")
        live = texts(await first.get_items())
        first.close()
        second = AdvancedSQLiteSession(session_id="s", db_path=path, create_tables=True)
        try:
            await second.switch_to_branch(branch)
            error = None
        except ValueError as problem:
            error = problem
        reopened = texts(await second.get_items())
        second.close()
        print("empty_branch: live", live, "; reopened", reopened, ";", error)
        return live == [] and error is not None and reopened == ["taken back", "ok"]


async def stale_cache() -> bool:
    """The compacting wrapper caches the history; after a branch it compacts what the branch took back."""
    endpoint = Endpoint()
    store = AdvancedSQLiteSession(session_id="s", create_tables=True)
    session = compacting(store, endpoint, "input")
    await session.add_items([user("first"), reply("ok")])
    await session.run_compaction({})  # as the runner does after every turn; the default hook declines
    await session.add_items([user("taken back"), reply("ok")])
    await session.run_compaction({})
    await store.create_branch_from_turn(2)
    live = texts(await session.get_items())
    await session.run_compaction({"force": True})
    print("stale_cache: live", live, "; compacted", endpoint.given)
    store.close()
    return live == ["first", "ok"] and "taken back" in endpoint.given


async def stale_chain() -> bool:
    """The same for the remembered response: after a branch the response that was taken back is compacted."""
    endpoint = Endpoint()
    store = AdvancedSQLiteSession(session_id="s", create_tables=True)
    session = compacting(store, endpoint, "auto")
    await session.add_items([user("first"), reply("ok")])
    await session.run_compaction({"response_id": "resp_first", "store": True})
    await session.add_items([user("taken back"), reply("ok")])
    await session.run_compaction({"response_id": "resp_taken_back", "store": True})
    await store.create_branch_from_turn(2)
    await session.run_compaction({"force": True})
    after = texts(await session.get_items())
    print("stale_chain: after compaction", after)
    store.close()
    return "resp_taken_back" in after[0]


async def other_branches() -> bool:
    """A compaction on one branch deletes every other branch."""
    store = AdvancedSQLiteSession(session_id="s", create_tables=True)
    session = compacting(store, Endpoint(), "input")
    await session.add_items([user("first"), reply("ok"), user("kept on main"), reply("ok")])
    await store.create_branch_from_turn(2, "side")
    await session.add_items([user("on the side"), reply("ok")])
    before = sorted(branch["branch_id"] for branch in await store.list_branches())
    await session.run_compaction({"force": True})
    after = [branch["branch_id"] for branch in await store.list_branches()]
    main = texts(await store.get_items(branch_id="main"))
    print("other_branches: before", before, "; after", after, "; main holds", main)
    store.close()
    return before == ["main", "side"] and not any(text == "kept on main" for text in main)


async def pointer() -> bool:
    """A limit: which branch a session was on is not stored; a reopened session is on `main`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.db"
        first = AdvancedSQLiteSession(session_id="s", db_path=path, create_tables=True)
        await first.add_items([user("first"), reply("ok"), user("taken back"), reply("ok")])
        await first.create_branch_from_turn(2)
        live = texts(await first.get_items())
        first.close()
        second = AdvancedSQLiteSession(session_id="s", db_path=path, create_tables=True)
        reopened = texts(await second.get_items())
        second.close()
        print("pointer: live", live, "; reopened", reopened)
        return "taken back" not in live and "taken back" in reopened


if __name__ == "__main__":
    found = [
        asyncio.run(check()) for check in (empty_branch, stale_cache, stale_chain, other_branches, pointer)
    ]
    raise SystemExit(0 if all(found) else 1)
