"""A shard: one process's share of a search, and what shards send each other.

Rows are dealt out by their history. A shard follows its own frontier; bits that it reaches in
rows of others it sends to them, once. Numbers of parts are a shard's own, so a parcel names the parts
that it uses first, and the receiver translates. Shards are driven from outside, layer by layer, by
processes (`foldproof.explore.bulk_workers`) or a cluster (`foldproof.explore.bulk_dask`).
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foldproof.explore.bulk_audit import audit
from foldproof.explore.bulk_layers import Layer, Reached
from foldproof.explore.bulk_parts import KEY, Histories, Interner, Ints, Words, unpack
from foldproof.explore.bulk_run import Run
from foldproof.explore.bulk_tables import Shared, Tables
from foldproof.model.machine import Clauses, Machine

NAMED = ("history", "nodes", "borders", "pending")
"""The fields of a key whose numbers stand for parts."""


@dataclass(frozen=True)
class Assignment:
    """What a shard is to search."""

    machine: Machine[Any, Any]
    bound: int
    design: Clauses
    checked: tuple[str, ...]
    audited: int
    shard: int
    shards: int


@dataclass(frozen=True)
class Parcel:
    """Bits for another shard: new part names first, then keys in the sender's numbers, and their bits."""

    sender: int
    parts: dict[str, list[Any]]
    keys: Ints
    bits: Words


@dataclass(frozen=True)
class Report:
    """A shard after a layer: what its own rows hold so far.

    ``identity`` is drawn when a shard is made: one that was made anew elsewhere has lost its states.
    """

    identity: str
    layer: int
    frontier: int
    states: int
    transitions: int
    rows: int
    bytes: int
    busy: float  # processor seconds of its work so far; the rest of the time it waits and is sent to
    sent: int  # bytes of keys and bits that it has sent so far
    violating: dict[str, int] = field(default_factory=dict)  # states found in this layer, by invariant


class Shard:
    """One share of a search: `follow`, exchange the parcels, `absorb`; until every frontier is empty."""

    def __init__(self, assignment: Assignment) -> None:
        a = self._assignment = assignment
        tables = Tables(Shared(a.machine), a.bound, a.design, a.checked)
        self._run = Run(tables, a.checked, 1, a.audited, keep=False, shard=a.shard, shards=a.shards)
        self._identity = uuid.uuid4().hex
        self._busy, self._sent = 0.0, 0
        self._translated: dict[int, dict[str, Ints]] = {}
        self._named = {(name, to): 0 for name in NAMED for to in range(a.shards)}

    def report(self) -> Report:
        """The counts so far."""
        return self._report(
            Layer(np.zeros(0, np.int64), np.zeros((0, self._assignment.bound + 1), np.uint32))
        )

    def follow(self) -> list[Parcel]:
        """Follow the frontier; a parcel for every shard, the own one empty."""
        run, started = self._run, time.thread_time()
        if len(run.frontier.rows):
            run.bits.spread(run.frontier)
            run.count(run.frontier)
            audit(run.graph, run.frontier, run.audited, seed=run.depth + 1)
        run.depth += 1
        others = run.bits.of_others()
        owner = run.graph.owner.array[others.rows]
        keys = run.graph.index.keys.array[others.rows]
        self._sent += keys.nbytes + others.bits.nbytes
        parcels = [
            self._parcel(to, keys[owner == to], others.bits[owner == to]) for to in range(run.graph.shards)
        ]
        self._busy += time.thread_time() - started
        return parcels

    def absorb(self, parcels: list[Parcel]) -> Report:
        """Take what others sent, and go on to the next layer."""
        run, started = self._run, time.thread_time()
        for parcel in parcels:
            if len(parcel.keys) or any(parcel.parts.values()):
                run.bits.receive(self._own_keys(parcel), parcel.bits)
        reached: Reached = run.bits.harvest()
        run.frontier = run.enter(reached)
        self._busy += time.thread_time() - started
        return self._report(reached.found)

    def transitions_by_event(self) -> dict[str, int]:
        """Transitions taken from own states, by name of event."""
        return self._run.transitions_by_event()

    def _report(self, found: Layer) -> Report:
        run = self._run
        violating = {name: run.violating(found, name).states for name in run.checked}
        nbytes = run.graph.nbytes + run.bits.nbytes
        counts = (
            run.frontier.states,
            run.states,
            run.transitions,
            len(run.graph),
            nbytes,
            self._busy,
            self._sent,
        )
        return Report(self._identity, run.depth, *counts, violating)

    def _interners(self) -> dict[str, Interner[Any] | Histories]:
        parts = self._run.tables.parts
        return dict(zip(NAMED, (parts.histories, parts.nodes, parts.borders, parts.pendings), strict=True))

    def _parcel(self, to: int, keys: Ints, bits: Words) -> Parcel:
        names: dict[str, list[Any]] = {}
        for name, interner in self._interners().items():
            names[name] = interner.since(self._named[name, to]) if len(keys) else []
            self._named[name, to] += len(names[name])
        return Parcel(self._assignment.shard, names, keys, bits)

    def _own_keys(self, parcel: Parcel) -> Ints:
        """A parcel's keys in this shard's numbers."""
        empty = np.zeros(0, np.int64)
        known = self._translated.setdefault(parcel.sender, dict.fromkeys(NAMED, empty))
        keys = parcel.keys
        for name, interner in self._interners().items():
            numbers = np.array([interner.number(part) for part in parcel.parts[name]], np.int64)
            known[name] = np.concatenate([known[name], numbers])
            shift = KEY[name].shift
            theirs = unpack(parcel.keys, name)
            keys = keys + ((known[name][theirs] - theirs) << shift)
        return keys
