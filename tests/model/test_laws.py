"""Algebraic laws of the model, over random runs longer than the search can exhaust."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldproof.model.canonical import canonical
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN
from foldproof.model.events import Undo
from foldproof.model.fold import Costs, est, flatten, trigger, view
from foldproof.model.guards import NotEnabledError, guard
from foldproof.model.invariants import violations
from foldproof.model.seed_invariants import SEED_INVARIANTS
from foldproof.model.state import Memory, State, ids
from foldproof.model.step import effect, step
from foldproof.stateful_tests.strategies import reachable, runs

BOUND = 14
states = reachable(CORE, BOUND, max_events=40)


@given(states)
def test_the_design_keeps_every_invariant(s: State) -> None:
    assert violations(s) == []


@given(states)
def test_the_stronger_invariants_imply_the_seed_s(s: State) -> None:
    assert [check(s) for check in SEED_INVARIANTS.values()] == [None] * 4


@given(states)
def test_flatten_of_the_view_is_the_history(s: State) -> None:
    assert flatten(view(s)) == ids(s.history)
    assert trigger(s) == est(view(s))


@given(states)
def test_a_view_of_a_disabled_fold_is_the_history(s: State) -> None:
    assert view(s._replace(enabled=False)) == s.history


@given(runs(CORE, 10, max_events=30), st.tuples(*[st.integers(0, 9)] * 3))
def test_invariants_do_not_depend_on_what_things_cost(events: list[Any], costs: tuple[int, int, int]) -> None:
    s = CORE.initial
    for event in events:
        s = effect(s, event, DESIGN, Costs(*costs))
        assert violations(s) == []


@given(states, st.data())
def test_undo_twice_is_undo_to_the_lesser_cut(s: State, data: st.DataObject) -> None:
    cuts = [cut for cut in range(len(s.history)) if guard(s, Undo(cut)) is None]
    if len(cuts) < 2:
        return
    greater = data.draw(st.sampled_from(cuts[1:]))
    lesser = data.draw(st.sampled_from([cut for cut in cuts if cut < greater]))
    assert canonical(step(step(s, Undo(greater)), Undo(lesser))) == canonical(step(s, Undo(lesser)))


@given(states)
def test_canonical_is_idempotent(s: State) -> None:
    assert canonical(canonical(s)) == canonical(s)


@given(states, st.data())
def test_canonical_commutes_with_every_event(s: State, data: st.DataObject) -> None:
    event = data.draw(st.sampled_from(list(CORE.enabled(s, BOUND, DESIGN))))
    assert list(CORE.enabled(canonical(s), BOUND, DESIGN)) == list(CORE.enabled(s, BOUND, DESIGN))
    assert canonical(step(canonical(s), event)) == canonical(step(s, event))


@given(states, st.integers(1, 50))
def test_canonical_forgets_names_alone(s: State, shift: int) -> None:
    def moved(memory: Memory | None) -> Memory | None:
        return None if memory is None else memory._replace(covers=tuple(i + shift for i in memory.covers))

    tree = s.tree._replace(
        nodes=tuple(n._replace(memory=moved(n.memory)) for n in s.tree.nodes),
        frozen=tuple(f._replace(memory=moved(f.memory)) for f in s.tree.frozen),
        state=moved(s.tree.state),
    )
    history = tuple(
        m._replace(id=m.id + shift, call=None if m.call is None else m.call + shift) for m in s.history
    )
    pending = None if s.pending is None else s.pending._replace(carrier=s.pending.carrier + shift)
    renamed = s._replace(tree=tree, history=history, pending=pending, next_id=s.next_id + shift)
    assert canonical(renamed) == canonical(s)


@given(states)
def test_step_refuses_what_a_guard_refuses(s: State) -> None:
    refused = Undo(len(s.history))
    with pytest.raises(NotEnabledError, match=r"Undo\(\d+\) is not enabled: history\[\d+\] is not a prompt"):
        step(s, refused)
