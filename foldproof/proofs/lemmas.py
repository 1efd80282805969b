"""Lemmas of the index arithmetic: clamping, translation, rollback, edges, and which repair refines.

Each lemma is written over the functions it speaks of, as parameters, so that its mutant is the same
lemma of a wrong function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldproof.model import index
from foldproof.model.index import Index, Span, Truth
from foldproof.proofs.formula import Formula, Mutant, Obligation
from foldproof.proofs.logic import TERMS, implies
from foldproof.proofs.slots import same_span
from foldproof.proofs.world import arbitrary_span, integer

Clamp = Callable[[Index, Index], Index]
Translate = Callable[[Index, Index], Index]
Repair = Callable[[Span, Index], Span]


def _clamp(x: Index, length: Index) -> Index:
    return index.clamp(x, length, TERMS)


def _rolled_back(span: Span, cut: Index) -> Span:
    return index.rolled_back(span, cut, TERMS)


def _clamped(span: Span, cut: Index) -> Span:
    return index.clamped(span, cut, TERMS)


def _translated(span: Span, k: Index) -> Span:
    return index.translated(span, k, TERMS)


def _lesser(a: Index, b: Index) -> Index:
    return TERMS.choose(a <= b, a, b)


def _well_formed(span: Span) -> Truth:
    """A node that opened somewhere, and closed later if at all."""
    return TERMS.every(
        span.present, span.opened_at >= 0, implies(TERMS, span.closed, span.opened_at < span.closed_at)
    )


def clamp_in_range(clamp: Clamp) -> Formula:
    """Clamp lands in [0, length]."""
    x, length = integer("x"), integer("length")
    return Formula([x >= 0, length >= 0], TERMS.every(clamp(x, length) >= 0, clamp(x, length) <= length))


def clamp_idempotent(clamp: Clamp) -> Formula:
    """Clamping twice is clamping once."""
    x, length = integer("x"), integer("length")
    once = clamp(x, length)
    return Formula([x >= 0, length >= 0], clamp(once, length) == once)


def clamp_monotone(clamp: Clamp) -> Formula:
    """Clamp keeps order."""
    x, y, length = integer("x"), integer("y"), integer("length")
    return Formula([x <= y, length >= 0], clamp(x, length) <= clamp(y, length))


def clamp_composes(clamp: Clamp) -> Formula:
    """Clamping to a then b is clamping to the lesser."""
    x, a, b = integer("x"), integer("a"), integer("b")
    return Formula([a >= 0, b >= 0], clamp(clamp(x, a), b) == clamp(x, _lesser(a, b)))


def translation_keeps_order(translate: Translate) -> Formula:
    """Translation keeps order."""
    x, y, k = integer("x"), integer("y"), integer("k")
    return Formula([k >= 1, k <= x], (x < y) == (translate(x, k) < translate(y, k)))


def translation_keeps_range(translate: Translate) -> Formula:
    """Translation lands past the summary and within the history."""
    x, k, length = integer("x"), integer("k"), integer("length")
    left = 1 + (length - k)
    return Formula([k >= 1, k <= x, x <= length], TERMS.every(translate(x, k) >= 1, translate(x, k) <= left))


def translated_inside(translated: Repair) -> Formula:
    """A translated node lies in the history that is left."""
    span, k, length = arbitrary_span(), integer("k"), integer("length")
    moved = translated(span, k)
    hypotheses = [_well_formed(span), index.anchored(span, length, TERMS), k >= 1, k <= length]
    return Formula(hypotheses, index.anchored(moved, index.translate(length, k), TERMS))


def rollback_inside(repair: Repair) -> Formula:
    """A node rolled back to cut lies in a history of length cut."""
    span, cut = arbitrary_span(), integer("cut")
    return Formula([_well_formed(span), cut >= 0], index.anchored(repair(span, cut), cut, TERMS))


def rollback_idempotent(repair: Repair) -> Formula:
    """Rolling back twice to cut is rolling back once."""
    span, cut = arbitrary_span(), integer("cut")
    once = repair(span, cut)
    return Formula([_well_formed(span), cut >= 0], same_span(TERMS, repair(once, cut), once))


def rollback_composes(repair: Repair) -> Formula:
    """Rolling back to a then b is rolling back to the lesser."""
    span, a, b = arbitrary_span(), integer("a"), integer("b")
    twice = repair(repair(span, a), b)
    return Formula([_well_formed(span), a >= 0, b >= 0], same_span(TERMS, twice, repair(span, _lesser(a, b))))


def edge_after_rollback(repair: Repair) -> Formula:
    """An edge stays an edge under rollback."""
    span, k, cut = arbitrary_span(), integer("k"), integer("cut")
    hypotheses = [_well_formed(span), TERMS.negate(index.parts(span, k)), cut >= k, k >= 0]
    return Formula(hypotheses, TERMS.negate(index.parts(repair(span, cut), k)))


def edge_after_translation(translated: Repair) -> Formula:
    """An edge stays an edge under translation."""
    span, j, k = arbitrary_span(), integer("j"), integer("k")
    hypotheses = [_well_formed(span), TERMS.negate(index.parts(span, j)), k >= 1, j >= k]
    return Formula(hypotheses, TERMS.negate(index.parts(translated(span, k), index.translate(j, k))))


def edge_after_close(closes_at: Callable[[Index], Index]) -> Formula:
    """The epoch's edge stays one when a node closes, and the closing carrier is found again.

    A commit closes a node of the current epoch, so it parts nothing at the epoch's start.
    """
    span, carrier, epoch = arbitrary_span(), integer("carrier"), integer("epoch_start_at")
    closed = Span(span.present, span.opened_at, TERMS.truth(True), closes_at(carrier))
    hypotheses = [
        _well_formed(span),
        TERMS.negate(span.closed),
        index.in_epoch(span, epoch),
        span.opened_at + 1 < carrier,
    ]
    apart = TERMS.negate(index.parts(closed, epoch))
    return Formula(hypotheses, TERMS.every(apart, index.closing_carrier(closed) == carrier))


def opening_carrier_found(opens_at: Callable[[Index], Index]) -> Formula:
    """The opening carrier is found again from the node."""
    carrier = integer("carrier")
    opened = Span(TERMS.truth(True), opens_at(carrier), TERMS.truth(False), carrier)
    return Formula([carrier >= 0], index.opening_carrier(opened) == carrier)


def repair_forgets_close(repair: Repair) -> Formula:
    """Rollback refines undo: a close past the cut leaves no mark.

    With `repair_forgets_open`: whatever came after the cut, the repaired tree is the tree of then. That
    is what it means to refine the abstract undo, which takes back to an earlier state.
    """
    span, carrier, cut = arbitrary_span(), integer("carrier"), integer("cut")
    closed = Span(span.present, span.opened_at, TERMS.truth(True), index.carrier_closes_at(carrier))
    hypotheses = [
        _well_formed(span),
        TERMS.negate(span.closed),
        span.opened_at + 1 < carrier,
        cut >= 0,
        cut <= carrier,
        span.opened_at < cut,
    ]
    return Formula(hypotheses, same_span(TERMS, repair(closed, cut), span))


def repair_forgets_open(repair: Repair) -> Formula:
    """Rollback refines undo: a node that opened past the cut is gone."""
    span, cut = arbitrary_span(), integer("cut")
    hypotheses = [_well_formed(span), cut >= 0, index.opening_carrier(span) >= cut]
    return Formula(hypotheses, TERMS.negate(repair(span, cut).present))


def repair_keeps_the_rest(repair: Repair) -> Formula:
    """Rollback refines undo: what lies before the cut is left alone."""
    span, cut = arbitrary_span(), integer("cut")
    before = TERMS.every(
        index.opening_carrier(span) < cut, implies(TERMS, span.closed, index.closing_carrier(span) < cut)
    )
    return Formula([_well_formed(span), cut >= 0, before], same_span(TERMS, repair(span, cut), span))


def _one_more(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule with its last argument one too great."""

    def wrong(*arguments: Any) -> Any:
        return rule(*arguments[:-1], arguments[-1] + 1)

    return wrong


