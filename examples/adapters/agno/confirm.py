"""Confirms with agno alone what the field report says of it. Exits 0 when every finding is there, 1
otherwise."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path
from typing import Any

from agno.agent import Agent
from agno.compaction import Compaction
from agno.db.sqlite import SqliteDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.session.summary import SessionSummaryManager

logging.getLogger("agno").setLevel(logging.ERROR)


class Fake(Model):
    """Answers `ok`, or a summary that repeats the transcript; keeps the texts of the last request."""

    def __init__(self) -> None:
        super().__init__(id="fake", name="fake", provider="fake")
        self.sent: list[str] = []
        self.reply = "ok"

    def invoke(self, messages: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        """One answer."""
        texts = [str(m.content) for m in messages]
        if (
            messages[0].role == "system"
            and "Conversation" in "".join(texts) + "Conversation"
            and len(texts) > 1
        ):
            told = " ".join(texts[1:])
            words = [word for word in ("alpha", "beta", "gamma", "delta") if word in told]
            return ModelResponse(role="assistant", content="SUMMARY OF " + " ".join(words))
        self.sent = texts
        return ModelResponse(role="assistant", content=self.reply)

    async def ainvoke(self, *args: Any, **kwargs: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    def invoke_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    def ainvoke_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    def _parse_provider_response(self, response: Any, **kwargs: Any) -> Any:
        return ModelResponse()

    def _parse_provider_response_delta(self, response: Any) -> Any:
        return ModelResponse()


def start(folder: str) -> tuple[Agent, Fake]:
    """An agent with one session in a database file; only `compact` folds, and it keeps one run."""
    model = Fake()
    agent = Agent(
        id="agent",
        model=model,
        db=SqliteDb(db_file=str(Path(folder) / "s.db")),
        session_id="s",
        add_history_to_context=True,
        compaction=Compaction(
            compact_at_tokens=10_000_000, uncompacted_runs=1, search_compacted_messages=False
        ),
        telemetry=False,
    )
    return agent, model


def folded_run() -> bool:
    """A run that a fold covers is deleted: its summary is sent on."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        agent, model = start(folder)
        first = agent.run("alpha is the password")
        agent.run("beta")
        status = agent.compact(session_id="s").status.value
        agent.db.delete_run(first.run_id)
        agent.run("gamma")
        print("folded_run:", status, "; after the deletion the model was sent", model.sent)
        return any("SUMMARY OF alpha" in text for text in model.sent)


def next_fold() -> bool:
    """The last runs are deleted, the fold's anchor with them: history is sent whole again, rightly. But the
    next
    fold builds on the old summary, and what was deleted is back."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        agent, model = start(folder)
        agent.run("alpha")
        second = agent.run("beta is the password")
        third = agent.run("gamma")
        agent.compact(session_id="s")  # covers alpha and beta, and keeps from gamma on
        agent.db.delete_runs([second.run_id, third.run_id])
        agent.run("delta")
        before = list(model.sent)
        agent.compact(session_id="s")  # covers alpha, and keeps from delta on
        agent.run("last")
        print("next_fold: after the deletion", before, "; after the next fold", model.sent)
        return not any("beta" in text for text in before) and any("beta" in text for text in model.sent)


def regenerated() -> bool:
    """A run that a fold covers is regenerated: the answer that was replaced stays in the summary."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        agent, model = start(folder)
        model.reply = "the answer is beta"
        first = agent.run("alpha")
        model.reply = "ok"
        agent.run("gamma")
        agent.compact(session_id="s")
        model.reply = "the answer is delta"
        agent.continue_run(run_id=first.run_id, session_id="s", regenerate=True)
        model.reply = "ok"
        agent.run("last")
        print("regenerated: the model was sent", model.sent)
        return any("SUMMARY OF alpha beta" in text for text in model.sent)


def order() -> bool:
    """Two old runs are deleted: the next run is given a place that lies before the run that is left."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        agent, model = start(folder)
        old = [agent.run("alpha"), agent.run("beta")]
        agent.run("gamma")
        agent.db.delete_runs([run.run_id for run in old])
        agent.run("delta")
        agent.run("last")
        print("order: the model was sent", model.sent)
        return model.sent.index("delta") < model.sent.index("gamma")


def order_folded() -> bool:
    """The same behind a fold: the next prompt and its answer lie in what is folded already, and are not
    sent."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        agent, model = start(folder)
        old = [agent.run("alpha"), agent.run("beta"), agent.run("beta")]
        agent.run("gamma")
        agent.run("kept")
        agent.db.delete_runs([run.run_id for run in old])
        agent.compact(session_id="s")  # covers gamma, and keeps the run after it
        agent.run("delta is the password")
        agent.run("last")
        print("order_folded: the model was sent", model.sent)
        return "kept" in model.sent and not any("delta" in text for text in model.sent)


class Summarising(Fake):
    """The same, asked for the summary of a session as the package asks."""

    def invoke(self, messages: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        """A summary in the form that is asked for, or one answer."""
        if messages[-1].content == SessionSummaryManager().summary_request_message:
            told = str(messages[0].content)
            words = " ".join(word for word in ("alpha", "beta", "gamma") if word in told)
            return ModelResponse(role="assistant", content=json.dumps({"summary": f"ABOUT {words}"}))
        self.sent = [str(m.content) for m in messages]
        return ModelResponse(role="assistant", content=self.reply)


def session_summary() -> bool:
    """A run is deleted: the summary of the session tells it in the next request, and in those of a fork."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        model = Summarising()
        agent = Agent(
            id="agent",
            model=model,
            db=SqliteDb(db_file=str(Path(folder) / "s.db")),
            session_id="s",
            add_history_to_context=True,
            enable_session_summaries=True,
            add_session_summary_to_context=True,
            telemetry=False,
        )
        agent.run("alpha")
        second = agent.run("beta is the password")
        agent.db.delete_run(second.run_id)
        agent.run("gamma")
        print("session_summary: after the deletion the model was sent", model.sent)
        return "ABOUT alpha beta" in model.sent[0] and not any("beta is" in text for text in model.sent)


def fork() -> bool:
    """Not a fault: a fork has no folds, so all of its history is sent."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        agent, model = start(folder)
        agent.run("alpha")
        agent.run("beta")
        agent.compact(session_id="s")
        forked = agent.fork_session(source_session_id="s")
        agent.run("gamma", session_id=forked)
        print("fork: the model was sent", model.sent)
        return "alpha" in model.sent


if __name__ == "__main__":
    found = [folded_run(), next_fold(), regenerated(), order(), order_folded(), session_summary(), fork()]
    raise SystemExit(0 if all(found) else 1)
