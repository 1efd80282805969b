"""The protocol's events: the kernel's, and the extensions that harnesses have in a form of their own."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

CORE_EVENTS = ("append", "call", "step_end", "measure", "undo", "clear", "compact", "restore", "toggle")
"""The kernel's events; ``compact_begin`` and ``compact_land`` are reserved."""
EXTENSION_EVENTS = ("branch", "switch", "remove", "regenerate")
"""What harnesses have in a form of their own, with a meaning in the model (`ModelAdapter`)."""
EVENT_NAMES = CORE_EVENTS + EXTENSION_EVENTS
"""The events of version 1."""

Identifier: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]


class Strict(BaseModel):
    """What we define ourselves: nothing unknown, no coercion, JSON arrays as tuples."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class AppendedMessage(Strict):
    """A message to store. Its text carries its own marker."""

    id: Identifier
    role: Literal["user", "assistant", "tool", "system"]
    origin: str
    text: str


class Append(Strict):
    """Store a message."""

    type: Literal["append"]
    message: AppendedMessage


class CallEvent(Strict):
    """The model opens a span, closes it, or closes it and opens the next; the carrier's id is ``call``.

    ``memory`` is the text for a closed span; it carries the markers of what the span holds.
    """

    type: Literal["call"]
    kind: Literal["open", "close", "next"]
    call: Identifier
    summary: str | None = None
    memory: str | None = None


class StepEnd(Strict):
    """The step ends: what is pending is committed."""

    type: Literal["step_end"]


class Measure(Strict):
    """The provider reports a size: ``tokens``, or the view's by the implementation's own estimator."""

    type: Literal["measure"]
    tokens: NonNegativeInt | None = None


class Undo(Strict):
    """Take back the last ``count`` user prompts and everything after the earliest of them."""

    type: Literal["undo"]
    count: Annotated[int, Field(ge=1)]


class Clear(Strict):
    """Empty the session."""

    type: Literal["clear"]


class Compact(Strict):
    """Compact all but the last ``keep`` stored messages; ``summary`` is what a summarizer says.

    ``keep`` and ``frozen`` (an index memory instead of the state memory) are sent only to those who list
    ``compact.keep`` and ``compact.frozen``; to all others a summary covers everything.
    """

    type: Literal["compact"]
    summary: str
    keep: NonNegativeInt = 0
    frozen: bool = False


class Restore(Strict):
    """A crash and a resume from what is stored."""

    type: Literal["restore"]


class Toggle(Strict):
    """Switch the fold on or off."""

    type: Literal["toggle"]
    enabled: bool


class Branch(Strict):
    """Go on in a new line ``name``: what the session is now, without its last ``count`` prompts.

    The line that is left is kept as it is. The first line is ``main``. A clear forgets every other line.
    """

    type: Literal["branch"]
    name: Identifier
    count: NonNegativeInt


class Switch(Strict):
    """Go on in the line ``name``, as it was left; the line that is left now is kept."""

    type: Literal["switch"]
    name: Identifier


class Remove(Strict):
    """Take out one exchange, the message ``prompt`` and what follows it up to the next prompt.

    The rest stays: it is as if the session had been undone to the prompt and the rest appended again.
    """

    type: Literal["remove"]
    prompt: Identifier


class Regenerate(Strict):
    """Replace the answer to ``prompt``, all that follows it up to the next prompt, by ``message``.

    It is as if the session had been undone to the prompt, and the prompt, the message and the rest appended.
    Whether an exchange that is not the last one moves to the end is the implementation's affair.
    """

    type: Literal["regenerate"]
    prompt: Identifier
    message: AppendedMessage


Event: TypeAlias = Annotated[
    Append
    | CallEvent
    | StepEnd
    | Measure
    | Undo
    | Clear
    | Compact
    | Restore
    | Toggle
    | Branch
    | Switch
    | Remove
    | Regenerate,
    Field(discriminator="type"),
]
