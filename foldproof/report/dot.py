"""State graphs in Graphviz's DOT language: every reachable state of a machine within a small bound."""

from __future__ import annotations

import json
from collections import defaultdict

from foldproof.explore.trace import encode
from foldproof.model.machine import Clauses, EventT, Machine, StateT


class TooManyStatesError(ValueError):
    """The graph would have more states than anybody can look at."""


def state_graph(
    machine: Machine[StateT, EventT], bound: int, design: Clauses | None = None, max_states: int = 500
) -> str:
    """The reachable states as DOT: nodes numbered in breadth-first order, edges named by their events.

    A violating state is red, names what it violates, and is not expanded, as in a search. The whole
    state stands in each node's tooltip. Raises `TooManyStatesError` beyond ``max_states``.
    """
    design = machine.design if design is None else design
    numbers = {machine.initial: 0}
    edges: dict[tuple[int, int], list[str]] = defaultdict(list)
    frontier = [machine.initial]
    while frontier:
        reached = []
        for state in frontier:
            if machine.violations(state):
                continue
            for event in machine.enabled(state, bound, design):
                after = machine.canonical(machine.effect(state, event, design))
                if after not in numbers:
                    numbers[after] = len(numbers)
                    reached.append(after)
                edges[numbers[state], numbers[after]].append(str(event))
            if len(numbers) > max_states:
                raise TooManyStatesError(
                    f"the {machine.name} machine has more than {max_states} states at bound {bound}"
                )
        frontier = reached
    nodes = [_node(machine, state, number) for state, number in numbers.items()]
    arrows = [f'  {a} -> {b} [label="{_broken(events)}"];' for (a, b), events in edges.items()]
    head = [f'digraph "{machine.name}, bound {bound}" {{', "  node [shape=box, fontname=monospace];"]
    return "\n".join([*head, *nodes, *arrows, "}", ""])


def _node(machine: Machine[StateT, EventT], state: StateT, number: int) -> str:
    violated = [violation.invariant for violation in machine.violations(state)]
    label = " ".join([f"{number}: {_letters(state)}".rstrip(": "), *violated])
    tooltip = json.dumps(encode(state), separators=(",", ":")).replace("\\", "\\\\").replace('"', '\\"')
    colour = ", color=red, fontcolor=red" if violated else ""
    return f'  {number} [label="{label}", tooltip="{tooltip}"{colour}];'


def _letters(state: object) -> str:
    """The history in the core alphabet, where the state has one."""
    session = getattr(state, "session", state)
    return "".join(message.letter for message in getattr(session, "history", ()))


def _broken(events: list[str]) -> str:
    """Several events on one edge, one a line."""
    return "\\n".join(events)
