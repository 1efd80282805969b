"""Messages as event data, and back."""

from __future__ import annotations

from typing import Any

from foldproof.reference.messages import ChatMessage, ToolCall


def message_to_data(message: ChatMessage) -> dict[str, Any]:
    """Only what is set is written."""
    data: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.calls:
        data["calls"] = [[call.id, call.name, call.arguments] for call in message.calls]
    if message.result_of is not None:
        data["result_of"] = message.result_of
    if message.is_error:
        data["is_error"] = True
    return data


def message_from_data(data: dict[str, Any]) -> ChatMessage:
    """The inverse of `message_to_data`."""
    return ChatMessage(
        data["role"],
        data["text"],
        tuple(ToolCall(*call) for call in data.get("calls", ())),
        data.get("result_of"),
        data.get("is_error", False),
    )


def searchable(message: ChatMessage) -> str:
    """The text of a message that a search looks through: what it says, and what it calls with."""
    return message.text if not message.calls else message.transcript()
