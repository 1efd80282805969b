"""Random simulation: seeded runs, for bounds beyond exhaustion."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict

from foldproof.explore.result import Counterexample, OnProgress, Progress, SearchResult
from foldproof.explore.shrink import shrink
from foldproof.model.machine import Clauses, EventT, Machine, StateT


def simulate(
    machine: Machine[StateT, EventT],
    bound: int,
    design: Clauses | None = None,
    *,
    runs: int,
    depth: int,
    seed: int = 0,
    invariants: tuple[str, ...] | None = None,
    limit: int = 1,
    on_progress: OnProgress | None = None,
) -> SearchResult:
    """Walk ``runs`` times at random for up to ``depth`` events; shrink what violates an invariant.

    A walk picks a kind of event first, then one of its kind, so that events with many arguments do
    not crowd out the others; it ends at a violation. The same seed gives the same walks. The result
    is never complete: an invariant without a counterexample is unchecked, not held.
    """
    design = machine.design if design is None else design
    checked = tuple(map(str, machine.invariants)) if invariants is None else invariants
    chance = random.Random(seed)
    started = time.perf_counter()
    seen: set[StateT] = {machine.canonical(machine.initial)}
    taken: Counter[str] = Counter()
    found: dict[str, dict[tuple[EventT, ...], Counterexample]] = {name: {} for name in checked}
    for number in range(1, runs + 1):
        state, events = machine.initial, []
        for _ in range(depth):
            event = _pick(machine, state, bound, design, chance)
            if event is None:
                break
            state = machine.canonical(machine.effect(state, event, design))
            events.append(event)
            seen.add(state)
            taken[type(event).__name__] += 1
            violations = machine.violations(state)
            for violation in violations:
                kept = found.get(violation.invariant)
                if kept is not None and len(kept) < limit:
                    short = shrink(machine, events, violation.invariant, design)
                    kept[short] = _counterexample(machine, short, violation.invariant, design)
            if violations:
                break
        if on_progress is not None:
            elapsed = time.perf_counter() - started
            on_progress(Progress(number, runs - number, len(seen), taken.total(), elapsed))
    return SearchResult(
        machine=machine.name,
        bound=bound,
        without=tuple(str(clause) for clause in machine.clauses if clause not in design),
        engine="simulation",
        states=len(seen),
        transitions=taken.total(),
        depth=depth,
        seconds=time.perf_counter() - started,
        invariants=checked,
        events=dict(sorted(taken.items())),
        complete=False,
        counterexamples={
            name: tuple(sorted(kept.values(), key=lambda c: len(c.events))) for name, kept in found.items()
        },
    )


def _pick(
    machine: Machine[StateT, EventT], state: StateT, bound: int, design: Clauses, chance: random.Random
) -> EventT | None:
    by_kind: defaultdict[str, list[EventT]] = defaultdict(list)
    for event in machine.enabled(state, bound, design):
        by_kind[type(event).__name__].append(event)
    if not by_kind:
        return None
    return chance.choice(by_kind[chance.choice(sorted(by_kind))])


def _counterexample(
    machine: Machine[StateT, EventT], events: tuple[EventT, ...], invariant: str, design: Clauses
) -> Counterexample:
    state = machine.initial
    for event in events:
        state = machine.effect(state, event, design)
    [violation] = machine.violations(state, (invariant,))
    return Counterexample(invariant, violation, events)
