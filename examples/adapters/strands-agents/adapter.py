"""strands-agents 1.62.0 over the conformance protocol: SummarizingConversationManager, session managers, a
scripted model.

Run as `adapter.py [SESSION] [OPTION...]`. SESSION is `file` (FileSessionManager, the default) or `snapshot`
(SnapshotSessionManager). Options: `pin` keeps the first message out of every summary (`pin_first=1`), `load`
makes an undo with `take_snapshot`/`load_snapshot` instead of shortening `agent.messages`, `between` compacts
between two turns (`conversation_manager.reduce_context(agent)`) instead of on an overflow within one.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from strands import Agent
from strands.agent.conversation_manager import NullConversationManager, SummarizingConversationManager
from strands.hooks import BeforeModelCallEvent, MessageAddedEvent
from strands.models import Model
from strands.session import FileSessionManager, SnapshotSessionManager
from strands.storage import LocalFileStorage
from strands.types.exceptions import ContextWindowOverflowException
from wire import Harness, Rejected, item, markers, said_by, serve, tail_from_user

SUMMARY = "Summary of"
ASK = "Please summarize this conversation."


def text_of(message: Any) -> str:
    """All text of one message."""
    return "".join(block.get("text", "") for block in message["content"])


def tokens(messages: list[Any]) -> int:
    """The scripted model's tokenizer: a summary costs 1, any other message 10; there are no tools and no
    system prompt."""
    return sum(1 if text_of(m).startswith(SUMMARY) else 10 for m in messages)


class Scripted(Model):
    """Says `reply`, echoes markers for a summary, overflows once when told to, and reports usage."""

    def __init__(self) -> None:
        self.reply, self.overflow, self.seen = "ok", False, []

    def update_config(self, **config: Any) -> None:
        """Nothing to configure."""

    def get_config(self) -> Any:
        """Nothing to configure."""
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    async def count_tokens(self, messages: Any, *args: Any, **kwargs: Any) -> int:
        """What the agent's projection asks for new messages."""
        return tokens(messages)

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """One scripted answer."""
        if text_of(messages[-1]) == ASK if messages else False:
            text = SUMMARY + " " + markers(" ".join(text_of(m) for m in messages))
        else:
            if self.overflow:
                self.overflow = False
                raise ContextWindowOverflowException("scripted overflow")
            self.seen, text = copy.deepcopy(messages), self.reply
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}
        usage = {"inputTokens": tokens(messages), "outputTokens": 10, "totalTokens": tokens(messages) + 10}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


