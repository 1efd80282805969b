"""Searching ignores case and nothing else: against a naive search, over letters whose case is awkward."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from foldproof.reference.recall import _finder, _snippet

words = st.text(st.sampled_from("aAéÉß\N{LATIN SMALL LETTER LONG S}K漢.*[\N{KELVIN SIGN}"), max_size=12)
with_dot = st.text(st.sampled_from("aAiI\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}é."), max_size=12)


def naive(query: str, text: str) -> list[tuple[int, int]]:
    found, at, size = [], 0, len(query)
    while at + size <= len(text):
        if text[at : at + size].lower() == query.lower():
            found.append((at, at + size))
            at += size
        else:
            at += 1
    return found


@settings(max_examples=400, deadline=None)
@given(query=words.filter(bool), text=words)
def test_the_places_are_those_of_a_naive_search(query: str, text: str) -> None:
    assert list(_finder(query)(text)) == naive(query, text)


@settings(max_examples=200, deadline=None)
@given(query=with_dot.filter(bool), before=with_dot, after=with_dot)
def test_where_lowering_changes_the_length_an_exact_text_is_still_found(
    query: str, before: str, after: str
) -> None:
    text = before + query + after
    places = list(_finder(query)(text))
    assert places
    assert all(0 <= start < end <= len(text) for start, end in places)


@given(text=st.text(min_size=1, max_size=60), data=st.data(), chars=st.integers(1, 40))
def test_a_snippet_holds_the_match_and_keeps_its_size(text: str, data: st.DataObject, chars: int) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    snippet = _snippet(text, (start, end), chars)
    assert text[start:end] in snippet
    assert len(snippet) <= max(chars, end - start) + 2
