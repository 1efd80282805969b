"""The properties of a recallable pass: the seed's acceptance criteria as invariants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from foldproof.model.machine import Violation
from foldproof.model.passes_state import Checkpoint, Class, Item, PassState, Phase, direct, flatten
from foldproof.model.state import Message, ids

HOPS = 2
"""Reads that it may take from a visible footer to a message."""

# x stands for a stub, s for the state, l for a legacy head, m for a message
_BETWEEN_PASSES = re.compile("[ls]?m*|x+sm*")
_WITHIN_A_PASS = re.compile("lm*|x*s?m*")


def inv_view(s: PassState) -> Violation | None:
    """VIEW: ``flatten(surface) == ids(history)``."""
    shown, stored = tuple(flatten(s.surface)), ids(s.history)
    if shown == stored:
        return None
    return Violation("VIEW", "flatten(surface) == ids(history)", f"{shown}", f"{stored}", "the surface")


def inv_layout(s: PassState) -> Violation | None:
    """LAYOUT: ``[stubs…][state][tail]`` after every pass, and a left-to-right prefix of it within one."""
    shape = _shape(s.surface)
    due = _BETWEEN_PASSES if s.phase is Phase.IDLE else _WITHIN_A_PASS
    if due.fullmatch(shape):
        return None
    return Violation("LAYOUT", "the surface has its shape", shape, due.pattern, "the surface")


def inv_frozen(s: PassState) -> Violation | None:
    """FROZEN: every stub ever committed stands on the surface as it was, in its order."""
    stubs = tuple(c for c in _checkpoints(s.surface) if c.kind is Class.STUB)
    if stubs == s.frozen:
        return None
    return Violation("FROZEN", "stubs == frozen", f"{len(stubs)} stubs", f"{len(s.frozen)} frozen", "a stub")


def inv_edges(s: PassState) -> Violation | None:
    """EDGES: no checkpoint parts a call from its result."""
    for checkpoint in _everywhere(s.surface):
        called = {m.call for m in checkpoint.covers if isinstance(m, Message) and not m.is_receipt}
        answered = {m.call for m in checkpoint.covers if isinstance(m, Message) and m.is_receipt}
        if called - {None} != answered:
            return Violation("EDGES", "calls == results", f"{called}", f"{answered}", "a checkpoint")
    return None


def inv_buffered(s: PassState) -> Violation | None:
    """BUFFERED: once a region has committed, all summaries exist and the guard has passed."""
    if not s.has_committed or (s.answered and s.phase is Phase.COMMITTING):
        return None
    return Violation("BUFFERED", "committed => guarded", "a region has committed", s.phase, "the pass")


def inv_shrink(s: PassState) -> Violation | None:
    """SHRINK: what an unresumed pass commits is strictly smaller than what it replaces, by one metric."""
    if s.shrinks:
        return None
    return Violation("SHRINK", "after < before", "after", "before", "the guard")


def inv_defer(s: PassState) -> Violation | None:
    """DEFER: after the guard refused, no pass begins over the same history."""
    if s.phase is not Phase.SUMMARISING or s.resumed or s.boundary > s.refused:
        return None
    return Violation("DEFER", "boundary > refused", f"{s.boundary}", f"{s.refused}", "the pass")


def inv_footer(s: PassState) -> Violation | None:
    """FOOTER: every footer points exactly to what its checkpoint shadows."""
    for checkpoint in _everywhere(s.surface):
        flat = tuple(flatten(checkpoint.covers))
        if not flat or checkpoint.footer != (flat[0], flat[-1]):
            ends = f"{(flat[0], flat[-1])}" if flat else "nothing"
            return Violation("FOOTER", "footer == ends", f"{checkpoint.footer}", ends, "a footer")
    return None


def inv_told(s: PassState) -> Violation | None:
    """TOLD: a stub tells its own slice (or nothing), the state tells all that is hidden."""
    hidden = 0
    for checkpoint in _checkpoints(s.surface):
        hidden += len(tuple(flatten(checkpoint.covers)))
        is_stub = checkpoint.kind is Class.STUB
        due = direct(checkpoint.covers) if is_stub else ids(s.history[:hidden])
        if checkpoint.told != due and not (is_stub and not checkpoint.told):
            return Violation("TOLD", "told == due", f"{checkpoint.told}", f"{due}", checkpoint.kind)
    return None


def inv_hops(s: PassState) -> Violation | None:
    """HOPS: every message that the surface hides is reached from a visible footer in at most two reads."""
    deepest = max((_depth(item) for item in s.surface), default=0)
    if deepest <= HOPS:
        return None
    return Violation("HOPS", "hops <= 2", f"{deepest}", f"{HOPS}", "the deepest message")


def _depth(item: Item) -> int:
    return 0 if isinstance(item, Message) else 1 + max(map(_depth, item.covers), default=0)


def _checkpoints(items: Iterable[Item]) -> Iterator[Checkpoint]:
    yield from (item for item in items if isinstance(item, Checkpoint))


def _everywhere(items: Iterable[Item]) -> Iterator[Checkpoint]:
    for checkpoint in _checkpoints(items):
        yield checkpoint
        yield from _everywhere(checkpoint.covers)


def _shape(items: Iterable[Item]) -> str:
    letters = {Class.STUB: "x", Class.STATE: "s", Class.LEGACY: "l"}
    return "".join("m" if isinstance(i, Message) else letters[i.kind] for i in items)


INVARIANTS: dict[str, Callable[[PassState], Violation | None]] = {
    "VIEW": inv_view,
    "LAYOUT": inv_layout,
    "FROZEN": inv_frozen,
    "EDGES": inv_edges,
    "BUFFERED": inv_buffered,
    "SHRINK": inv_shrink,
    "DEFER": inv_defer,
    "FOOTER": inv_footer,
    "TOLD": inv_told,
    "HOPS": inv_hops,
}
