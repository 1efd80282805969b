"""One streamed completion from an OpenAI-compatible endpoint, with one rule for retries and time.

The vendor's SDK (extra ``openai``) speaks the protocol. Its own retries are switched off: they cover
only the start of a request, and a stream that breaks half-way must be retried by the same count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

MAX_BACKOFF = 30.0


class CompletionError(RuntimeError):
    """The endpoint did not deliver. The message names model, cause and number of attempts."""


class _BrokenStreamError(Exception):
    """The stream ended before it said that it was complete."""


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Where and how to ask.

    ``base_url`` and ``api_key`` default to the SDK's own environment variables. ``timeout`` is the
    limit of one attempt in seconds, from sending to the last token; ``attempts`` counts the first try
    too; ``backoff`` is the wait before the second attempt in seconds, doubled each time, unless the
    endpoint asks for another with ``Retry-After``. ``options`` goes into the request as it is.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    attempts: int = 4
    backoff: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("model: a name is needed")
        for name in ("timeout", "attempts"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}: {getattr(self, name)} is not greater than 0")
        if self.backoff < 0:
            raise ValueError(f"backoff: {self.backoff} is less than 0")


async def complete(endpoint: ChatEndpoint, messages: Sequence[dict[str, Any]], max_tokens: int) -> str:
    """Return the text of one completion of at most ``max_tokens`` tokens.

    Retries what may pass (no connection, a timeout, a broken stream, status 408, 409, 429, 5xx); gives
    up at once on what will not (a bad key, a bad request, a refusal). Cancelling the task closes the
    connection. Raises `CompletionError`.
    """
    client = _client(endpoint)
    try:
        for attempt in range(1, endpoint.attempts + 1):
            try:
                return await _attempt(client, endpoint, messages, max_tokens)
            except Exception as error:
                wait = _wait(error, endpoint.backoff * 2 ** (attempt - 1))
                if wait is None or attempt == endpoint.attempts:
                    tries = "at the first attempt" if attempt == 1 else f"after {attempt} attempts"
                    raise CompletionError(
                        f"{endpoint.model}: {_describe(error, endpoint)} ({tries})"
                    ) from error
            await endpoint.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")
    finally:
        await client.close()


def _client(endpoint: ChatEndpoint) -> AsyncOpenAI:
    try:
        import openai  # noqa: PLC0415 - an extra
    except ImportError:
        raise CompletionError(
            "the chat summarizer needs the openai SDK: pip install 'foldproof[openai]'"
        ) from None
    try:
        return openai.AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0)
    except openai.OpenAIError:
        raise CompletionError(
            f"{endpoint.model}: no API key; set OPENAI_API_KEY (any text, where the endpoint wants none)"
        ) from None


async def _attempt(
    client: AsyncOpenAI, endpoint: ChatEndpoint, messages: Sequence[dict[str, Any]], max_tokens: int
) -> str:
    request: Any = {
        "model": endpoint.model,
        "messages": list(messages),
        "max_tokens": max_tokens,
        "stream": True,
    }
    async with asyncio.timeout(endpoint.timeout):
        stream: AsyncStream[ChatCompletionChunk] = await client.chat.completions.create(
            **request | endpoint.options
        )
        async with stream:
            parts: list[str] = []
            finish = None
            async for chunk in stream:
                for choice in chunk.choices[:1]:
                    parts.append(choice.delta.content or "")
                    finish = choice.finish_reason or finish
    text = "".join(parts).strip()
    if finish is None:
        raise _BrokenStreamError("the stream ended before the completion did")
    if finish == "content_filter":
        raise CompletionError("the endpoint filtered the completion")
    if not text:
        raise CompletionError(f"an empty completion (finish_reason {finish!r})")
    return text


def _wait(error: Exception, backoff: float) -> float | None:
    """Seconds to wait before the next attempt, none if another cannot help."""
    import openai  # noqa: PLC0415

    if isinstance(error, openai.APIStatusError):
        if error.status_code not in (408, 409, 429) and error.status_code < 500:
            return None
        asked = error.response.headers.get("retry-after", "")
        return min(float(asked), MAX_BACKOFF) if asked.isdecimal() else min(backoff, MAX_BACKOFF)
    if isinstance(error, CompletionError):
        return None
    # What is left of the SDK's errors concerns the connection; a stream that breaks also shows as an
    # error of its HTTP library or as chunks that are no JSON.
    transient = isinstance(error, openai.APIError | TimeoutError | _BrokenStreamError | OSError | ValueError)
    return min(backoff, MAX_BACKOFF) if transient or _is_transport(error) else None


def _is_transport(error: Exception) -> bool:
    return any(kind.__name__ == "TransportError" for kind in type(error).__mro__)


def _describe(error: Exception, endpoint: ChatEndpoint) -> str:
    import openai  # noqa: PLC0415

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return f"no complete answer within {endpoint.timeout:g} s"
    if isinstance(error, openai.APIStatusError):
        return f"status {error.status_code}: {' '.join(error.message.split())[:200]}"
    if isinstance(error, openai.APIConnectionError):
        return f"no connection to {endpoint.base_url or 'the default endpoint'}"
    return " ".join(str(error).split())[:200] or type(error).__name__
