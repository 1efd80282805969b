"""Exhibits: what one page shows. An exhibit is one list of events, and the runs that take it.

A run of a design that lacks clauses stands beside the run of the whole design over the same events, with
the step at which the two part.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from foldproof.explore.result import SearchResult
from foldproof.explore.trace import Trace
from foldproof.explore.tracefile import replay
from foldproof.model.machine import Clauses, Machine
from foldproof.model.machines import MACHINES
from foldproof.report.explorer.cards import Card, card
from foldproof.report.explorer.graph import MAX_STATES, around
from foldproof.report.text import statement

Exhibit = dict[str, Any]

_GRAVITY = ("VIEW", "CAL", "SYNC", "IDX")
"""The core's invariants, what the model sees first; other machines keep their own order."""

EVENTS = "@EVENTS@"
"""Where the page puts the events that the reader has come by, in a program or a command line."""


def exhibit(
    machine: Machine[Any, Any],
    events: Sequence[Any],
    without: Sequence[str],
    bound: int,
    *,
    key: str = "",
    max_states: int = MAX_STATES,
) -> Exhibit:
    """A run as an exhibit. ``key`` names it in the page's address: an invariant, or a file.

    Raises ValueError where an event is not enabled in the design without these clauses.
    """
    lacking = machine.without(*without)
    runs = [_run(machine, events, lacking, bound, max_states)]
    if refused := runs[0]["refused"]:
        raise ValueError(f"step {refused['step']}: {refused['event']} is not enabled: {refused['reason']}")
    if without:
        runs.append(_run(machine, events, machine.design, bound, max_states))
        runs[1]["parted"] = runs[0]["parted"] = _parted(runs[0], runs[1])
    return {
        "key": key,
        "machine": machine.name,
        "bound": bound,
        "events": [str(event) for event in events],
        "invariants": {str(name): statement(machine, str(name)) for name in machine.invariants},
        "lacks": {str(c): str(getattr(c, "says", "")) for c in machine.clauses if c not in lacking},
        "first": first_violation(runs[0], key),
        "runs": runs,
        "command": _command(machine, without, bound),
        "program": _program(machine, without, bound),
    }


def trace_exhibit(trace: Trace, key: str, max_states: int = MAX_STATES) -> Exhibit:
    """A trace as an exhibit. Raises `foldproof.explore.tracefile.TraceError` when it does not follow."""
    replay(trace)
    machine = MACHINES[trace.machine]
    events = [machine.event_from_name(name) for name in trace.events]
    return exhibit(machine, events, trace.without, trace.bound, key=key, max_states=max_states)


def first_violation(run: dict[str, Any], preferred: str = "") -> dict[str, Any] | None:
    """The first step of a run at which an invariant is violated, and which (``preferred`` where it is)."""
    for step, place in enumerate(run["path"]):
        broken = run["cards"][place]["broken"]
        if broken and (preferred not in run["names"] or preferred in broken):
            return {"step": step, "invariant": preferred if preferred in broken else _gravest(broken)}
    return None


def _gravest(broken: Iterable[str]) -> str:
    """Of several invariants the one that a reader cares about most: what the model sees comes first."""
    names = list(broken)
    return min(names, key=_rank)


def _run(
    machine: Machine[Any, Any], events: Sequence[Any], design: Clauses, bound: int, max_states: int
) -> dict[str, Any]:
    """One design's run over the events, up to the first that it refuses, and the graph around it."""
    states, refused = [machine.initial], None
    for step, event in enumerate(events, 1):
        reason = machine.guard(states[-1], event, design, bound)
        if reason is not None:
            refused = {"step": step, "event": str(event), "reason": reason}
            break
        states.append(machine.effect(states[-1], event, design))
    graph, path = around(machine, design, bound, states, max_states)
    without = [str(clause) for clause in machine.clauses if clause not in design]
    return {
        "title": f"Without {', '.join(without)}" if without else "The design",
        "without": without,
        "names": [str(name) for name in machine.invariants],
        "path": path,
        "refused": refused,
        "parted": None,
        "cards": [card(machine, state) for state in graph.states],
        "edges": {str(place): steps for place, steps in graph.edges.items()},
    }


def _parted(one: dict[str, Any], other: dict[str, Any]) -> int | None:
    """The first step at which two runs are in different states, or at which one of them is refused."""
    for step in range(max(len(one["path"]), len(other["path"]))):
        if step >= min(len(one["path"]), len(other["path"])) or _at(one, step) != _at(other, step):
            return step
    return None


def _at(run: dict[str, Any], step: int) -> Any:
    shown: Card = run["cards"][run["path"][step]]
    return shown["state"]


def _command(machine: Machine[Any, Any], without: Sequence[str], bound: int) -> str:
    words = ["foldproof", "explore", "--machine", machine.name, "--bound", str(bound)]
    for clause in without:
        words += ["--without", clause]
    return f'{shlex.join(words)} --events "{EVENTS}" -o run.html'


def _program(machine: Machine[Any, Any], without: Sequence[str], bound: int) -> str:
    """A Hypothesis test that begins with this run and then looks for others."""
    clauses = ", ".join(f'"{clause}"' for clause in without)
    return f'''from hypothesis import example, given

from foldproof.explore.trace import run
from foldproof.model.machines import MACHINES
from foldproof.stateful_tests.strategies import runs

machine = MACHINES["{machine.name}"]
design = machine.without({clauses})
seen = [machine.event_from_name(name) for name in "{EVENTS}".split("; ") if name]


@given(runs(machine, {bound}, design=design))
@example(seen)
def test_every_state_keeps_every_invariant(events):
    for step, state in enumerate(run(machine, events, design)):
        violations = machine.violations(state)
        assert not violations, f"after step {{step}}: {{violations[0]}}"


if __name__ == "__main__":
    test_every_state_keeps_every_invariant()
'''


def search_exhibits(
    machine: Machine[Any, Any], result: SearchResult, max_states: int = MAX_STATES
) -> list[Exhibit]:
    """The shortest counterexample of each invariant that a search found violated, as exhibits."""
    return [
        exhibit(machine, found[0].events, result.without, result.bound, key=name, max_states=max_states)
        for name, found in sorted(result.counterexamples.items(), key=lambda item: _rank(item[0]))
        if found
    ]


def _rank(invariant: str) -> int:
    return _GRAVITY.index(invariant) if invariant in _GRAVITY else len(_GRAVITY)
