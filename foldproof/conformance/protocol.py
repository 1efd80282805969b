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

from foldproof.conformance.events import EVENT_NAMES, Event, Strict

VERSION = 1
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

Finite: TypeAlias = int | Annotated[float, Field(allow_inf_nan=False)]


class _Open(BaseModel):
    """What an implementation may extend."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)


class StartRequest(Strict):
    """The first line: the protocol's version."""

    cmd: Literal["start"]
    version: Literal[1]


class ResetRequest(Strict):
    """Begin a new, empty session."""

    cmd: Literal["reset"]
    seq: NonNegativeInt
    config: dict[str, Any] = Field(default_factory=dict)


class EventRequest(Strict):
    """Do one event."""

    cmd: Literal["event"]
    seq: NonNegativeInt
    event: Event


class StopRequest(Strict):
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


class Tokens(Strict):
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
