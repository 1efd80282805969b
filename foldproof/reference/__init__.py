"""The event-sourced session, the recallable compactor and the recall tools.

What a host needs is here by name, and loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldproof.reference.async_session import AsyncSession
    from foldproof.reference.basic import BasicCompactor
    from foldproof.reference.compactor import RecallableCompactor
    from foldproof.reference.errors import FoldproofError
    from foldproof.reference.messages import ChatMessage, ToolCall
    from foldproof.reference.passes import PassReport
    from foldproof.reference.protocols import Summarizer, SummaryRequest, TokenEstimator
    from foldproof.reference.recall import RecallTools
    from foldproof.reference.render import render_anthropic, render_openai
    from foldproof.reference.session import Session
    from foldproof.reference.settings import Settings

__all__ = [
    "AsyncSession",
    "BasicCompactor",
    "ChatMessage",
    "FoldproofError",
    "PassReport",
    "RecallTools",
    "RecallableCompactor",
    "Session",
    "Settings",
    "Summarizer",
    "SummaryRequest",
    "TokenEstimator",
    "ToolCall",
    "render_anthropic",
    "render_openai",
]

_MODULES = {
    "async_session": ("AsyncSession",),
    "basic": ("BasicCompactor",),
    "compactor": ("RecallableCompactor",),
    "errors": ("FoldproofError",),
    "messages": ("ChatMessage", "ToolCall"),
    "passes": ("PassReport",),
    "protocols": ("Summarizer", "SummaryRequest", "TokenEstimator"),
    "recall": ("RecallTools",),
    "render": ("render_anthropic", "render_openai"),
    "session": ("Session",),
    "settings": ("Settings",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