def _lemma(name: str, of: Callable[..., Formula], rule: Any, slip: str, wrong: Any) -> Obligation:
    sentence = (of.__doc__ or "").split("\n")[0].rstrip(".")
    says = sentence[:1].lower() + sentence[1:]
    return Obligation(f"index/{name}", says, lambda: of(rule), Mutant(slip, lambda: of(wrong)))


_SHIFT = "off-by-one: clamps to length + 1"
_WRONG_WAY: Translate = lambda x, k: TERMS.choose(x <= k, x, x - k)  # noqa: E731 - a mutant in one line

LEMMAS: tuple[Obligation, ...] = (
    _lemma("clamp-range", clamp_in_range, _clamp, _SHIFT, _one_more(_clamp)),
    _lemma(
        "clamp-idempotent",
        clamp_idempotent,
        _clamp,
        "off-by-one: one less each time",
        lambda x, n: _clamp(x, n) - 1,
    ),
    _lemma(
        "clamp-monotone",
        clamp_monotone,
        _clamp,
        "off-by-one: an index at the end becomes 0",
        lambda x, n: TERMS.choose(x < n, x, 0),
    ),
    _lemma(
        "clamp-composes",
        clamp_composes,
        _clamp,
        "off-by-one: an index past the end becomes length - 1",
        lambda x, n: TERMS.choose(x <= n, x, n - 1),
    ),
    _lemma(
        "translate-order",
        translation_keeps_order,
        index.translate,
        "off-by-one: an index at k is left where it is",
        _WRONG_WAY,
    ),
    _lemma(
        "translate-range",
        translation_keeps_range,
        index.translate,
        "off-by-one: translates by -k",
        _one_more(index.translate),
    ),
    _lemma(
        "translate-inside",
        translated_inside,
        _translated,
        "off-by-one: translates by 2 - k",
        lambda span, k: _translated(span, k)._replace(opened_at=index.translate(span.opened_at, k) + 1),
    ),
    _lemma(
        "rollback-inside",
        rollback_inside,
        _rolled_back,
        "D9",
        _clamped,
    ),
    _lemma(
        "rollback-idempotent",
        rollback_idempotent,
        _rolled_back,
        "off-by-one: closed_at one less each time",
        lambda span, cut: _rolled_back(span, cut)._replace(closed_at=span.closed_at - 1),
    ),
    _lemma(
        "rollback-composes",
        rollback_composes,
        _rolled_back,
        "D9",
        _clamped,
    ),
    _lemma(
        "edge-rollback",
        edge_after_rollback,
        _rolled_back,
        "off-by-one: opened_at one less",
        lambda span, cut: _rolled_back(span, cut)._replace(opened_at=span.opened_at - 1),
    ),
    _lemma(
        "edge-translation",
        edge_after_translation,
        _translated,
        "off-by-one: closed_at translated by 2 - k",
        lambda span, k: _translated(span, k)._replace(closed_at=index.translate(span.closed_at, k) + 1),
    ),
    _lemma(
        "edge-close",
        edge_after_close,
        index.carrier_closes_at,
        "off-by-one: a node closes at its carrier",
        index.carrier_opens_at,
    ),
    _lemma(
        "open-carrier",
        opening_carrier_found,
        index.carrier_opens_at,
        "off-by-one: a node opens before its carrier",
        index.carrier_closes_at,
    ),
    _lemma(
        "refine-close",
        repair_forgets_close,
        _rolled_back,
        "D9",
        _clamped,
    ),
    _lemma(
        "refine-open",
        repair_forgets_open,
        _rolled_back,
        "D9",
        _clamped,
    ),
    _lemma(
        "refine-rest",
        repair_keeps_the_rest,
        _rolled_back,
        "off-by-one: opens a node again whose carrier is the last message",
        lambda span, cut: _rolled_back(span, cut - 1),
    ),
)
