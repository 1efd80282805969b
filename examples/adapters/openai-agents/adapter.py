"""openai-agents 0.24.0 over the conformance protocol: AdvancedSQLiteSession,
OpenAIResponsesCompactionSession, a scripted model.

Run as `adapter.py [pop|branch]`: an undo removes items with `pop_item` (the default), or branches before the
prompt with `create_branch_from_turn`. After a reload the branch that the application was on is switched to,
if the package lets it.
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
from wire import Harness, item, markers, said_by, serve, tail_from_user

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

    async def compact(self, *, model: str, input: Any) -> Any:
        """The compacted history."""
        echo = "Summary of " + markers(" ".join(text_of(entry) for entry in input))
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
        "homepage": "https://pypi.org/project/openai-agents/",
    }
    observes = ("view", "history_length", "trigger", "view_tokens")

    def __init__(self, undo: str) -> None:
        self.undo_form = undo
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
            client=Endpoint(),
            compaction_mode="input",
            should_trigger_compaction=decide,  # type: ignore[arg-type]
        )

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a session in a new file."""
        if self.sessions:
            self.store.close()
        self.sessions += 1
        self.path = Path(self.folder.name) / f"{self.sessions}.db"
        self.branch: str | None = None
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

    def compact(self, summary: str = "") -> None:
        """A forced compaction; it replaces the stored history, whichever branch it is on."""
        if self._await(self.session.get_items()):
            self._await(self.session.run_compaction({"force": True}))
            self.branch = None

    def undo(self, count: int) -> None:
        """Take back the last `count` prompts and all that follows."""
        items = self._await(self.session.get_items())
        cut = tail_from_user([entry.get("role", "") for entry in items], count)
        if self.undo_form == "branch":
            turns = self._await(self.store.get_conversation_turns())
            self.branch = self._await(self.store.create_branch_from_turn(turns[-count]["turn"]))
        else:
            for _ in items[cut:]:
                self._await(self.session.pop_item())

    def clear(self) -> None:
        """`clear_session`."""
        self._await(self.session.clear_session())
        self.branch = None

    def restore(self) -> None:
        """Open the file anew and go to the branch that the application was on."""
        self.store.close()
        self._open()
        if self.branch is not None:
            try:
                self._await(self.store.switch_to_branch(self.branch))
            except ValueError as error:
                print(f"restore: {error}", file=sys.stderr)
                self.branch = None

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
    serve(OpenAIAgents(sys.argv[1] if len(sys.argv) > 1 else "pop"))
