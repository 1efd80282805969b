"""Both summarizers through the one protocol, and the token estimates."""

from __future__ import annotations

import asyncio
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.protocols import (
    KEYWORDS,
    PREAMBLE,
    CharacterEstimator,
    Summarizer,
    SummaryRequest,
    TokenEstimator,
)
from foldproof.reference.summarizers import ChatEndpoint, ChatSummarizer, ExtractiveSummarizer
from foldproof.reference.summarizers.extractive import NOTHING_SAID
from foldproof.reference.tokens import TiktokenEstimator, TokenizerUnavailableError

from .fake_endpoint import fake_endpoint

TALK = (
    ChatMessage("user", "Please fix src/parser/core_7.py. It raises ENOENT."),
    ChatMessage("assistant", "", (ToolCall("c1", "bash", '{"command": "ls build_output"}'),)),
    ChatMessage("tool", "RETRY_LIMIT=7\nnothing else", result_of="c1"),
    ChatMessage("assistant", "We decided to keep the arena. It is fixed."),
)
STUB = SummaryRequest("stub", TALK, 120, state="## Decisions\n- old", keywords=("config: RETRY_LIMIT=7",))


def run(summarizer: Summarizer, request: SummaryRequest) -> str:
    return asyncio.run(summarizer.summarize(request))


def test_a_request_is_layered_and_its_prefix_is_shared() -> None:
    state_call = SummaryRequest("state", TALK, 400, state=STUB.state)
    assert STUB.shared == state_call.shared
    order = [
        PREAMBLE,
        "- old",
        "RETRY_LIMIT=7\n</listed>",
        "User: Please fix",
        "[call bash",
        "Tool result: RETRY",
        "Task: index",
    ]
    places = [STUB.text.index(part) for part in order]
    assert places == sorted(places)
    assert "Task: state, 400 tokens" in state_call.text


def test_the_extractive_stub() -> None:
    assert run(ExtractiveSummarizer(), STUB) == (
        "User: Please fix src/parser/core_7.py.\n"
        "Assistant: It is fixed.\n"
        "Calls: bash 1x\n"
        "Keywords: errors: ENOENT; paths: src/parser/core_7.py; identifiers: build_output"
    )


def test_the_extractive_state_carries_the_previous_one() -> None:
    text = run(ExtractiveSummarizer(), SummaryRequest("state", TALK, 120, state=STUB.state))
    assert "- old\n- We decided to keep the arena." in text


def test_a_span_without_a_sentence_still_has_a_state() -> None:
    calls = (ChatMessage("assistant", "", (ToolCall("c1", "bash", "{}"),)),)
    assert run(ExtractiveSummarizer(), SummaryRequest("state", calls, 50)) == NOTHING_SAID


words = st.text(st.sampled_from("ab. \nEX_7/=é漢"), max_size=80)


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(words, min_size=1, max_size=5),
    cap=st.integers(1, 90),
    kind=st.sampled_from(["stub", "state"]),
    state=words,
)
def test_the_cap_holds_for_any_request(texts: list[str], cap: int, kind: str, state: str) -> None:
    messages = tuple(ChatMessage("user", text) for text in texts)
    request = SummaryRequest(kind, messages, cap, state=state)  # type: ignore[arg-type]
    text = run(ExtractiveSummarizer(), request)
    assert CharacterEstimator()(text) <= cap
    assert text == run(ExtractiveSummarizer(), request)
    assert all(not line.startswith(KEYWORDS) for line in text.splitlines()[:-1])


def test_the_chat_summarizer_sends_the_shared_prefix_first() -> None:
    pytest.importorskip("openai")
    with fake_endpoint({"text": lambda body: f"got {len(body['messages'])}"}) as server:
        summarizer = ChatSummarizer(ChatEndpoint("fake", base_url=server.url, api_key="k"))
        assert run(summarizer, STUB) == "got 2"
    [request] = server.requests
    assert [m["content"] for m in request["body"]["messages"]] == [STUB.shared, STUB.own]
    assert request["body"]["max_tokens"] == 120


def test_the_shipped_ones_satisfy_the_protocols() -> None:
    assert isinstance(ExtractiveSummarizer(), Summarizer)
    assert isinstance(CharacterEstimator(), TokenEstimator)


@given(text=st.text(max_size=50), per=st.integers(1, 9))
def test_the_estimate_by_characters_rounds_up(text: str, per: int) -> None:
    tokens = CharacterEstimator(per)(text)
    assert (tokens - 1) * per < len(text) <= tokens * per


def test_a_bad_estimator_names_the_field() -> None:
    with pytest.raises(ValueError, match="characters_per_token: 0"):
        CharacterEstimator(0)


def test_a_real_tokenizer_counts_its_own_tokens() -> None:
    # The library's vocabularies are downloads; a small one made here exercises the same code.
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([n]): n for n in range(256)} | {b"th": 256, b"the": 257}
    encoding = tiktoken.Encoding(
        "own", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<end>": 258}
    )
    estimate = TiktokenEstimator(encoding)
    assert [estimate(text) for text in ("", "the", "the the", "tha", "<end>")] == [0, 1, 3, 2, 5]


def test_an_unreachable_vocabulary_is_an_error_that_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken = pytest.importorskip("tiktoken")

    def unreachable(name: str) -> None:
        raise ConnectionError(name)

    monkeypatch.setattr(tiktoken, "get_encoding", unreachable)
    with pytest.raises(
        TokenizerUnavailableError, match=r"'o200k_base' is not on this machine.*TIKTOKEN_CACHE_DIR"
    ):
        TiktokenEstimator.named("gpt-4o")
    with pytest.raises(
        TokenizerUnavailableError, match=r"neither a model nor an encoding; encodings: .*o200k_base"
    ):
        TiktokenEstimator.named("abacus")
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(TokenizerUnavailableError, match=r"foldproof\[tiktoken\]"):
        TiktokenEstimator.named("gpt-4o")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"role": "tool"}, "result_of"),
        ({"role": "user", "result_of": "c"}, "result_of"),
        ({"role": "user", "calls": (ToolCall("a", "b"),)}, "calls"),
    ],
)
def test_an_impossible_message_names_the_field(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ChatMessage(**fields)  # type: ignore[arg-type]
