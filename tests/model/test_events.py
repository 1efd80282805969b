import pytest

from foldproof.model.core import CORE
from foldproof.model.events import EVENT_TYPES, SPELLINGS, Call, Undo, event_from_name
from foldproof.model.state import Kind


def test_every_event_is_read_back_from_its_name() -> None:
    events = set()
    state = CORE.initial
    for name in ("AppendUser", "Call(open)", "StepEnd", "FlagFlip"):
        events |= set(CORE.enabled(state, 6, CORE.design))
        state = CORE.effect(state, event_from_name(name), CORE.design)
    events |= set(CORE.enabled(state, 6, CORE.design)) | {Call(Kind.CLOSE), Call(Kind.NEXT)}
    assert {type(event) for event in events} == set(EVENT_TYPES)
    for event in events:
        assert event_from_name(str(event)) == event


def test_spaces_do_not_matter() -> None:
    assert event_from_name(" Undo( 2 ) ") == Undo(2)


@pytest.mark.parametrize(
    "text",
    ["", "Undo", "Undo()", "Undo(x)", "Undo(1", "undo(1)", "StepEnd(1)", "Call", "Call(shut)", "Call(1)",
     "Undo(99999999999999999999)", "AppendUser;", "Nope"],
)  # fmt: skip
def test_other_texts_are_refused_with_the_list_of_events(text: str) -> None:
    with pytest.raises(ValueError, match="unknown event") as refusal:
        event_from_name(text)
    assert all(spelling in str(refusal.value) for spelling in SPELLINGS)
