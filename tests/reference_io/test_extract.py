"""What the extractive summarizer picks: exact quotes, the rare before the common, always within the cap."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldproof.reference.summarizers.extract import (
    Section,
    Utterance,
    merge_state,
    sentences,
    shorten,
    stub_lines,
)
from foldproof.reference.summarizers.literals import Kind, keyword_line, literals, rank


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


KINDS = {
    "ENOENT": Kind.ERROR,
    "TS2345": Kind.ERROR,
    "ValueError: bad cursor": Kind.ERROR,
    "exit code 137": Kind.ERROR,
    "https://example.org/a?b=1": Kind.PATH,
    "src/billing/worker_7.py": Kind.PATH,
    "/etc/app/conf.d/main.toml": Kind.PATH,
    "package.json": Kind.PATH,
    "--max-old-space-size=4096": Kind.CONFIG,
    "RETRY_LIMIT=7": Kind.CONFIG,
    "pool.size=12": Kind.CONFIG,
    "#b5bd68": Kind.VALUE,
    "v0.8.0": Kind.VALUE,
    "deadbeef42": Kind.VALUE,
    "250 ms": Kind.VALUE,
    "getThinkingBorderColor": Kind.IDENTIFIER,
    "node_modules": Kind.IDENTIFIER,
    "KX-9412-delta": Kind.IDENTIFIER,
}


@pytest.mark.parametrize("text", KINDS)
def test_each_kind_of_literal_is_found_whole(text: str) -> None:
    [found] = literals([f"we saw {text}, there"])
    assert (found.text, found.kind) == (text, KINDS[text])


@pytest.mark.parametrize("text", ["a plain sentence about nothing", "He said: it works, I think."])
def test_prose_holds_no_literals(text: str) -> None:
    assert literals([text]) == []


def test_an_escaped_line_break_is_no_letter_of_a_word() -> None:
    assert [item.text for item in literals([r'{"text": "one\nparse_header\tgetIndex"}'])] == [
        "parse_header",
        "getIndex",
    ]


def test_the_rare_goes_before_the_common_and_words_before_output() -> None:
    texts = ["common_name in_prompt", "common_name from_tool", "common_name"]
    ranked = [item.text for item in rank(literals(texts), 3, {0})]
    assert ranked == ["in_prompt", "from_tool", "common_name"]
    # The other way about, the order turns: the rule is what decides, not the order of the texts.
    assert next(item.text for item in rank(literals(texts), 3, {1})) == "from_tool"


def test_the_line_is_grouped_by_kind_and_leaves_out_what_is_known() -> None:
    ranked = rank(literals(["ENOENT src/a/b.py parse_header KX-1-a RETRY_LIMIT=7 v1.2.3"]), 1, {0})
    line = keyword_line(ranked, 100, quarter)
    assert line == (
        "errors: ENOENT; values: v1.2.3; config: RETRY_LIMIT=7; paths: src/a/b.py; "
        "identifiers: parse_header | KX-1-a"
    )
    assert "parse_header" not in keyword_line(ranked, 100, quarter, known="identifiers: parse_header")


prose = st.text(st.sampled_from("ab. !?\n-#`_/=AZ09€é漢"), max_size=120)


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(prose, max_size=5), cap=st.integers(0, 40), known=prose)
def test_a_keyword_line_keeps_its_cap_and_quotes_exactly(texts: list[str], cap: int, known: str) -> None:
    found = literals(texts)
    line = keyword_line(rank(found, len(texts), {0}), cap, quarter, known)
    assert quarter(line) <= cap or line == ""
    for item in found:
        assert item.text in texts[item.first[0]]
        assert item.messages == {n for n, text in enumerate(texts) if item.text in _spans(text)}


def _spans(text: str) -> set[str]:
    return {item.text for item in literals([text])}


@settings(max_examples=200, deadline=None)
@given(text=prose, cap=st.integers(0, 30))
def test_shortening_keeps_the_cap_and_the_beginning(text: str, cap: int) -> None:
    short = shorten(text, cap, quarter)
    assert quarter(short) <= cap or short == ""
    assert " ".join(text.split()).startswith(short.removesuffix("…"))


def test_sentences_lose_markers_not_words() -> None:
    text = "# Title\n- first point. Second one!\n```\ncode()\n```\n1) third?"
    assert sentences(text) == ["Title", "first point.", "Second one!", "code()", "third?"]


TALK = [
    Utterance("user", "Please fix the parser. It is slow."),
    Utterance("assistant", "Looking.", ("read", "read", "bash")),
    Utterance("tool", "Never quoted: a tool said you must not."),
    Utterance("assistant", "We decided to use arena-7. Never change WIRE_FORMAT. It is fixed now."),
]


def test_stub_lines_say_what_was_wanted_and_what_came_of_it() -> None:
    assert stub_lines(TALK, 100, quarter) == [
        "User: Please fix the parser.",
        "Assistant: It is fixed now.",
        "Calls: read 2x, bash 1x",
    ]


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(prose, max_size=4), cap=st.integers(0, 60))
def test_stub_lines_keep_their_cap(texts: list[str], cap: int) -> None:
    messages = [Utterance("user" if n % 2 else "assistant", text, ("t",)) for n, text in enumerate(texts)]
    assert quarter("\n".join(stub_lines(messages, cap, quarter))) <= cap


def test_the_state_has_its_sections_and_nothing_a_tool_said() -> None:
    state = merge_state("", TALK, 200, quarter)
    assert state.splitlines() == [
        "## Decisions",
        "- We decided to use arena-7.",
        "## Current state",
        "- Asked last: Please fix the parser.",
        "- Said last: It is fixed now.",
        "## Constraints",
        "- Never change WIRE_FORMAT.",
    ]


def test_the_state_merges_and_does_not_repeat() -> None:
    first = merge_state("", TALK, 200, quarter)
    again = merge_state(first, [*TALK, Utterance("user", "Next we look at the cache.")], 200, quarter)
    assert again.count("arena-7") == 1
    assert again.count("WIRE_FORMAT") == 1
    assert "## Next steps\n- Next we look at the cache." in again


def test_a_foreign_state_is_sorted_in() -> None:
    state = merge_state("Summary so far: all is well.\nYou must keep port 8412.", [], 200, quarter)
    assert "## Constraints\n- You must keep port 8412." in state
    assert "## Current state\n- Summary so far: all is well." in state


def test_over_the_cap_the_oldest_of_a_section_goes_first() -> None:
    talk = [Utterance("user", f"You must keep rule number {n} for good.") for n in range(50)]
    state = merge_state("", talk, 120, quarter)
    assert quarter(state) <= 120
    assert "rule number 49" in state
    assert "rule number 0 " not in state


@settings(max_examples=150, deadline=None)
@given(previous=prose, texts=st.lists(prose, max_size=6), cap=st.integers(0, 80))
def test_a_state_keeps_its_cap_and_is_stable(previous: str, texts: list[str], cap: int) -> None:
    messages = [Utterance("user", text) for text in texts]
    state = merge_state(previous, messages, cap, quarter)
    assert quarter(state) <= cap
    assert state == merge_state(previous, messages, cap, quarter)
    assert all(line.startswith("- ") or line[3:] in list(Section) for line in state.splitlines())
