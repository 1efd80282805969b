"""deepagents 0.7.32 over the conformance protocol: SummarizationMiddleware, a SQLite checkpointer, a
scripted model.

Undo and clear have two forms in this package, chosen by `reset`'s config `{"undo": ...}` or the first
argument: `messages` (default) removes messages from the state with `RemoveMessage`; `time-travel` goes back
to the checkpoint before the prompt.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from wire import Harness, Rejected, Skipped, item, markers, said_by, serve, tail_from_user

NEVER, ALWAYS = ("tokens", 10_000_000), ("messages", 1)
KEEP = ("messages", 2)
ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
STATE_EVENT = "_summarization_event"


def tokens(messages: list[AnyMessage]) -> int:
    """The `token_counter` given to the middleware: a summary costs 1, any other message 10, the system
    prompt nothing.

    Flat, so that a difference is exact; the package's default counter shows the same with longer texts.
    """
    return sum(
        1 if m.additional_kwargs.get("lc_source") == "summarization" else 10
        for m in messages
        if m.type != "system"
    )


class Scripted(BaseChatModel):
    """Says `reply`, remembers what it was sent, and reports usage as a provider does."""

    reply: str = "ok"
    seen: list[AnyMessage] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {"ls_provider": "scripted"}

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Accept the agent's tools; the script never calls one."""
        return self

    def _generate(
        self, messages: list[AnyMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.seen = [m for m in messages if m.type != "system"]
        sent, said = tokens(self.seen), tokens([AIMessage(self.reply)])
        message = AIMessage(
            self.reply,
            response_metadata={"model_provider": "scripted"},
            usage_metadata={"input_tokens": sent, "output_tokens": said, "total_tokens": sent + said},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


class DeepAgents(Harness):
    """One thread of a deep agent."""

    implementation = {
        "name": "deepagents",
        "version": "0.7.32",
        "language": "python",
    }
    observes = ("view", "history_length", "anchors", "trigger", "view_tokens")

    def __init__(self, undo: str) -> None:
        self.undo_form, self.default_undo = undo, undo
        self.model = Scripted()
        self.lazy, self.eager = self._agent(NEVER), self._agent(ALWAYS)
        self.folder = tempfile.TemporaryDirectory(prefix="deepagents-")
        self.sessions = 0

    def _agent(self, trigger: Any) -> Any:
        def summarise(messages: list[AnyMessage]) -> str:
            return "Summary of " + markers(" ".join(str(m.content) for m in messages))

        backend = StateBackend()
        middleware = SummarizationMiddleware(
            model=self.model,
            backend=backend,
            trigger=trigger,
            keep=KEEP,
            summarizer=summarise,
            token_counter=tokens,
            # As `create_summarization_middleware` sets it; the constructor trims to a user message.
            trim_tokens_to_summarize=None,
        )
        return create_deep_agent(model=self.model, backend=backend, middleware=[middleware])

    def _open(self) -> None:
        self.database = sqlite3.connect(self.path, check_same_thread=False)
        self.saver = SqliteSaver(self.database)

    def _on(self, agent: Any, saver: SqliteSaver) -> Any:
        agent.checkpointer = saver
        return agent

    @property
    def _state(self) -> dict[str, Any]:
        return dict(self._on(self.lazy, self.saver).get_state(self.config).values)

    def _messages(self) -> list[AnyMessage]:
        return list(self._state.get("messages", []))

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a new thread in a new database file."""
        self.undo_form = config.get("undo", self.default_undo)
        self.sessions += 1
        if self.sessions > 1:
            self.database.close()
        self.path = Path(self.folder.name) / f"{self.sessions}.sqlite"
        self.thread(1)
        self.checkpoints: list[tuple[str, dict[str, Any] | None]] = []
        self.line, self.lines = "main", dict[str, dict[str, Any]]()
        self._open()

    def append(self, message: dict[str, str]) -> None:
        """A prompt is input that waits for a turn; a reply is a turn with a model that says it."""
        agent = self._on(self.lazy, self.saver)
        if said_by(message) == "assistant":
            self.model.reply = message["text"]
            agent.invoke({"messages": []}, self.config)
        else:
            before = agent.get_state(self.config).config if self._state else None
            self.checkpoints.append((message["id"], before))
            agent.update_state(
                self.config,
                {"messages": [HumanMessage(message["text"], id=message["id"])]},
                as_node="__start__",
            )

    def compact(self, summary: str = "") -> None:
        """A turn whose threshold is reached: the middleware summarises, then the model says `ok`."""
        self.model.reply = "ok"
        self._on(self.eager, self.saver).invoke({"messages": []}, self.config)

    def undo(self, count: int) -> None:
        """Take back the last `count` prompts and all that follows."""
        messages = self._messages()
        cut = tail_from_user([ROLES[m.type] for m in messages], count)
        if self.undo_form == "time-travel":
            identity = messages[cut].id
            before = next(config for name, config in self.checkpoints if name == identity)
            if before is None:
                self.thread(self.threads + 1)
            else:
                # A fork of the older checkpoint becomes the newest one, as the package's time travel does.
                self._fork(before)
        else:
            self._remove(messages[cut:])

    def thread(self, number: int) -> None:
        """Go on in a thread of the database; before the first prompt there is no checkpoint to go back to."""
        self.threads = number
        self.config: dict[str, Any] = {"configurable": {"thread_id": str(number)}}

    def _remove(self, messages: list[AnyMessage]) -> None:
        removals = [RemoveMessage(id=m.id) for m in messages]
        self._on(self.lazy, self.saver).update_state(self.config, {"messages": removals}, as_node="__start__")

    def _exchange(self, prompt: str) -> list[AnyMessage]:
        """A prompt and what follows it up to the next prompt."""
        messages = self._messages()
        start = next(place for place, m in enumerate(messages) if m.id == prompt)
        later = (place for place in range(start + 1, len(messages)) if messages[place].type == "human")
        return messages[start : next(later, len(messages))]

    def remove(self, prompt: str) -> None:
        """One exchange is removed from the state with `RemoveMessage`, as a user interface deletes it."""
        self._remove(self._exchange(prompt))

    def regenerate(self, prompt: str, message: dict[str, str]) -> None:
        """The last answer is removed, and a turn makes another."""
        messages, old = self._messages(), self._exchange(prompt)[1:]
        if old != messages[len(messages) - len(old) :]:
            raise Skipped("a turn answers the last prompt")
        self._remove(old)
        self.append(message)

    def _tip(self) -> dict[str, Any]:
        config: dict[str, Any] = self._on(self.lazy, self.saver).get_state(self.config).config
        return config

    def branch(self, name: str, count: int) -> None:
        """The newest checkpoint is remembered as the tip of its line; a fork of it becomes the newest one."""
        if not self._state:
            raise Skipped("there is no checkpoint yet")
        tip = self._tip()
        self._fork(tip)
        if count:
            try:
                self.undo(count)
            except Rejected:
                self._fork(tip)
                raise
        self.lines[self.line], self.line = tip, name

    def switch(self, name: str) -> None:
        """Time travel to the tip of the other line."""
        if not self._state:
            raise Skipped("there is no checkpoint to come back to")
        tip = self._tip()
        self._fork(self.lines.pop(name))
        self.lines[self.line], self.line = tip, name

    def _fork(self, checkpoint: dict[str, Any]) -> None:
        self._on(self.lazy, self.saver).update_state(checkpoint, {"messages": []}, as_node="__start__")
        self.config = {"configurable": {"thread_id": checkpoint["configurable"]["thread_id"]}}

    def clear(self) -> None:
        """Empty the thread's messages with the package's remove-all sentinel (time travel: a new thread)."""
        self.lines = {}
        if self.undo_form == "time-travel":
            self.thread(self.threads + 1)
        elif self._state:
            self._on(self.lazy, self.saver).update_state(
                self.config, {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}, as_node="__start__"
            )

    def restore(self) -> None:
        """Close the database and read the thread from disk again."""
        self.database.close()
        self._open()

    def observe(self) -> dict[str, Any]:
        """Run the agent's next model call on a copy of the database, and look at what the model was sent."""
        state, history = self._state, self._messages()
        copy = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.backup(copy)
        self.model.seen, self.model.reply = [], "probe"
        self._on(self.lazy, SqliteSaver(copy)).invoke({"messages": []}, self.config)
        copy.close()
        shown = self.model.seen
        event = state.get(STATE_EVENT)
        anchors = (
            []
            if event is None
            else [
                {"name": f"_summarization_event.{name}", "value": event[name], "bound": "inclusive"}
                for name in ("cutoff_index", "created_at_index")
            ]
        )
        # What `_should_summarize` compares with a token threshold: the estimate, or the usage that the last
        # reply reports.
        reported = next(
            (
                m.usage_metadata["total_tokens"]
                for m in reversed(shown)
                if m.type == "ai" and m.usage_metadata
            ),
            0,
        )
        return {
            "view": [item(ROLES[m.type], str(m.content)) for m in shown],
            "history_length": len(history),
            "anchors": anchors,
            "trigger": max(tokens(shown), reported),
            "view_tokens": tokens(shown),
        }

    def close(self) -> None:
        """Close the database and remove its folder."""
        self.database.close()
        self.folder.cleanup()


class TimeTravel(DeepAgents):
    """Goes back to checkpoints only: what is removed from the state is no checkpoint."""

    remove = regenerate = None  # type: ignore[assignment]


if __name__ == "__main__":
    form = sys.argv[1] if len(sys.argv) > 1 else "messages"
    serve((TimeTravel if form == "time-travel" else DeepAgents)(form))
