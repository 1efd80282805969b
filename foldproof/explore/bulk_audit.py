"""The audit: sampled states of a running search, compared with the plain model.

The tables rest on a separation of the state into parts that do not interact (see
`foldproof.explore.bulk_tables`). A rule added to the model could break it. So each search takes some of
the states that it reaches and asks the plain model for everything about them: violations, enabled
events, successors. A difference stops the search with an error; it never becomes a wrong count.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from foldproof.explore.bulk_graph import Graph
from foldproof.explore.bulk_layers import Layer
from foldproof.explore.bulk_low import BulkError
from foldproof.explore.bulk_parts import Address
from foldproof.explore.bulk_tables import PASSES, ROW_INVARIANTS
from foldproof.model.state import State


class AuditError(BulkError):
    """The bulk engine's tables and the plain model disagree on a state."""


def audit(graph: Graph, layer: Layer, samples: int, seed: int) -> None:
    """Compare some states of an expanded layer with the plain model. Raises `AuditError`."""
    chance = np.random.default_rng(seed)
    for place in chance.integers(0, len(layer.rows), min(samples, len(layer.rows))):
        row, bits = int(layer.rows[place]), layer.bits[place]
        blocks = np.flatnonzero(bits)
        observed = int(chance.choice(blocks))
        slots = [slot for slot in range(32) if int(bits[observed]) >> slot & 1]
        address = Address(int(graph.index.keys.array[row]), observed, int(chance.choice(slots)))
        _compare(graph, row, address)


def _compare(graph: Graph, row: int, address: Address) -> None:
    tables = graph.tables
    machine, parts = tables.machine, tables.parts
    state: State = parts.decode(address)
    if machine.canonical(state) != state or parts.address(state) != address:
        raise AuditError(f"a stored state is not canonical, or is not where it belongs: {state}")
    expected: Counter[tuple[str, Address]] = Counter()
    for event in machine.enabled(state, tables.bound, tables.design):
        after = machine.canonical(machine.effect(state, event, tables.design))
        expected[str(event), parts.address(after)] += 1
    found: Counter[tuple[str, Address]] = Counter(successors(graph, row, address))
    if found != expected:
        raise AuditError(
            f"the bulk engine and the model disagree on what {state} can do: "
            f"the model alone says {_names(expected - found)}, the engine alone {_names(found - expected)}. "
            "A rule reads what foldproof.explore.bulk_tables keeps apart; use the plain engine"
        )
    _compare_violations(graph, sorted({address for _, address in expected}))


def _compare_violations(graph: Graph, addresses: list[Address]) -> None:
    tables = graph.tables
    keys = np.array([address.key for address in addresses], np.int64)
    for address, row in zip(addresses, graph.index.find(keys).tolist(), strict=True):
        if graph.owner.array[row] != graph.shard:
            continue  # its owner knows
        state = tables.parts.decode(address)
        violated = int(graph.violated.array[row])
        live = tables.live(int(graph.length.array[row]))
        if address.observed > live.observed or address.slot // 2 > live.length:
            violated |= 1 << ROW_INVARIANTS.index("IDX")
        found = {name for bit, name in enumerate(ROW_INVARIANTS) if violated >> bit & 1}
        expected = {violation.invariant for violation in tables.machine.violations(state)}
        if found & set(tables.machine.invariants) != expected:
            raise AuditError(
                f"the bulk engine and the model disagree on which invariants {state} violates: "
                f"{sorted(found)} against {sorted(expected)}; use the plain engine"
            )


def successors(graph: Graph, row: int, address: Address) -> list[tuple[str, Address]]:
    """What the graph says that each event makes of a state."""
    names, effects, event_of = graph.tables.events, graph.edges.effects, graph.edges.columns().event
    found: list[tuple[str, Address]] = []
    for group in graph.groups:
        _, targets, edges = group.of(np.array([row]))
        in_box = (effects.observed_mask[edges] >> address.observed & 1 != 0) & (
            effects.gauge_mask[edges] >> address.slot & 1 != 0
        )
        targets, edges = targets[in_box], edges[in_box]
        for key, event, observed, slot in zip(
            graph.index.keys.array[targets].tolist(),
            event_of[effects.edge[edges]].tolist(),
            effects.observed[edges].tolist(),
            effects.slot[edges].tolist(),
            strict=True,
        ):
            after = Address(
                key,
                address.observed if observed == PASSES else observed,
                address.slot if slot == PASSES else slot,
            )
            found.append((str(names[event]), after))
    return found


def _names(difference: Counter[tuple[str, Address]]) -> str:
    return ", ".join(sorted({name for name, _ in difference})) or "nothing"
