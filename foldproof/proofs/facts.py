"""The state seen by its indices: what the proofs keep of a session, and nothing else.

Ids become places. A message is named by its index; what a memory covers is an interval of indices,
*intact* while every id that it speaks for is still stored. Every field is an integer or a truth, of
whichever domain (`foldproof.proofs.logic`), so that one record describes both a model's state and a
formula's.
"""

from __future__ import annotations

from typing import NamedTuple

from foldproof.model.index import Index, Span, Truth


class Covers(NamedTuple):
    """What a memory speaks for, ``[start, end)``, and what it costs."""

    start: Index
    end: Index
    intact: Truth
    tokens: Index


class NodeFacts(NamedTuple):
    """A node; ``covers`` means nothing while it is open."""

    span: Span
    covers: Covers


class FrozenFacts(NamedTuple):
    """A frozen index memory of ``[start, end)``."""

    present: Truth
    start: Index
    end: Index
    covers: Covers


class MessageFacts(NamedTuple):
    """The message at one index. A plain reply is none of the four kinds.

    ``opens`` and ``closes`` mean nothing but on a carrier; `next` does both.
    """

    prompt: Truth
    carrier: Truth
    receipt: Truth
    summary: Truth
    opens: Truth
    closes: Truth
    tokens: Index


class Frame(NamedTuple):
    """Everything of which a session has exactly one.

    ``carrier`` is the index of the pending transition's carrier, or `VOID` when it is no longer
    stored; it and the two truths after it mean nothing while nothing is pending. ``state`` means
    nothing without a state memory.
    """

    length: Index
    frozen_end: Index
    epoch_start_at: Index
    has_state: Truth
    state: Covers
    last_observed: Index
    gauge_length: Index
    enabled: Truth
    pending: Truth
    carrier: Index
    opens: Truth
    closes: Truth


class Move(NamedTuple):
    """An event with its parameters: a cut or a boundary, a transition's kind, the costs it brings.

    ``tokens`` is the cost of the message or carrier that it stores, ``receipt_tokens`` of the
    receipt, ``memory_tokens`` of the memory.
    """

    name: str
    at: Index
    opens: Truth
    closes: Truth
    tokens: Index
    receipt_tokens: Index
    memory_tokens: Index


VOID_COVERS = Covers(0, 0, False, 0)
"""What an open node has for ``covers`` when it is written in full."""
