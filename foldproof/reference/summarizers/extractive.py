"""The default summarizer: deterministic, local, without a key. It quotes; it never writes a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foldproof.reference.messages import ChatMessage
from foldproof.reference.protocols import KEYWORDS, CharacterEstimator, SummaryRequest, TokenEstimator
from foldproof.reference.summarizers.extract import Utterance, merge_state, shorten, stub_lines
from foldproof.reference.summarizers.literals import keyword_line, literals, rank

NOTHING_SAID = "Nothing was said in words yet."
# Half of a stub says what happened, half says what to search for.
_LINES_SHARE = 2


@dataclass(frozen=True, slots=True)
class ExtractiveSummarizer:
    """First and last sentences for a stub, rare literals for its keyword line, cue words for the state.

    Equal requests give equal texts, and no text is longer than ``request.max_tokens`` by ``estimate``.
    """

    estimate: TokenEstimator = field(default_factory=CharacterEstimator)

    async def summarize(self, request: SummaryRequest) -> str:
        if request.kind == "state":
            utterances = _utterances(request.messages)
            merged = merge_state(request.state, utterances, request.max_tokens, self.estimate)
            # An empty state would fail the pass; a span of calls alone has no sentence to quote.
            return merged or shorten(NOTHING_SAID, request.max_tokens, self.estimate)
        return self._stub(request)

    def _stub(self, request: SummaryRequest) -> str:
        lines = stub_lines(_utterances(request.messages), request.max_tokens // _LINES_SHARE, self.estimate)
        said = "\n".join(lines)
        texts = [_searchable(message) for message in request.messages]
        spoken = {number for number, message in enumerate(request.messages) if message.role != "tool"}
        # Estimates of joined texts may exceed the sum by one; the label and the line break count too.
        room = request.max_tokens - self.estimate(f"{said}\n{KEYWORDS}") - 1
        words = keyword_line(
            rank(literals(texts), len(texts), spoken), room, self.estimate, "\n".join(request.keywords)
        )
        return "\n".join([*lines, *([KEYWORDS + words] if words else [])])


def _utterances(messages: Sequence[ChatMessage]) -> list[Utterance]:
    return [Utterance(m.role, m.text, tuple(call.name for call in m.calls)) for m in messages]


def _searchable(message: ChatMessage) -> str:
    return "\n".join([message.text, *(call.arguments for call in message.calls)])
