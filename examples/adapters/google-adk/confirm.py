"""Confirms with google-adk alone what the field report says of it. Exits 0 when every finding is there, 1
otherwise."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import AsyncGenerator
from typing import Any

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

WHO: dict[str, Any] = {"user_id": "user", "session_id": "session"}


def text_of(content: Any) -> str:
    """All text of a content."""
    return "".join(part.text or "" for part in content.parts)


class Fake(BaseLlm):
    """Answers `ok` or a summary, and keeps the texts of the last request of the agent."""

    sent: list[str] = []
    summarised: str = ""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """One answer."""
        texts = [text_of(c) for c in llm_request.contents]
        if "onversation history" in texts[0]:
            self.summarised, answer = texts[0], "A SUMMARY"
        else:
            self.sent, answer = texts, "ok"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=answer)]))


async def say(runner: Runner, text: str, window: int | None = None) -> str:
    """One turn; gives its invocation id."""
    message = types.Content(role="user", parts=[types.Part(text=text)])
    config = (
        RunConfig(get_session_config=GetSessionConfig(num_recent_events=window)) if window else RunConfig()
    )
    invocation = ""
    async for event in runner.run_async(**WHO, new_message=message, run_config=config):
        invocation = event.invocation_id
    return invocation


async def start(**compaction: Any) -> tuple[Runner, Fake, InMemorySessionService]:
    """A runner with one session in memory."""
    model = Fake(model="fake")
    app = App(
        name="app",
        root_agent=LlmAgent(name="agent", model=model),
        events_compaction_config=EventsCompactionConfig(**compaction) if compaction else None,
    )
    service = InMemorySessionService()
    await service.create_session(app_name="app", **WHO)
    return Runner(app=app, session_service=service), model, service


async def rewound() -> bool:
    """A rewind whose target lies outside the window of recent events is ignored: what was rewound is sent
    again."""
    runner, model, _ = await start()
    first = await say(runner, "first prompt")
    await say(runner, "second prompt")
    await runner.rewind_async(**WHO, rewind_before_invocation_id=first)
    await say(runner, "full read")
    full = model.sent
    await runner.rewind_async(**WHO, rewind_before_invocation_id=first)
    await say(runner, "windowed read", window=6)
    print("rewound: full read    ", full)
    print("rewound: windowed read", model.sent)
    return full == ["full read"] and "second prompt" in model.sent


async def summarised() -> bool:
    """The same reaches the summary: what was rewound is summarised into the session for good."""
    runner, model, _ = await start(compaction_interval=1, overlap_size=0)
    runner.app.events_compaction_config = None
    first = await say(runner, "first prompt")
    await say(runner, "a secret that is taken back")
    await runner.rewind_async(**WHO, rewind_before_invocation_id=first)
    runner.app.events_compaction_config = EventsCompactionConfig(compaction_interval=1, overlap_size=0)
    await say(runner, "next prompt", window=3)
    print("summarised: the summariser was given", repr(model.summarised[-160:]))
    return "a secret that is taken back" in model.summarised


async def windowed() -> bool:
    """A limit: what lies outside the window is not sent, and a summary can lie outside it too."""
    runner, model, _ = await start(compaction_interval=1, overlap_size=0)
    await say(runner, "first prompt")
    runner.app.events_compaction_config = None
    await say(runner, "second prompt")
    await say(runner, "third prompt", window=2)
    print("windowed: the model was sent", model.sent)
    return "A SUMMARY" not in model.sent and "first prompt" not in model.sent


class Stateful(Gemini):
    """A model with the Interactions API: notes which interaction each request continues."""

    continued: list[tuple[str | None, list[str]]] = []

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """One answer, under an id."""
        texts = [text_of(c) for c in llm_request.contents]
        self.continued = [*self.continued, (llm_request.previous_interaction_id, texts)]
        yield LlmResponse(
            content=types.Content(role="model", parts=[types.Part(text="ok")]),
            interaction_id=f"interaction {len(self.continued)}",
        )


async def chained() -> bool:
    """With the Interactions API a request after a rewind continues the interaction that was rewound."""
    model = Stateful(model="gemini-fake", use_interactions_api=True)
    service = InMemorySessionService()
    await service.create_session(app_name="app", **WHO)
    app = App(name="app", root_agent=LlmAgent(name="agent", model=model))
    runner = Runner(app=app, session_service=service)
    await say(runner, "first prompt")
    second = await say(runner, "a secret that is taken back")
    await runner.rewind_async(**WHO, rewind_before_invocation_id=second)
    await say(runner, "next prompt")
    print("chained: requests, each with the interaction that it continues:", model.continued)
    return model.continued[-1] == ("interaction 2", ["next prompt"])


async def remembered() -> bool:
    """A session that is added to memory is added with what was rewound."""
    runner, _, service = await start()
    await say(runner, "first prompt")
    second = await say(runner, "a secret that is taken back")
    await runner.rewind_async(**WHO, rewind_before_invocation_id=second)
    session = await service.get_session(app_name="app", **WHO)
    memory = InMemoryMemoryService()
    await memory.add_session_to_memory(session)
    found = await memory.search_memory(app_name="app", user_id="user", query="secret")
    told = [text_of(entry.content) for entry in found.memories]
    print("remembered: a search of the memory finds", told)
    return "a secret that is taken back" in told


async def tied() -> bool:
    """Events of one timestamp are covered by the summary of the first of them: the rest is neither sent nor
    summarised."""
    runner, model, service = await start(token_threshold=1, event_retention_size=2)
    session = await service.get_session(app_name="app", **WHO)
    for number, author in enumerate(["user", "agent", "user", "agent"]):
        message = types.Content(
            role="user" if author == "user" else "model", parts=[types.Part(text=f"imported {number}")]
        )
        await service.append_event(
            session, Event(author=author, invocation_id=f"i{number // 2}", content=message, timestamp=1000.0)
        )
    await say(runner, "next prompt")
    missing = [
        n for n in range(4) if not any(f"imported {n}" in text for text in [*model.sent, model.summarised])
    ]
    print("tied: the model was sent", model.sent, "; neither sent nor summarised:", missing)
    return bool(missing)


if __name__ == "__main__":
    found = [asyncio.run(check()) for check in (rewound, summarised, chained, remembered, windowed, tied)]
    raise SystemExit(0 if all(found) else 1)
