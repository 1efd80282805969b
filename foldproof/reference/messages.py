"""A chat message: what a session stores, a request sends, and a summarizer reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["user", "assistant", "tool"]

_SPEAKERS: dict[Role, str] = {"user": "User", "assistant": "Assistant", "tool": "Tool result"}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that an assistant message makes; ``arguments`` is JSON text, kept as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("name", self.name), ("arguments", self.arguments)):
            if not isinstance(value, str):
                raise ValueError(f"{name}: a call's {name} is text, not {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message. An assistant message may carry calls; a tool message answers one, by ``result_of``."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    result_of: str | None = None
    is_error: bool = False

    def __post_init__(self) -> None:
        # A log never forgets: what it could not be read back with must not get in.
        if self.role not in _SPEAKERS:
            raise ValueError(f"role: {self.role!r} is none of {', '.join(_SPEAKERS)}")
        if not isinstance(self.text, str):
            raise ValueError(f"text: a str is needed, not {type(self.text).__name__} (no text is '')")
        if (self.role == "tool") != (self.result_of is not None):
            raise ValueError("result_of: a tool message names the call that it answers, and no other does")
        if self.calls and self.role != "assistant":
            raise ValueError(f"calls: only an assistant message makes calls, not a {self.role} message")

    def transcript(self) -> str:
        """The message as ``User:``, ``Assistant:`` or ``Tool result:`` text, calls written below it."""
        lines = [self.text] if self.text or not self.calls else []
        lines += [f"[call {call.name} {call.arguments}]" for call in self.calls]
        return f"{_SPEAKERS[self.role]}: " + "\n".join(lines)
