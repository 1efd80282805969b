"""The chat endpoint: streams, retries with backoff, times out, stops when cancelled. Against a local fake."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import pytest

from foldproof.reference.summarizers.completion import ChatEndpoint, CompletionError, complete

from .fake_endpoint import fake_endpoint

pytest.importorskip("openai")

GOOD = {"text": "a summary of seven words or so"}
MESSAGES = [{"role": "user", "content": "summarise"}]


def ask(url: str, waits: list[float] | None = None, **settings: Any) -> str:
    async def sleep(seconds: float) -> None:
        (waits if waits is not None else []).append(seconds)

    endpoint = ChatEndpoint("fake", base_url=url, api_key="k", sleep=sleep, **settings)
    return asyncio.run(complete(endpoint, MESSAGES, 50))


def test_a_streamed_answer_is_put_together() -> None:
    with fake_endpoint(GOOD) as endpoint:
        assert ask(endpoint.url, options={"temperature": 0}) == GOOD["text"]
    [request] = endpoint.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["key"] == "Bearer k"
    assert request["body"] == {
        "model": "fake",
        "messages": MESSAGES,
        "max_tokens": 50,
        "stream": True,
        "temperature": 0,
    }


@pytest.mark.parametrize(
    "trouble",
    [{"status": 500}, {"status": 429}, {"status": 408}, {"text": "half an ans", "break": True}],
    ids=["500", "429", "408", "broken stream"],
)
def test_what_may_pass_is_tried_again_with_backoff(trouble: dict[str, Any]) -> None:
    waits: list[float] = []
    with fake_endpoint(trouble, trouble, GOOD) as endpoint:
        assert ask(endpoint.url, waits, backoff=0.5) == GOOD["text"]
    assert len(endpoint.requests) == 3
    assert waits == [0.5, 1.0]


def test_the_wait_the_endpoint_asks_for_counts() -> None:
    waits: list[float] = []
    with fake_endpoint({"status": 429, "headers": {"retry-after": "7"}}, GOOD) as endpoint:
        assert ask(endpoint.url, waits) == GOOD["text"]
    assert waits == [7.0]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ({"status": 401, "message": "bad key"}, "status 401: .*bad key"),
        ({"status": 400, "message": "bad request"}, "status 400"),
        ({"text": "no", "finish": "content_filter"}, "filtered"),
        ({"text": ""}, "empty completion"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(trouble: dict[str, Any], said: str) -> None:
    with (
        fake_endpoint(trouble, GOOD) as endpoint,
        pytest.raises(CompletionError, match=f"fake: .*{said}.*first attempt"),
    ):
        ask(endpoint.url)
    assert len(endpoint.requests) == 1


def test_giving_up_says_how_often_it_was_tried() -> None:
    with (
        fake_endpoint({"status": 503, "message": "busy"}) as endpoint,
        pytest.raises(CompletionError, match=r"status 503: .*busy.* \(after 3 attempts\)"),
    ):
        ask(endpoint.url, attempts=3)
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    "trouble", [{"text": "x", "delay": 2}, {"text": "x" * 700, "pause": 0.02}], ids=["mute", "slow"]
)
def test_the_timeout_covers_the_whole_attempt(trouble: dict[str, Any]) -> None:
    started = time.monotonic()
    with (
        fake_endpoint(trouble) as endpoint,
        pytest.raises(CompletionError, match=r"within 0.3 s \(after 2 attempts\)"),
    ):
        ask(endpoint.url, timeout=0.3, attempts=2)
    assert 0.6 <= time.monotonic() - started < 3


def test_no_server_is_one_line() -> None:
    with pytest.raises(CompletionError, match=r"no connection to http://127\.0\.0\.1:9/v1"):
        ask("http://127.0.0.1:9/v1", attempts=2)


def test_cancelling_closes_the_connection() -> None:
    async def run(url: str) -> None:
        endpoint = ChatEndpoint("fake", base_url=url, api_key="k")
        task = asyncio.create_task(complete(endpoint, MESSAGES, 50))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with fake_endpoint({"text": "x" * 70_000, "pause": 0.01}) as server:
        asyncio.run(run(server.url))
        assert server.hung_up.wait(5), "the server went on writing"
    assert len(server.requests) == 1


def test_a_missing_extra_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(CompletionError, match=r"pip install 'foldproof\[openai\]'"):
        ask("http://127.0.0.1:9/v1")


def test_a_missing_key_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(CompletionError, match="OPENAI_API_KEY"):
        asyncio.run(complete(ChatEndpoint("fake"), MESSAGES, 5))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": ""}, "model"),
        ({"timeout": 0}, "timeout: 0"),
        ({"attempts": 0}, "attempts: 0"),
        ({"backoff": -1}, "backoff: -1"),
    ],
)
def test_bad_settings_name_the_field(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ChatEndpoint(**{"model": "m"} | settings)


def test_the_key_is_never_printed() -> None:
    assert "secret" not in repr(ChatEndpoint("m", api_key="secret"))
