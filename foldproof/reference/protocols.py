"""What a host may replace: the summarizer and the token estimate. Both are one method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from foldproof.reference.messages import ChatMessage

# One preamble for both kinds of call: with the state behind it, it is the prefix that all calls of a
# pass share, and that a provider's prompt cache serves from the second call on. Which task is wanted
# comes last.
PREAMBLE = """\
You keep the memory of an agent whose conversation outgrew its window. Shown below: the state, which is \
the agent's working memory so far; what is listed and indexed already, if anything; and a span of the \
conversation. The last line names your task.

Task "index": write two or three short lines on the span: what was wanted, what happened, what came of \
it. Then one line that begins with "Keywords: " and lists exact rare literals of the span, grouped by \
kind (errors, values, config, paths, identifiers), copied letter by letter, none that is listed already. \
The state is background: do not summarise it.

Task "state": merge the state with what happened in the span, under the headings Decisions, Current \
state, Constraints, Next steps. Keep what still holds, drop what was superseded, say nothing twice, copy \
names, numbers and paths letter by letter.

Write nothing else: no preface, no pointers, no ids of checkpoints."""
KEYWORDS = "Keywords: "


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One summarise call of a pass.

    ``state`` is the state as it was when the pass began, the same bytes in every call of the pass (a
    prefix that siblings share, and that a prompt cache serves); empty in the first pass. A ``stub``
    call is also shown ``keywords`` (the keyword lines of all committed stubs) and ``recent`` (the text
    of the one or two latest stubs). ``messages`` is the slice, or for the ``state`` call all that went
    stale; the superseded state is never among them. ``max_tokens`` caps the answer.
    """

    kind: Literal["stub", "state"]
    messages: tuple[ChatMessage, ...]
    max_tokens: int
    state: str = ""
    keywords: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()

    @property
    def shared(self) -> str:
        """The prefix that all calls of a pass share, byte for byte: preamble and pass-start state."""
        return f"{PREAMBLE}\n\n<state>\n{self.state}\n</state>"

    @property
    def own(self) -> str:
        """What only this call has: keyword lines, latest stubs, the slice as a transcript, the task."""
        parts = [
            f"<{name}>\n{text}\n</{name}>"
            for name, text in (("listed", "\n".join(self.keywords)), ("latest", "\n\n".join(self.recent)))
            if text
        ]
        slice_text = "\n\n".join(message.transcript() for message in self.messages)
        task = "index" if self.kind == "stub" else "state"
        return "\n\n".join(
            [*parts, f"<span>\n{slice_text}\n</span>", f"Task: {task}, {self.max_tokens} tokens at most."]
        )

    @property
    def text(self) -> str:
        """The whole input of the call, in the order in which it is sent."""
        return f"{self.shared}\n\n{self.own}"


@runtime_checkable
class Summarizer(Protocol):
    """Answers a `SummaryRequest` with text of at most ``max_tokens`` tokens.

    A stub's text is its lines and, last, a line that begins with `KEYWORDS`; a state's text is the
    whole new state. Footers are not its business. May raise anything: a failed stub call costs its
    slice the summary, a failed state call fails the pass and commits nothing.
    """

    async def summarize(self, request: SummaryRequest) -> str: ...


@runtime_checkable
class TokenEstimator(Protocol):
    """Estimates the number of tokens of a text; never negative, and 0 for the empty text."""

    def __call__(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class CharacterEstimator:
    """The default estimate: characters divided by ``characters_per_token``, rounded up."""

    characters_per_token: int = 4

    def __post_init__(self) -> None:
        if self.characters_per_token < 1:
            raise ValueError(f"characters_per_token: {self.characters_per_token} is less than 1")

    def __call__(self, text: str) -> int:
        return -(-len(text) // self.characters_per_token)
