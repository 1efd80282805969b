"""google-adk 2.13.0 over the conformance protocol: Runner.rewind_async, event compaction,
SqliteSessionService.

Run as `adapter.py [sliding|tokens|imported] [WINDOW] [interactions]`: which of the package's two compaction
triggers (`imported`: by tokens, and what is said before the first turn has one timestamp, as in a history
that was imported by a coarse clock); with a number, reads of the session limited to that many recent events
(`RunConfig.get_session_config`); with `interactions`, a model that keeps the conversation on its side
(`Gemini(use_interactions_api=True)`): the view is what the provider has under the interaction that the
request continues, and the request.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
import warnings
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from wire import Harness, Rejected, Skipped, item, markers, said_by, serve

APP, USER, SESSION = "app", "user", "session"
PROBE = "What would be sent now?"
CONFIGS = {
    # Every completed invocation is summarised, without overlap between summaries.
    "sliding": {"compaction_interval": 1, "overlap_size": 0},
    # Any prompt is over the threshold; the last event stays raw.
    "tokens": {"token_threshold": 1, "event_retention_size": 1},
    # The last of what was imported stays raw as well, beside the turn that compacts.
    "imported": {"token_threshold": 1, "event_retention_size": 3},
}


def content(role: str, text: str) -> types.Content:
    """A text content."""
    return types.Content(role=role, parts=[types.Part(text=text)])


def text_of(value: Any) -> str:
    """All text of a content."""
    return "".join(part.text or "" for part in (value.parts or []))


class Scripted(BaseLlm):
    """Says `ok`, echoes markers when asked for a summary, and keeps what it was sent."""

    seen: list[Any] = []

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """One answer; the summariser's request is the one without an agent's tools and instructions."""
        sent = list(llm_request.contents)
        if len(sent) == 1 and "onversation history" in text_of(sent[0]):
            answer = "Summary of " + markers(text_of(sent[0]))
        else:
            self.seen, answer = sent, "ok"
        yield LlmResponse(
            content=content("model", answer),
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=10 * len(sent)),
        )


class Stateful(Gemini):
    """The same with the provider of the Interactions API, which keeps what was said under an id."""

    seen: list[Any] = []
    reply: str = "ok"
    stored: dict[str, list[Any]] = {}

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """One answer, after everything that the interaction before it had."""
        sent = list(llm_request.contents)
        if len(sent) == 1 and "onversation history" in text_of(sent[0]):
            yield LlmResponse(content=content("model", "Summary of " + markers(text_of(sent[0]))))
            return
        before = llm_request.previous_interaction_id
        self.seen = [*(self.stored[before] if before else []), *sent]
        answer, name = content("model", self.reply), f"interaction-{len(self.stored)}"
        self.stored[name] = [*self.seen, answer]
        yield LlmResponse(content=answer, interaction_id=name)


class Adk(Harness):
    """One session in a SQLite file."""

    implementation = {
        "name": "google-adk",
        "version": "2.13.0",
        "language": "python",
    }
    observes = ("view", "history_length")

    def __init__(self, trigger: str, window: int | None, model: BaseLlm | None = None) -> None:
        self.model: Any = model or Scripted(model="scripted")
        self.imports = trigger == "imported"
        self.agent = LlmAgent(name="agent", model=self.model)
        self.compacting = App(
            name=APP,
            root_agent=self.agent,
            events_compaction_config=EventsCompactionConfig(**CONFIGS[trigger]),
        )
        self.plain = App(name=APP, root_agent=self.agent)
        reading = None if window is None else GetSessionConfig(num_recent_events=window)
        self.run_config = RunConfig(get_session_config=reading)
        self.folder = tempfile.TemporaryDirectory(prefix="adk-")
        self.loop = asyncio.new_event_loop()
        self.sessions = 0

    def _await(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def _session(self, service: Any) -> Any:
        return self._await(service.get_session(app_name=APP, user_id=USER, session_id=SESSION))

    def _turn(self, app: App, service: Any, text: str) -> str:
        """One turn; gives its invocation id."""

        async def run() -> str:
            invocation = ""
            async for event in Runner(app=app, session_service=service).run_async(
                user_id=USER,
                session_id=SESSION,
                new_message=content("user", text),
                run_config=self.run_config,
            ):
                invocation = event.invocation_id
            return invocation

        return str(self._await(run()))

    def reset(self, config: dict[str, Any]) -> None:
        """Begin a session in a new file."""
        self.sessions += 1
        self.path = Path(self.folder.name) / f"{self.sessions}.db"
        self.service = SqliteSessionService(str(self.path))
        self._begin()

    def _begin(self) -> None:
        self._await(self.service.create_session(app_name=APP, user_id=USER, session_id=SESSION))
        self.prompts: list[str] = []
        self.importing = self.imports
        self.invocation = Event.new_id()

    def append(self, message: dict[str, str]) -> None:
        """An event as the runner appends it; a prompt begins an invocation, a reply belongs to the current
        one."""
        if said_by(message) == "assistant":
            author, said = "agent", content("model", message["text"])
        else:
            self.invocation = Event.new_id()
            self.prompts.append(self.invocation)
            author, said = "user", content("user", message["text"])
        event = Event(author=author, invocation_id=self.invocation, content=said)
        if self.importing:
            event.timestamp = 1000.0
        self._await(self.service.append_event(self._session(self.service), event))

    def compact(self, summary: str = "") -> None:
        """A turn of the app whose compaction is due."""
        self.importing = False
        self._turn(self.compacting, self.service, "Go on.")
        self.invocation = Event.new_id()

    def undo(self, count: int) -> None:
        """`Runner.rewind_async` to before the prompt."""
        if count > len(self.prompts):
            raise Rejected(f"undo of {count} prompts, but the session holds {len(self.prompts)}")
        self.importing = False
        runner = Runner(app=self.plain, session_service=self.service)
        self._await(
            runner.rewind_async(
                user_id=USER, session_id=SESSION, rewind_before_invocation_id=self.prompts[-count]
            )
        )
        del self.prompts[-count:]
        self.invocation = Event.new_id()

    def clear(self) -> None:
        """Delete the session and create it anew."""
        self._await(self.service.delete_session(app_name=APP, user_id=USER, session_id=SESSION))
        self._begin()

    def restore(self) -> None:
        """Open the file anew."""
        self.service = SqliteSessionService(str(self.path))

    waiting: str | None = None
    """A prompt that is not sent yet, where prompts wait for their answer."""

    def observe(self) -> dict[str, Any]:
        """Run a turn of the agent on a copy of the file, and look at what the model was sent before the
        probe's prompt."""
        copy = self.path.with_suffix(".probe")
        shutil.copyfile(self.path, copy)
        self.model.seen = []
        self._turn(self.plain, SqliteSessionService(str(copy)), self.waiting or PROBE)
        shown = [c for c in self.model.seen if text_of(c) != PROBE]
        roles = {"user": "user", "model": "assistant"}
        return {
            "view": [item(roles[c.role], text_of(c)) for c in shown],
            "history_length": len(self._session(self.service).events) + (self.waiting is not None),
        }

    def close(self) -> None:
        """Remove the sessions."""
        self.loop.close()
        self.folder.cleanup()


