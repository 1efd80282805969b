"""openai-agents 0.24.0 over the conformance protocol: AdvancedSQLiteSession,
OpenAIResponsesCompactionSession, a scripted model.

Run as `adapter.py [pop|branch] [chain]`: an undo removes items with `pop_item` (the default), or branches
before the prompt with `create_branch_from_turn`. After a reload the branch that the application was on is
switched to, if the package lets it. With `chain` the provider keeps the conversation: after each reply the
session is told the response's id, as the runner does, and a compaction is of that response.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.extensions.memory import AdvancedSQLiteSession
from agents.memory import OpenAIResponsesCompactionSession, SessionABC
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from wire import Harness, Rejected, Skipped, item, markers, said_by, serve, tail_from_user

PROBE = "What would be sent now?"


def text_of(entry: Any) -> str:
    """All text of one input item."""
    if entry.get("type") == "compaction":
        return str(entry["encrypted_content"])
    content = entry.get("content", "")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class Scripted(Model):
    """Says `ok` and keeps what it was sent."""

    seen: list[Any]

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> ModelResponse:
        """One answer."""
        self.seen = list(input)
        text = ResponseOutputText(text="ok", type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="x", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError


class Endpoint:
    """Stands in for the provider's client: `responses.compact` gives one item that echoes the markers of its
    input."""

    def __init__(self) -> None:
        self.responses = self
        self.stored: dict[str, Any] = {}

    async def compact(self, *, model: str, input: Any = None, previous_response_id: str = "") -> Any:
        """The compacted history."""
        told = self.stored[previous_response_id] if input is None else input
        echo = "Summary of " + markers(" ".join(text_of(entry) for entry in told))
        return SimpleNamespace(
            output=[{"type": "compaction", "id": "c", "encrypted_content": echo}], usage=None
        )


class Glass(SessionABC):
    """Shows the runner a session, and stores nothing in it."""

    session_settings = None

    def __init__(self, inner: Any) -> None:
        self.session_id, self.inner = "glass", inner

    async def get_items(self, limit: int | None = None) -> Any:
        """What the session gives."""
        return await self.inner.get_items(limit)

    async def add_items(self, items: Any) -> None:
        """Nothing."""

    async def pop_item(self) -> None:
        """Nothing."""

    async def clear_session(self) -> None:
        """Nothing."""


class OpenAIAgents(Harness):
    """One session in a SQLite file, with the compacting wrapper around it."""

    implementation = {
        "name": "openai-agents",
        "version": "0.24.0",
        "language": "python",
    }
    observes = ("view", "history_length", "trigger", "view_tokens")

    def __init__(self, undo: str, *, chain: bool = False) -> None:
        self.undo_form, self.chain = undo, chain
        self.endpoint = Endpoint()
        self.model = Scripted()
        self.agent = Agent(name="agent", model=self.model)
        self.folder = tempfile.TemporaryDirectory(prefix="openai-agents-")
        self.loop = asyncio.new_event_loop()
        self.sessions = 0
        set_tracing_disabled(True)

    def _await(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def _open(self) -> None:
        def decide(context: dict[str, Any]) -> bool:
            self.candidates = len(context["compaction_candidate_items"])
            return False

        self.store = AdvancedSQLiteSession(session_id="s", db_path=self.path, create_tables=True)
        self.session = OpenAIResponsesCompactionSession(
            "s",
            self.store,
            client=self.endpoint,  # type: ignore[arg-type]
            compaction_mode="auto" if self.chain else "input",
            should_trigger_compaction=decide,  # type: ignore[arg-type]
        )

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a session in a new file."""
        if self.sessions:
            self.store.close()
        self.sessions += 1
        self.path = Path(self.folder.name) / f"{self.sessions}.db"
        # ``on`` is the branch that the application is on; ``lines`` those that it left, by its own names.
        self.on = self.line = "main"
        self.lines: dict[str, str] = {}
        self._open()

    def append(self, message: dict[str, str]) -> None:
        """An item as the runner adds it."""
        if said_by(message) == "assistant":
            part = {"type": "output_text", "text": message["text"], "annotations": []}
            entry: Any = {
                "type": "message",
                "role": "assistant",
                "id": message["id"],
                "status": "completed",
                "content": [part],
            }
        else:
            entry = {"role": "user", "content": message["text"]}
        self._await(self.session.add_items([entry]))
        if self.chain and message["role"] == "assistant":
            name = f"response-{message['id']}"
            self.endpoint.stored[name] = self._await(self.session.get_items())
            self._await(self.session.run_compaction({"response_id": name, "store": True}))

    def compact(self, summary: str = "") -> None:
        """A forced compaction; it replaces the stored history, whichever branch it is on."""
        items = self._await(self.session.get_items())
        if self.chain and items and items[-1].get("role") == "user":
            raise Skipped("a response is compacted after it came, not while a prompt waits for the next one")
        if items:
            self._await(self.session.run_compaction({"force": True}))
            self.on = "main"

    def undo(self, count: int) -> None:
        """Take back the last `count` prompts and all that follows."""
        items = self._await(self.session.get_items())
        cut = tail_from_user([entry.get("role", "") for entry in items], count)
        if self.undo_form == "branch":
            self.on = self._branch(count)
        else:
            for _ in items[cut:]:
                self._await(self.session.pop_item())

    def _branch(self, count: int) -> str:
        turns = self._await(self.store.get_conversation_turns())
        return str(self._await(self.store.create_branch_from_turn(turns[-count]["turn"])))

    def branch(self, name: str, count: int) -> None:
        """`create_branch_from_turn`; it begins before a prompt, so a branch of all that was said is none."""
        if count == 0:
            raise Skipped("a branch begins before a prompt")
        tail_from_user([entry.get("role", "") for entry in self._await(self.session.get_items())], count)
        left = self.on
        self.on = self._branch(count)
        self.lines[self.line], self.line = left, name

    def switch(self, name: str) -> None:
        """`switch_to_branch`; it refuses a branch that has no items."""
        left = self.on
        try:
            self._await(self.store.switch_to_branch(self.lines[name]))
        except ValueError as error:
            raise Rejected(str(error)) from error
        self.on = self.lines.pop(name)
        self.lines[self.line], self.line = left, name

    def clear(self) -> None:
        """`clear_session`, which clears every branch."""
        self._await(self.session.clear_session())
        self.on, self.lines = "main", {}

    def restore(self) -> None:
        """Open the file anew and go to the branch that the application was on."""
        self.store.close()
        self._open()
        if self.on != "main":
            try:
                self._await(self.store.switch_to_branch(self.on))
            except ValueError as error:
                print(f"restore: {error}", file=sys.stderr)
                self.on = "main"

    def observe(self) -> dict[str, Any]:
        """Run the agent on the session seen through glass; the trigger is what the decision hook is given."""
        self._await(Runner.run(self.agent, PROBE, session=Glass(self.session)))
        shown = [entry for entry in self.model.seen if text_of(entry) != PROBE]
        self._await(self.session.run_compaction({}))
        stored = self._await(self.session.get_items())
        return {
            "view": [item(entry.get("role", "assistant"), text_of(entry)) for entry in shown],
            "history_length": len(stored),
            # The package counts items that are neither user messages nor compactions, and compares with ten.
            "trigger": self.candidates,
            "view_tokens": sum(entry.get("role") == "assistant" for entry in shown),
        }

    def close(self) -> None:
        """Remove the sessions."""
        self.loop.close()
        shutil.rmtree(self.folder.name, ignore_errors=True)


if __name__ == "__main__":
    options = sys.argv[1:]
    serve(OpenAIAgents("branch" if "branch" in options else "pop", chain="chain" in options))
