"""The conformance protocol: what a tester asks and what an implementation under test answers.

JSON lines, UTF-8, one object a line. Requests are ``start``, ``reset``, ``event`` and ``stop``; every reply
but the handshake echoes its request's ``seq``. An implementation declares what it observes; what it does
not declare is never assumed. docs/conformance.md tells the protocol in prose; the JSON Schemas in
``foldproof/conformance/schemas/`` are written from these models.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

VERSION = 1
CORE_EVENTS = ("append", "call", "step_end", "measure", "undo", "clear", "compact", "restore", "toggle")
"""The kernel's events; ``compact_begin`` and ``compact_land`` are reserved."""
EXTENSION_EVENTS = ("branch", "switch", "remove", "regenerate")
"""What harnesses have in a form of their own, with a meaning in the model (`ModelAdapter`)."""
EVENT_NAMES = CORE_EVENTS + EXTENSION_EVENTS
"""The events of version 1."""
OBSERVATION_NAMES = (
    "view",
    "history_length",
    "anchors",
    "trigger",
    "view_tokens",
    "committed",
    "pending",
)
MARKER = re.compile(r"\[\[([A-Za-z0-9_.:-]{1,64})\]\]")
"""How provenance is seen from outside: a message or call of id ``m1`` is marked ``[[m1]]``."""

Identifier: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]
Finite: TypeAlias = int | Annotated[float, Field(allow_inf_nan=False)]


class _Model(BaseModel):
    """What we define ourselves: nothing unknown, no coercion, JSON arrays as tuples."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Open(BaseModel):
    """What an implementation may extend."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)


class AppendedMessage(_Model):
    """A message to store. Its text carries its own marker."""

    id: Identifier
    role: Literal["user", "assistant", "tool", "system"]
    origin: str
    text: str


class Append(_Model):
    """Store a message."""

    type: Literal["append"]
    message: AppendedMessage


class CallEvent(_Model):
    """The model opens a span, closes it, or closes it and opens the next; the carrier's id is ``call``.

    ``memory`` is the text for a closed span; it carries the markers of what the span holds.
    """

    type: Literal["call"]
    kind: Literal["open", "close", "next"]
    call: Identifier
    summary: str | None = None
    memory: str | None = None


class StepEnd(_Model):
    """The step ends: what is pending is committed."""

    type: Literal["step_end"]


class Measure(_Model):
    """The provider reports a size: ``tokens``, or the view's by the implementation's own estimator."""

    type: Literal["measure"]
    tokens: NonNegativeInt | None = None


class Undo(_Model):
    """Take back the last ``count`` user prompts and everything after the earliest of them."""

    type: Literal["undo"]
    count: Annotated[int, Field(ge=1)]


class Clear(_Model):
    """Empty the session."""

    type: Literal["clear"]


class Compact(_Model):
    """Compact all but the last ``keep`` stored messages; ``summary`` is what a summarizer says.

    ``keep`` and ``frozen`` (an index memory instead of the state memory) are sent only to those who list
    ``compact.keep`` and ``compact.frozen``; to all others a summary covers everything.
    """

    type: Literal["compact"]
    summary: str
    keep: NonNegativeInt = 0
    frozen: bool = False


class Restore(_Model):
    """A crash and a resume from what is stored."""

    type: Literal["restore"]


class Toggle(_Model):
    """Switch the fold on or off."""

    type: Literal["toggle"]
    enabled: bool


class Branch(_Model):
    """Go on in a new line ``name``: what the session is now, without its last ``count`` prompts.

    The line that is left is kept as it is. The first line is ``main``. A clear forgets every other line.
    """

    type: Literal["branch"]
    name: Identifier
    count: NonNegativeInt


class Switch(_Model):
    """Go on in the line ``name``, as it was left; the line that is left now is kept."""

    type: Literal["switch"]
    name: Identifier


class Remove(_Model):
    """Take out one exchange, the message ``prompt`` and what follows it up to the next prompt.

    The rest stays: it is as if the session had been undone to the prompt and the rest appended again.
    """

    type: Literal["remove"]
    prompt: Identifier


class Regenerate(_Model):
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


class StartRequest(_Model):
    """The first line: the protocol's version."""

    cmd: Literal["start"]
    version: Literal[1]


class ResetRequest(_Model):
    """Begin a new, empty session."""

    cmd: Literal["reset"]
    seq: NonNegativeInt
    config: dict[str, Any] = Field(default_factory=dict)