class Interactions(Adk):
    """With the stateful model a reply is a turn of the runner, so a prompt waits for its reply."""

    def __init__(self, trigger: str, window: int | None) -> None:
        super().__init__(trigger, window, Stateful(model="gemini-scripted", use_interactions_api=True))

    def _begin(self) -> None:
        super()._begin()
        self.waiting = None

    def append(self, message: dict[str, str]) -> None:
        """A prompt waits; a reply makes it a turn."""
        if said_by(message) != "assistant":
            if self.waiting is not None:
                raise Skipped("a prompt already waits for its answer")
            self.waiting = message["text"]
            return
        if self.waiting is None:
            raise Skipped("a turn begins with a prompt")
        self.model.reply = message["text"]
        self.prompts.append(self._turn(self.plain, self.service, self.waiting))
        self.waiting = None

    def compact(self, summary: str = "") -> None:
        """A turn, so not while a prompt waits."""
        if self.waiting is not None:
            raise Skipped("a prompt waits for its answer")
        self.model.reply = "ok"
        super().compact(summary)

    def undo(self, count: int) -> None:
        """A waiting prompt is dropped; what was said is rewound."""
        waits = self.waiting is not None
        if count > len(self.prompts) + waits:
            raise Rejected(f"undo of {count} prompts, but the session holds {len(self.prompts) + waits}")
        self.waiting = None
        if count > waits:
            super().undo(count - waits)

    def observe(self) -> dict[str, Any]:
        """As ever; the probe is answered, and its interaction is of no consequence."""
        self.model.reply = "ok"
        return super().observe()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    trigger = next((name for name in arguments if name in CONFIGS), "sliding")
    kind = Interactions if "interactions" in arguments else Adk
    serve(kind(trigger, next((int(name) for name in arguments if name.isdigit()), None)))
