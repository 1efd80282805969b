"""The laws of the index arithmetic on integers; the proofs show them for all integers."""

from hypothesis import given
from hypothesis import strategies as st

from foldproof.model.index import (
    INTEGERS,
    VOID,
    Span,
    anchored,
    carrier_closes_at,
    carrier_opens_at,
    clamp,
    clamped,
    closing_carrier,
    in_epoch,
    opening_carrier,
    parts,
    rolled_back,
    survives,
    translate,
    translated,
)

index = st.integers(0, 12)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    opened_at = draw(index)
    return Span(True, opened_at, draw(st.booleans()), draw(st.integers(opened_at + 1, 14)))


@given(index, index, index)
def test_clamp(i: int, length: int, shorter: int) -> None:
    assert clamp(i, length) <= length
    assert clamp(clamp(i, length), length) == clamp(i, length)
    assert clamp(clamp(i, length), shorter) == clamp(i, min(length, shorter))


@given(index, index, index)
def test_translate_keeps_distances_and_sends_k_to_one(i: int, j: int, k: int) -> None:
    assert translate(i, k) - translate(j, k) == i - j
    assert translate(k, k) == 1


@given(index)
def test_a_node_is_anchored_by_its_carriers(carrier: int) -> None:
    span = Span(True, carrier_opens_at(carrier), True, carrier_closes_at(carrier))
    assert opening_carrier(span) == closing_carrier(span) == carrier


@given(spans(), index, index)
def test_rollback_twice_is_rollback_to_the_lesser_cut(span: Span, a: int, b: int) -> None:
    twice, once = rolled_back(rolled_back(span, a), b), rolled_back(span, min(a, b))
    assert twice.present == once.present
    assert not once.present or twice == once


@given(spans(), index)
def test_rollback_anchors_what_it_keeps(span: Span, cut: int) -> None:
    assert anchored(rolled_back(span, cut), cut)


@given(spans(), index)
def test_clamping_does_not(span: Span, cut: int) -> None:
    open_and_truncated = not span.closed and span.opened_at >= cut
    assert anchored(clamped(span, cut), cut) or open_and_truncated or span.opened_at >= cut


def test_what_clamping_does() -> None:
    straddling, open_node, gone = Span(True, 1, True, 5), Span(True, 4, False, 0), Span(True, 4, True, 6)
    assert clamped(straddling, 3) == Span(True, 1, True, 2)
    assert clamped(open_node, 3).opened_at == 3
    assert clamped(gone, 3).opened_at == VOID
    assert clamped(clamped(gone, 3), 2).opened_at == VOID


@given(spans(), index)
def test_no_edge_lies_in_a_span_or_between_it_and_its_carrier(span: Span, k: int) -> None:
    touched = set(range(span.opened_at + 1, closing_carrier(span) + 1)) if span.closed else set()
    assert parts(span, k) == (k in touched)


@given(spans(), index)
def test_translation_keeps_the_nodes_from_k_on(span: Span, k: int) -> None:
    moved = translated(span, k)
    assert moved.present == (span.opened_at >= k)
    assert moved.closed_at - moved.opened_at == span.closed_at - span.opened_at


@given(spans(), index)
def test_epochs_and_memories(span: Span, start: int) -> None:
    assert in_epoch(span, start) == (span.opened_at >= start)
    assert survives(start, start)
    assert not survives(start + 1, start)


def test_integers_choose_and_negate() -> None:
    assert INTEGERS.choose(True, 1, 2) == 1
    assert INTEGERS.choose(False, 1, 2) == 2
    assert INTEGERS.negate(False)