class EventRequest(_Model):
    """Do one event."""

    cmd: Literal["event"]
    seq: NonNegativeInt
    event: Event


class StopRequest(_Model):
    """Exit."""

    cmd: Literal["stop"]


Request: TypeAlias = Annotated[
    StartRequest | ResetRequest | EventRequest | StopRequest, Field(discriminator="cmd")
]


class Implementation(_Open):
    """Who answers."""

    name: Annotated[str, Field(min_length=1)]
    language: str
    version: str | None = None
    homepage: str | None = None


class Tokens(_Model):
    """How far ``trigger`` may be from ``view_tokens``: a share of it, plus a constant."""

    tolerance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.0
    overhead: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class Handshake(_Open):
    """The reply to ``start``: identity, the events that can be sent, what will be observed."""

    version: Literal[1]
    implementation: Implementation
    events: tuple[str, ...] = Field(strict=False)
    observes: tuple[str, ...] = Field(strict=False)
    tokens: Tokens = Tokens()


class ViewItem(_Open):
    """One message as it would be sent to the model now."""

    role: str
    text: str
    synthetic: Literal["memory", "status"] | None = None
    calls: tuple[str, ...] = Field(default=(), strict=False)
    result_of: str | None = None


class AnchorValue(_Open):
    """An index into the history: ``exclusive`` lies before its end, ``inclusive`` may be its end."""

    name: str
    value: int
    bound: Literal["exclusive", "inclusive"]


class Observation(_Open):
    """What an implementation lets be seen after an event: the fields that it declared."""

    view: tuple[ViewItem, ...] | None = Field(default=None, strict=False)
    history_length: NonNegativeInt | None = None
    anchors: tuple[AnchorValue, ...] | None = Field(default=None, strict=False)
    trigger: Finite | None = None
    view_tokens: Finite | None = None
    committed: tuple[str, ...] | None = Field(default=None, strict=False)
    pending: str | None = None


class Reply(_Open):
    """The reply to ``reset`` and ``event``."""

    seq: NonNegativeInt
    status: Literal["applied", "rejected", "skipped", "errored"]
    reason: str | None = None
    observation: Observation = Observation()


REQUEST: TypeAdapter[StartRequest | ResetRequest | EventRequest | StopRequest] = TypeAdapter(Request)


class ProtocolError(ValueError):
    """A line is not what the protocol says should stand there."""


def read_request(value: Any) -> StartRequest | ResetRequest | EventRequest | StopRequest:
    """A request from parsed JSON. Raises `ProtocolError`, naming the field."""
    try:
        return REQUEST.validate_python(value)
    except ValidationError as error:
        raise ProtocolError(f"not a request: {first_error(error)}") from error


def read_handshake(value: Any) -> Handshake:
    """The reply to ``start`` from parsed JSON. Raises `ProtocolError`, naming the field or name."""
    try:
        handshake = Handshake.model_validate(value)
    except ValidationError as error:
        raise ProtocolError(f"not a handshake: {first_error(error)}") from error
    for name in handshake.events:
        if name not in EVENT_NAMES and not name.startswith("compact_") and "." not in name:
            raise ProtocolError(f"unknown event {name[:40]!r}; events are {', '.join(EVENT_NAMES)}")
    for name in handshake.observes:
        if name not in OBSERVATION_NAMES:
            raise ProtocolError(f"it observes {name[:40]!r}; it can observe {', '.join(OBSERVATION_NAMES)}")
    return handshake


def read_reply(value: Any, handshake: Handshake, seq: int) -> Reply:
    """The reply to request ``seq`` from parsed JSON, with everything that the handshake declared.

    Raises `ProtocolError` for a wrong shape, a wrong ``seq``, or an observation that lacks what was declared.
    """
    try:
        reply = Reply.model_validate(value)
    except ValidationError as error:
        raise ProtocolError(f"not a reply: {first_error(error)}") from error
    if reply.seq != seq:
        raise ProtocolError(f"the reply's seq is {reply.seq}, the request's is {seq}")
    if reply.status != "errored":
        for name in handshake.observes:
            if name not in reply.observation.model_fields_set or (
                name != "pending" and getattr(reply.observation, name) is None
            ):
                raise ProtocolError(f"the observation lacks {name}, which the handshake declares")
    return reply


def first_error(error: ValidationError) -> str:
    """A validation error as one short clause: where, and what."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the object"
    message = first["msg"]
    return f"{place}: {message[:1].lower()}{message[1:]}"[:300]