class Strands(Harness):
    """One agent with a session on disk."""

    implementation = {
        "name": "strands-agents",
        "version": "1.62.0",
        "language": "python",
    }
    observes = ("view", "history_length", "trigger", "view_tokens")

    def __init__(self, session: str, options: set[str]) -> None:
        self.session_kind, self.options = session, options
        self.model = Scripted()
        self.folder = tempfile.TemporaryDirectory(prefix="strands-")
        self.sessions = 0

    def _agent(self) -> Agent:
        name, root = f"s{self.sessions}", self.folder.name
        if self.session_kind == "file":
            self.manager: Any = FileSessionManager(session_id=name, storage_dir=root)
        else:
            self.manager = SnapshotSessionManager(
                name, storage=LocalFileStorage(root), save_latest_on="message"
            )
        return Agent(
            model=self.model,
            agent_id="a",
            callback_handler=None,
            session_manager=self.manager,
            conversation_manager=SummarizingConversationManager(
                summary_ratio=0.8, preserve_recent_messages=1, pin_first=1 if "pin" in self.options else None
            ),
        )

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a new session with a new agent."""
        self.sessions += 1
        self.snapshots: list[Any] = []
        self.prompts: list[str] = []
        self.line, self.lines = "main", dict[str, tuple[Any, list[str], list[Any]]]()
        self.agent = self._agent()

    def append(self, message: dict[str, str]) -> None:
        """A prompt is added as the agent adds one, hooks included; a reply is a turn with a model that says
        it."""
        if said_by(message) == "assistant":
            self.model.reply = message["text"]
            self.agent()
        else:
            if "load" in self.options:
                self.snapshots.append(self.agent.take_snapshot(preset="session"))
            self.prompts.append(message["text"])
            stored: Any = {"role": "user", "content": [{"text": message["text"]}]}
            self.agent.messages.append(stored)
            asyncio.run(
                self.agent.hooks.invoke_callbacks_async(MessageAddedEvent(agent=self.agent, message=stored))
            )

    def compact(self, summary: str = "") -> None:
        """A turn whose first call overflows: the manager summarises, then the model says `ok`."""
        if "between" in self.options:
            self.agent.conversation_manager.reduce_context(self.agent)
            self._stored()
            return
        self.model.reply, self.model.overflow = "ok", True
        # Where there is nothing to summarise yet, the turn fails and the session goes on.
        with contextlib.suppress(ContextWindowOverflowException):
            self.agent()
        self.model.overflow = False

    def _stored(self) -> None:
        """Let the session manager store the whole agent, where it can."""
        self.manager.sync_agent(self.agent)

    def undo(self, count: int) -> None:
        """Take back the last `count` prompts and all that follows."""
        if "load" in self.options:
            tail_from_user(["user"] * len(self.snapshots), count)
            self.agent.load_snapshot(self.snapshots[-count])
            del self.snapshots[-count:]
        else:
            # By its text: with a pin, what was summarised lies between prompts that are still there.
            tail_from_user(["user"] * len(self.prompts), count)
            texts = [text_of(m) for m in self.agent.messages]
            if self.prompts[-count] not in texts:
                raise Rejected("the prompt is summarised, and is not in the agent's messages any more")
            del self.agent.messages[texts.index(self.prompts[-count]) :]
            del self.prompts[-count:]
        self._stored()

    def _kept(self) -> tuple[Any, list[str], list[Any]]:
        """A line as an application keeps it: a snapshot, and what it needs to undo in it."""
        return self.agent.take_snapshot(preset="session"), list(self.prompts), list(self.snapshots)

    def branch(self, name: str, count: int) -> None:
        """A snapshot is taken, and the session goes on, after an undo if one is asked for."""
        kept = self._kept()
        if count:
            self.undo(count)
        self.lines[self.line], self.line = kept, name

    def switch(self, name: str) -> None:
        """The snapshot of the other line is loaded."""
        left = self._kept()
        snapshot, self.prompts, self.snapshots = self.lines.pop(name)
        self.agent.load_snapshot(snapshot)
        self.lines[self.line], self.line = left, name
        self._stored()

    def clear(self) -> None:
        """Empty the agent's messages."""
        self.lines.clear()
        self.agent.messages.clear()
        self.snapshots, self.prompts = [], []
        self._stored()

    def restore(self) -> None:
        """Make a new agent from what is on disk."""
        self.agent = self._agent()

    def observe(self) -> dict[str, Any]:
        """Run the next model call on an agent that has a copy of the messages, and look at what the model
        was sent."""
        model, projected = Scripted(), []
        probe = Agent(
            model=model,
            messages=copy.deepcopy(self.agent.messages),
            callback_handler=None,
            conversation_manager=NullConversationManager(),
        )
        probe.hooks.add_callback(
            BeforeModelCallEvent, lambda event: projected.append(event.projected_input_tokens)
        )
        probe()
        return {
            "view": [item(m["role"], text_of(m)) for m in model.seen],
            "history_length": len(self.agent.messages),
            "trigger": projected[0],
            "view_tokens": tokens(model.seen),
        }

    def close(self) -> None:
        """Remove the sessions."""
        self.folder.cleanup()


if __name__ == "__main__":
    serve(Strands(sys.argv[1] if len(sys.argv) > 1 else "file", set(sys.argv[2:])))
