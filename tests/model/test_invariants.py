"""Each invariant catches a state that was broken by hand, and says where."""

from collections.abc import Callable

import pytest

from foldproof.model import seed_invariants
from foldproof.model.core import CORE
from foldproof.model.events import event_from_name
from foldproof.model.invariants import INVARIANTS, Invariant, violations
from foldproof.model.seed_invariants import SEED_INVARIANTS
from foldproof.model.state import Message, Origin, Role, State
from foldproof.model.step import step


def reached(*names: str) -> State:
    s = CORE.initial
    for name in names:
        s = step(s, event_from_name(name))
    return s


WHOLE = reached(
    "AppendUser", "CommitIndex(1)", "AppendUser", "CommitState(2)",
    "Call(open)", "StepEnd", "AppendUser", "Call(close)", "StepEnd", "Call(open)", "StepEnd", "Measure",
)  # fmt: skip


def _node(s: State, **fields: object) -> State:
    nodes = list(s.tree.nodes)
    nodes[0] = nodes[0]._replace(**fields)
    return s._replace(tree=s.tree._replace(nodes=tuple(nodes)))


def _tree(s: State, **fields: object) -> State:
    return s._replace(tree=s.tree._replace(**fields))


def _cover(s: State, covers: tuple[int, ...]) -> State:
    memory = s.tree.nodes[0].memory
    assert memory is not None
    return _node(s, memory=memory._replace(covers=covers))


BREAKS: dict[str, tuple[Callable[[State], State], Invariant, str]] = {
    "a node opens past the end": (lambda s: _node(s, opened_at=99), Invariant.IDX, "nodes[0].opened_at"),
    "a node opens at the end": (
        lambda s: _node(s, opened_at=len(s.history)), Invariant.IDX, "nodes[0].opened_at = 9",
    ),
    "a node closes at the end": (
        lambda s: _node(s, closed_at=len(s.history)), Invariant.IDX, "nodes[0].closed_at = 9",
    ),
    "the epoch starts past the end": (lambda s: _tree(s, epoch_start_at=10), Invariant.IDX, "epoch_start_at"),
    "more was observed than is stored": (
        lambda s: s._replace(last_observed=10), Invariant.IDX, "last_observed = 10",
    ),
    "the gauge measures more than is stored": (
        lambda s: s._replace(gauge=s.gauge._replace(length=10)), Invariant.IDX, "gauge.length = 10",
    ),
    "the epoch's memory lies at the end": (
        lambda s: _tree(s, epoch_memory_at=9), Invariant.IDX, "epoch_memory_at = 9",
    ),
    "the gauge is off by one": (
        lambda s: s._replace(gauge=s.gauge._replace(tokens=s.gauge.tokens + 1)), Invariant.CAL, "trigger = ",
    ),
    "a memory covers what is gone": (lambda s: _cover(s, (2, 3, 4, 77)), Invariant.VIEW, "#77"),
    "a memory hides a message": (lambda s: _cover(s, (2, 3)), Invariant.VIEW, "place 4"),
    "a memory covers in another order": (lambda s: _cover(s, (3, 2, 4)), Invariant.VIEW, "place 2"),
    "a memory covers twice": (lambda s: _cover(s, (2, 2, 3, 4)), Invariant.VIEW, "place 3"),
    "an index memory is lost": (lambda s: _tree(s, frozen=()), Invariant.VIEW, "place 0"),
    "the state memory is lost": (lambda s: _tree(s, state=None), Invariant.VIEW, "place 1"),
    "a receipt was not committed": (
        lambda s: _tree(s, nodes=s.tree.nodes[:1]), Invariant.SYNC, "nothing against open@7",
    ),
    "a node has no receipt": (
        lambda s: _tree(s, nodes=(*s.tree.nodes, s.tree.nodes[1])), Invariant.SYNC, "open@7 against nothing",
    ),
    "a node opens beside its carrier": (lambda s: _node(s, opened_at=3), Invariant.SYNC, "place 0"),
    "a node closes with its carrier": (lambda s: _node(s, closed_at=5), Invariant.SYNC, "place 1"),
}  # fmt: skip


def test_the_whole_state_is_sound() -> None:
    assert violations(WHOLE) == []


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_state_is_caught(name: str) -> None:
    break_it, invariant, clue = BREAKS[name]
    found = {v.invariant: v for v in violations(break_it(WHOLE))}
    assert invariant in found, found
    text = str(found[invariant]).replace("place 1: 1 against", "place 1: #1 against")
    assert clue.replace("#", "") in text, text


def test_every_invariant_is_broken_by_some_state() -> None:
    assert {invariant for _, invariant, _ in BREAKS.values()} == set(INVARIANTS)


@pytest.mark.parametrize("invariant", [Invariant.IDX, Invariant.CAL, Invariant.SYNC])
def test_the_seed_s_own_invariants_catch_too(invariant: Invariant) -> None:
    caught = [name for name, (break_it, kind, _) in BREAKS.items() if kind is invariant
              and SEED_INVARIANTS[invariant](break_it(WHOLE)) is not None]  # fmt: skip
    assert caught


def test_the_seed_s_view_formula_cannot_fail_for_a_fold_of_stored_messages() -> None:
    broken = [break_it(WHOLE) for break_it, invariant, _ in BREAKS.values() if invariant is Invariant.VIEW]
    assert all(SEED_INVARIANTS[Invariant.VIEW](s) is None for s in broken)


def test_it_does_catch_a_fold_that_shows_what_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    strange = Message(99, Role.USER, Origin.USER, 2)
    monkeypatch.setattr(seed_invariants, "view", lambda s: (*s.history, strange))
    violation = seed_invariants.seed_view(WHOLE)
    assert violation is not None
    assert violation.place == "#99 is not stored"
