"""The gauge equation behind INV-CAL, for token counts of which nothing is known but that they add up.

``raw(x)`` is the size of ``history[:x]``, ``fold(x)`` the size of the view of it through the tree; both
are uninterpreted. Three laws tie them to the tree, each a property of any additive measure:

- *additive*: where no memory speaks for index ``x``, ``fold`` and ``raw`` grow by the same message;
- *extensional*: two trees that fold every index alike have views of the same size;
- *tail*: over a stretch that no memory touches, ``fold - raw`` is constant. It follows from the first by
  induction, which is an obligation of its own (``measure/tail-step``).
"""

from __future__ import annotations

from typing import Any

import z3

from foldproof.model import index
from foldproof.model.index import Index, Truth
from foldproof.proofs.facts import NodeFacts
from foldproof.proofs.invariant import Parts
from foldproof.proofs.logic import TERMS, implies, same
from foldproof.proofs.world import Moved, Unbounded, integer

STORING = ("AppendUser", "AppendReply", "Call")

FROZEN_WITNESS = integer("differing_frozen")
"""The frozen memory that the law of extensionality names."""

_RAW = z3.Function("raw", z3.IntSort(), z3.IntSort())
_FOLD = z3.Function("fold", z3.IntSort(), z3.IntSort())
_RAW_AFTER = z3.Function("raw_after", z3.IntSort(), z3.IntSort())
_FOLD_AFTER = z3.Function("fold_after", z3.IntSort(), z3.IntSort())
_FOLDER = z3.Function("folder_of", z3.IntSort(), z3.IntSort())


def node_witnesses(before: Unbounded) -> list[Any]:
    """The nodes that the laws name: they must be among those that the invariant is instantiated at."""
    length = before.frame.length
    return [integer("differing_node"), integer("tail_node"), _FOLDER(length), _FOLDER(length + 1)]


def folds(s: Parts, key: Any, i: Index) -> Truth:
    """A closed node of the current epoch replaces this index in the view."""
    span = s.node(key).span
    here = TERMS.every(index.in_epoch(span, s.frame.epoch_start_at), span.closed)
    return TERMS.every(here, span.opened_at <= i, i <= span.closed_at)


def equation(before: Unbounded, moved: Moved) -> tuple[list[Truth], Truth]:
    """The laws with the equation before the event, and the equation after it."""
    name = moved.effect.move.name
    gauge = integer("gauge_tokens")
    f, after = before.frame, moved.frame
    view = TERMS.choose(f.enabled, _FOLD(f.length), _RAW(f.length))
    view_after = TERMS.choose(after.enabled, _FOLD_AFTER(after.length), _raw_after(moved, after.length))
    estimate = _raw_after(moved, after.length) if moved.effect.rebased_from_raw else view_after
    if name == "Clear":
        estimate = z3.IntVal(0)
    gauge_after = TERMS.choose(moved.rebases, estimate, gauge)
    laws = [_RAW(0) == 0, _RAW_AFTER(0) == 0, gauge + _RAW(f.length) - _RAW(f.gauge_length) == view]
    laws += [*_extensional(before, moved), *_tail(before, moved), *_additive(moved), _empty(moved)]
    tail = _raw_after(moved, after.length) - _raw_after(moved, after.gauge_length)
    return laws, gauge_after + tail == view_after


def tail_step(clear: bool = True) -> tuple[list[Truth], Truth]:
    """One step of the induction behind the tail law: from ``y`` to ``y + 1``, nothing folded at ``y``.

    Without ``clear`` the index at ``y`` may be folded: then the law does not hold.
    """
    s = Unbounded()
    cut, y = integer("cut"), integer("y")
    tokens = s.message(y).tokens
    hypotheses = [
        s.frame.epoch_start_at <= cut,
        cut <= y,
        y < s.frame.length,
        _RAW(y + 1) == _RAW(y) + tokens,
        implies(TERMS, TERMS.negate(folds(s, _FOLDER(y), y)), _FOLD(y + 1) == _FOLD(y) + tokens),
        TERMS.truth(True) if not clear else TERMS.negate(folds(s, _FOLDER(y), y)),
        _FOLD(y) - _RAW(y) == _FOLD(cut) - _RAW(cut),
    ]
    return hypotheses, _FOLD(y + 1) - _RAW(y + 1) == _FOLD(cut) - _RAW(cut)


