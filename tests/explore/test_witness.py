import pytest

from foldproof.explore.witness import SITUATIONS, witness
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN, Clause, without

BOUNDS = {
    "nested-spans": 6,
    "chained-spans": 4,
    "undo-reopens-a-span": 5,
    "clear-behind-an-epoch": 2,
    "node-survives-replacement": 4,
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_situation_is_reached_and_its_witness_shows_it(name: str) -> None:
    run = witness(SITUATIONS[name], BOUNDS.get(name, 3))
    assert run
    state = CORE.initial
    for number, event in enumerate(run, 1):
        after = CORE.effect(state, event, DESIGN)
        assert SITUATIONS[name](state, event, after) == (number == len(run))
        state = after


def test_what_a_clause_brings_about_is_not_reached_without_it() -> None:
    assert witness(SITUATIONS["resume-commits"], 3, without(Clause.D8)) is None
    assert witness(SITUATIONS["switch-settles"], 3, without(Clause.D6_SETTLE)) is None
