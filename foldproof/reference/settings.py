"""The one settings object of the reference: validated together, then immutable."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from foldproof.reference.errors import SettingsError
from foldproof.reference.log import Fsync

CHUNK_PER_STATE = 3
"""A chunk is at least this many times the state cap: every stub call reads the state too."""
STUB_PER_CHUNK = 0.1
"""A stub is at most this part of its chunk, or an index would not be much smaller than what it indexes."""

Tokens = Annotated[int, Field(gt=0)]


class Settings(BaseModel):
    """Budgets in tokens by the session's estimate, unless the name says otherwise.

    ``window_tokens`` is what the model takes; a pass is due when the request reaches
    ``threshold_ratio`` of it. ``retain_tokens`` of the newest messages stay verbatim. A pass cuts what
    is stale into chunks of about ``chunk_tokens``, each indexed by a stub of at most ``stub_tokens``;
    the state takes at most ``state_cap_tokens``. ``page_chars`` and ``snippet_chars`` bound what the
    recall tools return at once, in characters. ``message_overhead_tokens`` is what a chat API adds to
    every message for its frame; ``overflow_passes`` bounds the passes that one turn may start because
    the provider called its request too long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    window_tokens: Tokens = 128_000
    threshold_ratio: Annotated[float, Field(gt=0, le=1)] = 0.8
    retain_tokens: Tokens = 20_000
    chunk_tokens: Tokens = 8_000
    stub_tokens: Tokens = 160
    state_cap_tokens: Tokens = 2_000
    page_chars: Annotated[int, Field(gt=0)] = 12_000
    snippet_chars: Annotated[int, Field(gt=0)] = 240
    search_limit: Annotated[int, Field(gt=0)] = 20
    message_overhead_tokens: Annotated[int, Field(ge=0)] = 4
    overflow_passes: Tokens = 2
    max_concurrency: Annotated[int, Field(gt=0)] = 16
    fsync: Fsync = "turn"

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            said = first["msg"].removeprefix("Value error, ")
            text = f"{where}: {first['input']!r}: {said}" if where else said
            raise SettingsError(text) from None

    @classmethod
    def for_window(cls, window_tokens: int, **values: object) -> Self:
        """Settings scaled to a window, near the defaults' proportions; ``values`` replace single fields."""
        window = max(1, window_tokens)
        scaled: dict[str, object] = {
            "window_tokens": window_tokens,
            "retain_tokens": max(1, window * 5 // 32),
            # Small windows get relatively larger chunks: a stub is never much shorter than 100 tokens,
            # and what stubs take from the window is gone for good.
            "chunk_tokens": max(3, window // 16, min(window // 8, 4_000)),
            "stub_tokens": max(1, min(160, window // 160)),
            "state_cap_tokens": max(1, window // 64),
        }
        return cls(**scaled | values)

    @property
    def threshold_tokens(self) -> int:
        return int(self.window_tokens * self.threshold_ratio)

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.chunk_tokens < CHUNK_PER_STATE * self.state_cap_tokens:
            raise ValueError(
                f"chunk_tokens: {self.chunk_tokens}: at least {CHUNK_PER_STATE} times state_cap_tokens "
                f"({self.state_cap_tokens})"
            )
        if self.stub_tokens > STUB_PER_CHUNK * self.chunk_tokens:
            raise ValueError(
                f"stub_tokens: {self.stub_tokens}: at most {STUB_PER_CHUNK:.0%} of chunk_tokens "
                f"({self.chunk_tokens})"
            )
        if self.retain_tokens + self.state_cap_tokens >= self.threshold_tokens:
            raise ValueError(
                f"retain_tokens: {self.retain_tokens}: together with state_cap_tokens "
                f"({self.state_cap_tokens}) less than the threshold, {self.threshold_tokens} tokens"
            )
        return self
