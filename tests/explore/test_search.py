import pytest
from hypothesis import given, settings

from foldproof.explore.matrix import necessity
from foldproof.explore.plain import search
from foldproof.explore.result import Progress
from foldproof.explore.shrink import first_violation, shrink
from foldproof.explore.simulate import simulate
from foldproof.model.core import CORE
from foldproof.model.design import Clause, without
from foldproof.model.events import event_from_name
from foldproof.stateful_tests.strategies import runs


def test_a_limit_makes_the_rest_unchecked() -> None:
    result = search(CORE, 4, max_states=100)
    assert not result.complete
    assert {result.verdict(name) for name in CORE.invariants} == {"unchecked"}


def test_only_the_chosen_invariants_are_checked() -> None:
    result = search(CORE, 3, without(Clause.D1A_UNDO), invariants=("CAL",))
    assert result.verdict("CAL") == "held"
    assert result.verdict("IDX") == "unchecked"


def test_several_counterexamples_are_distinct_and_shortest_first() -> None:
    found = search(CORE, 3, without(Clause.D1A_CLEAR), limit=5).counterexamples["IDX"]
    assert len(found) == 5
    assert len({c.events for c in found}) == 5
    assert [len(c.events) for c in found] == sorted(len(c.events) for c in found)


def test_past_a_violation_lies_what_breaks_in_consequence() -> None:
    direct = search(CORE, 2, without(Clause.D1C))
    later = search(CORE, 2, without(Clause.D1C), past_violations=True, max_depth=5)
    assert direct.verdict("SYNC") == "held"
    assert later.verdict("SYNC") == "violated"


def test_progress_is_told() -> None:
    told: list[Progress] = []
    search(CORE, 3, on_progress=told.append)
    assert told
    assert told[-1].states <= 5_713


def test_simulation_is_a_function_of_its_seed() -> None:
    one, same, other = (simulate(CORE, 12, runs=20, depth=40, seed=seed) for seed in (1, 1, 2))
    assert (one.states, one.events) == (same.states, same.events)
    assert one.events != other.events


def test_simulation_shrinks_what_it_finds() -> None:
    design = without(Clause.D2_RESUME)
    [found] = simulate(CORE, 12, design, runs=50, depth=60, seed=3).counterexamples["CAL"]
    assert first_violation(CORE, found.events, "CAL", design) == len(found.events) <= 4


@settings(max_examples=200)
@given(runs(CORE, 5, design=without(Clause.D1A_UNDO), max_events=25))
def test_a_shrunk_run_violates_and_no_event_can_be_left_out(events: list[object]) -> None:
    design = without(Clause.D1A_UNDO)
    if first_violation(CORE, events, "SYNC", design) is None:  # type: ignore[arg-type]
        return
    short = shrink(CORE, events, "SYNC", design)  # type: ignore[arg-type]
    assert first_violation(CORE, short, "SYNC", design) == len(short)
    for left_out in range(len(short)):
        rest = short[:left_out] + short[left_out + 1 :]
        assert first_violation(CORE, rest, "SYNC", design) is None


def test_shrinking_refuses_a_run_that_violates_nothing() -> None:
    with pytest.raises(ValueError, match="these 1 events are not a run that violates CAL"):
        shrink(CORE, [event_from_name("AppendUser")], "CAL", CORE.design)


def test_pairs_add_what_no_single_clause_breaks() -> None:
    found = {row.without: row for row in necessity(CORE, 2, pairs=True, consequences=False).rows}
    assert len(found) == 14 + 91
    assert found["D4",].broken == {}
    assert found["D1a_undo", "D4"].beyond_parts
