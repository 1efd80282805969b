"""A summarizer that asks a model, over any OpenAI-compatible endpoint."""

from __future__ import annotations

from dataclasses import dataclass

from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.summarizers.completion import ChatEndpoint, complete


@dataclass(frozen=True, slots=True)
class ChatSummarizer:
    """Sends each request as a system message (the shared prefix) and a user message (the call's own part).

    The calls of a pass run at the same time; the shared prefix comes first in each, so that endpoints
    that cache prompts serve it at their cached rate.
    """

    endpoint: ChatEndpoint

    async def summarize(self, request: SummaryRequest) -> str:
        messages = [
            {"role": "system", "content": request.shared},
            {"role": "user", "content": request.own},
        ]
        return await complete(self.endpoint, messages, request.max_tokens)
