"""agno 3.1.10 over the conformance protocol: runs in a SQLite database, run deletion, compaction, session
forks.

A run of agno is a prompt and its answer, stored together. So a prompt that is appended waits in the adapter,
as it does in an application, until the reply makes it a run; a second prompt before that, or a reply without
one, is skipped.

Run as `adapter.py [fork] [summary]`: `fork` makes a restore go on in a fork of the session
(`Agent.fork_session`); `summary` has the package keep a summary of the session beside the runs
(`enable_session_summaries`) and send it.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agno.agent import Agent
from agno.compaction import Compaction
from agno.compaction.prompts import DEFAULT_COMPACTION_PROMPT
from agno.db.sqlite import SqliteDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.run.base import RunStatus
from agno.session.summary import SessionSummaryManager
from wire import Harness, Rejected, Skipped, item, markers, said_by, serve

PROBE = "What would be sent now?"


class Scripted(Model):
    """Says `reply`, echoes markers when asked for a summary, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(id="scripted", name="scripted", provider="scripted")
        self.reply, self.seen = "ok", []

    def invoke(self, messages: list[Message], *args: Any, **kwargs: Any) -> ModelResponse:
        """One answer, or one of the two kinds of summary that the package asks for."""
        text = "Summary of " + markers(" ".join(str(m.content) for m in messages))
        if messages[-1].content == SessionSummaryManager().summary_request_message:
            return ModelResponse(role="assistant", content=json.dumps({"summary": text, "topics": []}))
        if str(messages[0].content).startswith(DEFAULT_COMPACTION_PROMPT[:60]):
            return ModelResponse(role="assistant", content=text)
        self.seen = [(m.role, str(m.content)) for m in messages]
        return ModelResponse(role="assistant", content=self.reply)

    async def ainvoke(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Never asked for."""
        raise NotImplementedError

    def invoke_stream(self, *args: Any, **kwargs: Any) -> Iterator[ModelResponse]:
        """Never asked for."""
        raise NotImplementedError

    def ainvoke_stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ModelResponse]:
        """Never asked for."""
        raise NotImplementedError

    def _parse_provider_response(self, response: Any, **kwargs: Any) -> ModelResponse:
        return ModelResponse()

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return ModelResponse()


class Agno(Harness):
    """One session of an agent in a SQLite file."""

    implementation = {
        "name": "agno",
        "version": "3.1.10",
        "language": "python",
    }
    observes = ("view", "history_length")

    def __init__(self, options: set[str]) -> None:
        self.options = options
        self.model = Scripted()
        self.folder = tempfile.TemporaryDirectory(prefix="agno-")
        self.sessions = self.probes = 0
        logging.getLogger("agno").setLevel(logging.ERROR)

    def _agent(self, path: Path) -> Agent:
        return Agent(
            id="agent",
            model=self.model,
            db=SqliteDb(db_file=str(path)),
            session_id=self.session_id,
            add_history_to_context=True,
            # A threshold that is never reached: all of history is replayed, and only `compact` folds.
            compaction=Compaction(
                compact_at_tokens=10_000_000, uncompacted_runs=0, search_compacted_messages=False
            ),
            enable_session_summaries="summary" in self.options,
            add_session_summary_to_context="summary" in self.options,
            telemetry=False,
        )

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a session in a new file."""
        self.sessions += 1
        self.path = Path(self.folder.name) / f"{self.sessions}.db"
        self.session_id = self.line = "main"
        self.lines: dict[str, str] = {}
        self.asked: list[str] = []
        self.pending: dict[str, str] | None = None
        self.seen: dict[str, Any] | None = None
        self.agent = self._agent(self.path)

    def append(self, message: dict[str, str]) -> None:
        """A prompt waits; a reply makes it a run."""
        if said_by(message) != "assistant":
            if self.pending is not None:
                raise Skipped("a prompt already waits for its answer")
            self.pending, self.seen = message, None
            self.asked.append(message["text"])
            return
        if self.pending is None:
            raise Skipped("a run begins with a prompt")
        self.model.reply = message["text"]
        self.agent.run(self.pending["text"], session_id=self.session_id)
        self.pending = self.seen = None

    def _runs(self) -> list[Any]:
        """The runs of the session, without those that were regenerated."""
        session = self.agent.get_session(session_id=self.session_id)
        runs = [] if session is None else list(session.runs or [])
        return [run for run in runs if run.status != RunStatus.regenerated]

    def _run(self, prompt: str) -> Any:
        """The run that begins with a prompt."""
        for run in self._runs():
            said = [m for m in run.messages if m.role == "user" and not m.from_history]
            if any(f"[[{prompt}]]" in str(m.content) for m in said):
                return run
        raise Skipped(f"{prompt} is no run yet")

    def compact(self, summary: str = "") -> None:
        """`Agent.compact`; it may decline."""
        self.agent.compact(session_id=self.session_id)
        self.seen = None

    def undo(self, count: int) -> None:
        """A waiting prompt is dropped; runs are deleted from the database."""
        runs = sorted(self._runs(), key=self._age)
        waiting = self.pending is not None
        if count > len(runs) + waiting:
            raise Rejected(f"undo of {count} prompts, but the session holds {len(runs) + waiting}")
        taken = count - waiting
        self.pending = self.seen = None
        if taken:
            self.agent.db.delete_runs([run.run_id for run in runs[-taken:]])

    def _age(self, run: Any) -> int:
        """When its prompt was first asked: a run that was regenerated stands at the end of the session."""
        texts = [str(m.content) for m in run.messages if m.role == "user" and not m.from_history]
        return self.asked.index(texts[0])

    def remove(self, prompt: str) -> None:
        """`delete_run`."""
        self.agent.db.delete_run(self._run(prompt).run_id)
        self.seen = None

    def regenerate(self, prompt: str, message: dict[str, str]) -> None:
        """`continue_run(regenerate=True)`."""
        run = self._run(prompt)
        self.model.reply, self.seen = message["text"], None
        self.agent.continue_run(run_id=run.run_id, session_id=self.session_id, regenerate=True)

    def branch(self, name: str, count: int) -> None:
        """`Agent.fork_session`; a fork has all runs."""
        if count or self.pending or not self._runs():
            raise Skipped("a fork has all runs, at least one, and no prompt that waits")
        self.lines[self.line], self.line = self.session_id, name
        self.session_id = self.agent.fork_session(source_session_id=self.session_id)
        self.seen = None

    def switch(self, name: str) -> None:
        """The other session."""
        if self.pending:
            raise Skipped("a prompt waits")
        left, self.session_id = self.session_id, self.lines.pop(name)
        self.lines[self.line], self.line = left, name
        self.seen = None

    def clear(self) -> None:
        """`Agent.delete_session`, of every line."""
        self.pending = self.seen = None
        for session in {self.session_id, *self.lines.values()}:
            self.agent.delete_session(session_id=session)
        self.lines.clear()

    def restore(self) -> None:
        """A new agent on the same file; with `fork`, on a fork of the session."""
        if "fork" in self.options and self._runs():
            self.session_id = self.agent.fork_session(source_session_id=self.session_id)
        self.agent = self._agent(self.path)
        self.seen = None

    def observe(self) -> dict[str, Any]:
        """Run the agent on a copy of the file, with the waiting prompt or a probe, and look at what the
        model was sent."""
        if self.seen is not None:
            return self.seen  # nothing was done since: the event was skipped or refused
        self.probes += 1
        place = Path(self.folder.name) / f"probe-{self.probes}"
        place.mkdir()
        with (
            closing(sqlite3.connect(self.path)) as source,
            closing(sqlite3.connect(place / "copy.db")) as copy,
        ):
            source.backup(copy)
        self.model.seen, self.model.reply = [], "ok"
        text = self.pending["text"] if self.pending else PROBE
        self._agent(place / "copy.db").run(text, session_id=self.session_id)
        shutil.rmtree(place, ignore_errors=True)
        self.seen = {
            "view": [item(role, text) for role, text in self.model.seen if text != PROBE],
            "history_length": sum(len(run.messages or []) for run in self._runs())
            + (self.pending is not None),
        }
        return self.seen

    def close(self) -> None:
        """Remove the sessions."""
        self.folder.cleanup()


class Summarised(Agno):
    """With a summary of the session, which tells what a compaction folds as well; so there is none."""

    compact = None  # type: ignore[assignment]


if __name__ == "__main__":
    options = set(sys.argv[1:])
    serve(Summarised(options) if "summary" in options else Agno(options))
