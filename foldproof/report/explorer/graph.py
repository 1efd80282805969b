"""The state graph around a run, as far as a page can carry it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from foldproof.model.machine import Clauses, Machine

MAX_STATES = 240
"""States embedded beside those of the run itself: about 250 KB a design."""


@dataclass
class Graph:
    """States, and what each expanded one leads to: ``edges[i]`` lists ``(event, j)``.

    A state that is not in ``edges`` was reached and not expanded: there the graph ends.
    """

    states: list[Any] = field(default_factory=list)
    edges: dict[int, list[tuple[str, int]]] = field(default_factory=dict)


def around(
    machine: Machine[Any, Any],
    design: Clauses,
    bound: int,
    run: Sequence[Any],
    max_states: int = MAX_STATES,
) -> tuple[Graph, list[int]]:
    """The graph around a run, and where in it each state of the run stands.

    Breadth-first from all states of the run at once, its last ones first: what a reader wants to go on
    from is the end. A state is expanded as a whole or not at all, so an event that is not offered from
    an expanded state is not enabled there; the first that does not fit is where the graph ends.
    """
    graph = Graph()
    place: dict[Any, int] = {}

    def known(state: Any) -> int:
        if state not in place:
            place[state] = len(graph.states)
            graph.states.append(state)
        return place[state]

    path = [known(state) for state in run]
    room = len(graph.states) + max_states
    waiting = deque(dict.fromkeys(reversed(path)))
    while waiting:
        position = waiting.popleft()
        state = graph.states[position]
        steps = [
            (str(event), machine.effect(state, event, design))
            for event in machine.enabled(state, bound, design)
        ]
        fresh = {after for _, after in steps if after not in place}
        if len(graph.states) + len(fresh) > room:
            break
        waiting.extend(len(graph.states) + offset for offset in range(len(fresh)))
        graph.edges[position] = [(event, known(after)) for event, after in steps]
    return graph, path
