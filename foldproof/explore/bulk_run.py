"""One search: layers until none is left, with what was met on the way."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from foldproof.explore.bulk_audit import audit
from foldproof.explore.bulk_graph import CHUNK, Graph
from foldproof.explore.bulk_layers import Bits, Layer, Reached
from foldproof.explore.bulk_low import GAUGES
from foldproof.explore.bulk_parts import Address
from foldproof.explore.bulk_runs import Met, counterexamples
from foldproof.explore.bulk_tables import ROW_INVARIANTS, Tables
from foldproof.explore.result import Counterexample, Progress
from foldproof.model.state import State


class Run:
    """The state of a search: graph, bits, counts, violations met; the layers, if they are kept."""

    def __init__(
        self,
        tables: Tables,
        checked: tuple[str, ...],
        limit: int,
        audited: int,
        keep: bool,
        shard: int = 0,
        shards: int = 1,
    ) -> None:
        self.tables, self.checked, self.limit, self.audited, self.keep = tables, checked, limit, audited, keep
        self.graph = Graph(tables, shard, shards)
        self.bits = Bits(self.graph, tables.checked)
        self.states = self.transitions = self.depth = 0
        self.kept: list[Layer] = []
        self.met: dict[str, list[Met]] = {name: [] for name in checked}
        self.frontier = self._begin()

    def layers(self, most: int | None = None) -> Iterator[Progress]:
        """Run to the end, or for this many layers at most, with a report after each layer."""
        started = time.perf_counter()
        while len(self.frontier.rows) and (most is None or self.depth < most):
            layer = self.frontier
            if self.keep:
                self.kept.append(layer)
            self.depth += 1
            reached = self.bits.follow(layer)
            self.count(layer)
            audit(self.graph, layer, self.audited, seed=self.depth)
            self.frontier = self.enter(reached)
            elapsed = time.perf_counter() - started
            yield Progress(self.depth, self.frontier.states, self.states, self.transitions, elapsed)

    def counterexamples(self) -> dict[str, tuple[Counterexample, ...]]:
        """The shortest runs to what was met; searches once more, with layers kept, if they were not."""
        deepest = max((met.depth for found in self.met.values() for met in found), default=0)
        run = self
        if deepest > len(self.kept):
            run = Run(self.tables, self.checked, self.limit, 0, keep=True)
            for _ in run.layers(deepest):
                pass
        return {
            name: counterexamples(run.graph, run.kept, name, found, self.limit)
            for name, found in run.met.items()
        }

    def transitions_by_event(self) -> dict[str, int]:
        """Transitions taken, by name of event."""
        graph = self.graph
        for start in range(0, len(graph), CHUNK):  # a resumed run has not expanded all its rows
            graph.expand(self._expandable(start).rows)
        states = np.zeros(len(graph.taken_counts), np.int64)
        for start in range(0, len(graph), CHUNK):
            expanded = self._expandable(start)
            sizes = np.bitwise_count(expanded.bits).sum(axis=1, dtype=np.int64)
            states += np.bincount(graph.taken.array[expanded.rows], sizes, len(states)).astype(np.int64)
        return dict(+Counter(dict(zip(graph.kinds, (states @ graph.taken_counts).tolist(), strict=True))))

    def _expandable(self, start: int) -> Layer:
        """What was expanded of a chunk of own rows."""
        rows = np.arange(start, min(start + CHUNK, self.bits.visited.size))
        rows = rows[self.graph.owner.array[rows] == self.graph.shard]
        return self.bits.expandable(Layer(rows, self.bits.visited.array[rows]))

    def stored_states(self) -> Iterator[State]:
        """Every state reached, decoded, each once."""
        for key, bits in zip(self.graph.index.keys.array, self.bits.visited.array, strict=True):
            for observed in np.flatnonzero(bits):
                for slot in range(GAUGES):
                    if int(bits[observed]) >> slot & 1:
                        yield self.tables.parts.decode(Address(int(key), int(observed), slot))

    def enter(self, reached: Reached) -> Layer:
        """Count what was reached, note what it violates, and give back what is to be expanded."""
        self.states += reached.found.states
        if reached.frontier.states != reached.found.states:
            for name, found in self.met.items():
                if sum(met.states.states for met in found) < self.limit:
                    violating = self.violating(reached.found, name)
                    if len(violating.rows):
                        found.append(Met(self.depth, violating))
        return reached.frontier

    def violating(self, layer: Layer, invariant: str) -> Layer:
        """The states of a layer that violate an invariant."""
        return self.bits.violating(layer, 1 << ROW_INVARIANTS.index(invariant))

    def count(self, layer: Layer) -> None:
        """Count the transitions of an expanded layer."""
        sizes = np.bitwise_count(layer.bits).sum(axis=1, dtype=np.int64)
        events = self.graph.taken_counts.sum(axis=1)
        self.transitions += int(sizes @ events[self.graph.taken.array[layer.rows]])

    def _begin(self) -> Layer:
        address = self.tables.parts.address(self.tables.machine.initial)
        row = int(self.graph.rows(np.array([address.key]))[0])
        if self.graph.owner.array[row] != self.graph.shard:
            empty = np.zeros((0, self.bits.blocks), np.uint32)
            return Layer(np.zeros(0, np.int64), empty)
        return self.enter(self.bits.start(row, address.observed, address.slot))