def _raw_after(moved: Moved, x: Index) -> Index:
    move, length = moved.effect.move, moved.effect.before.length
    if move.name == "ApplyCompaction":
        return _RAW_AFTER(x)
    if move.name not in STORING:
        return _RAW(x)
    one = _RAW(length) + move.tokens
    if move.name == "Call":
        one = TERMS.choose(x == length + 1, one, one + move.receipt_tokens)
    return TERMS.choose(x <= length, _RAW(x), one)


def _additive(moved: Moved) -> list[Truth]:
    """At each index that the event stores a message at."""
    if moved.effect.move.name not in STORING:
        return []
    length = moved.effect.before.length
    return [
        implies(
            TERMS,
            TERMS.negate(folds(moved, _FOLDER(x), x)),
            _FOLD_AFTER(x + 1) == _FOLD_AFTER(x) + moved.message(x).tokens,
        )
        for x in ((length, length + 1) if moved.effect.move.name == "Call" else (length,))
    ]


def _extensional(before: Unbounded, moved: Moved) -> list[Truth]:
    """Either some node, index or memory tells the two trees apart, or the two views are of one size."""
    n, i, f = integer("differing_node"), integer("differing_index"), FROZEN_WITNESS
    limit = moved.effect.cut if moved.effect.move.name == "Undo" else before.frame.length
    old, new = before.frame, moved.frame
    inside = TERMS.every(i >= 0, i < limit)
    alike = TERMS.every(
        implies(TERMS, inside, _same_fold(before, before.node(n), moved, moved.node(n), n, i)),
        before.frozen_memory(f).present == moved.frozen_memory(f).present,
        implies(
            TERMS,
            before.frozen_memory(f).present,
            same(TERMS, before.frozen_memory(f), moved.frozen_memory(f)),
        ),
        new.epoch_start_at == old.epoch_start_at,
        new.has_state == old.has_state,
        implies(TERMS, old.has_state, new.state.tokens == old.state.tokens),
    )
    return [implies(TERMS, alike, _FOLD_AFTER(limit) == _FOLD(limit))]


def _same_fold(before: Unbounded, old: NodeFacts, moved: Moved, new: NodeFacts, key: Any, i: Index) -> Truth:
    folded = folds(before, key, i)
    alike = new.covers.tokens == old.covers.tokens
    return TERMS.every(folds(moved, key, i) == folded, implies(TERMS, folded, alike))


def _tail(before: Unbounded, moved: Moved) -> list[Truth]:
    """Either some index from the cut on is folded, or the view ends as the history does."""
    if moved.effect.move.name != "Undo":
        return []
    n, y = integer("tail_node"), integer("tail_index")
    cut, f = moved.effect.cut, before.frame
    touched = TERMS.every(cut <= y, y < f.length, folds(before, n, y))
    constant = _FOLD(f.length) - _RAW(f.length) == _FOLD(cut) - _RAW(cut)
    return [implies(TERMS, cut >= f.epoch_start_at, TERMS.some(touched, constant))]


def _empty(moved: Moved) -> Truth:
    """Through a tree without memories, the view of an empty history is empty."""
    n, f = integer("differing_node"), FROZEN_WITNESS
    span = moved.node(n).span
    shown = TERMS.every(index.in_epoch(span, moved.frame.epoch_start_at), span.closed)
    memories = TERMS.some(shown, moved.frozen_memory(f).present, moved.frame.has_state)
    return TERMS.some(memories, _FOLD_AFTER(0) == 0)
