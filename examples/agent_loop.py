"""An agent loop with compaction and recall, complete and without a network: a scripted model plays along.

The session is small and its window smaller, so that a pass drops a detail. Later the user asks for that
detail. The model does what the prompt section of the recall tools tells it to do: it searches, reads
where the search points, and answers from what it read.

Run it: python examples/agent_loop.py
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import RecallError
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.recall import RecallTools
from foldproof.reference.render import render_openai
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

SYSTEM = f"You are a careful assistant.\n\n{RecallTools.prompt_section}"


class ScriptedModel:
    """Stands in for a chat API: it is given a request's messages and returns the assistant's message.

    It knows nothing but the request. Asked for the pass phrase, it answers if the request holds it,
    else it searches, then reads the checkpoint that the search found.
    """

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: list[dict[str, Any]]) -> ChatMessage:
        prompt = [message["content"] for message in request if message["role"] == "user"][-1]
        if "pass phrase of staging" not in prompt:
            return ChatMessage("assistant", "Noted. I went through it; nothing else stands out. " * 3)
        text = "\n".join(str(message["content"]) for message in request)
        if answer := re.search(r"the staging pass phrase is ([a-z ]+)\.", text):
            return ChatMessage("assistant", f"The pass phrase is {answer.group(1)}.")
        self.calls += 1
        if match := re.match(r"(c\d+) #\d+", str(request[-1]["content"])):  # a search result: read there
            name, arguments = "history_read", {"checkpoint": match.group(1)}
        else:
            name, arguments = "history_search", {"query": "staging pass phrase"}
        return ChatMessage("assistant", calls=(ToolCall(f"call_{self.calls}", name, json.dumps(arguments)),))


async def turn(
    session: Session, compactor: RecallableCompactor, tools: RecallTools, model: ScriptedModel, prompt: str
) -> str:
    """One turn: the user's prompt, then requests until the model answers without a call."""
    session.append(ChatMessage("user", prompt))
    while True:
        report = await compactor.compact_if_needed()
        if report is not None:
            sizes = f"{report.tokens_before} -> {report.tokens_after} tokens"
            print(f"  pass {report.number}: {sizes}, {report.stubs} stubs")
        reply = model(render_openai(session.view().messages(), SYSTEM))
        session.append(reply)
        if not reply.calls:
            return reply.text
        for call in reply.calls:
            try:
                result = await tools.call(call.name, json.loads(call.arguments))
                failed = False
            except RecallError as error:
                result, failed = str(error), True
            print(f"  {call.name} {call.arguments}")
            session.append(ChatMessage("tool", result, result_of=call.id, is_error=failed))


async def main(log: Path) -> str:
    """Run the conversation and return the last answer."""
    settings = Settings.for_window(4_000, page_chars=1_200, snippet_chars=24)
    with Session.create(log, settings) as session:
        compactor, tools, model = RecallableCompactor(session), RecallTools(session), ScriptedModel()
        await turn(
            session, compactor, tools, model, "Let us go through the deployment notes. First the network."
        )
        await turn(
            session,
            compactor,
            tools,
            model,
            "Here they are. By the way the staging pass phrase is heron under ice. " + "Old rack. " * 80,
        )
        for number in range(28):
            await turn(
                session,
                compactor,
                tools,
                model,
                f"Note {number}: " + f"rack {number} holds nothing new. " * 14,
            )
        shown = "\n".join(item.message.text for item in session.view())
        print(f"  the request holds the phrase: {'heron under ice' in shown}")
        prompt = "What was the pass phrase of staging?"
        answer = await turn(session, compactor, tools, model, prompt)
        print(f"user: {prompt}\nmodel: {answer}")
        return answer


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "session.log"))
