"""A budget that ends anywhere, in the middle of shrinking too, leaves the best counterexample so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from foldproof.conformance.adapter import reply_to
from foldproof.conformance.campaign_record import Clock, Report, Settings
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.conformance.protocol import EventRequest, Handshake, Reply, ResetRequest, read_handshake
from foldproof.conformance.random_runs import random_runs
from foldproof.conformance.runfile import request_json
from foldproof.conformance.script import supported
from foldproof.conformance.session import Session
from foldproof.conformance.shrinking import shrink
from foldproof.model.design import Clause, without

SETTINGS = Settings(exhaustive=0, examples=30, steps=12)


class Countdown(Clock):
    """A budget of so many looks at the clock; it stays over once it is."""

    def __init__(self, looks: int) -> None:
        super().__init__(60)
        self.left = looks

    def over(self, share: float = 1.0) -> bool:
        self.left -= 1
        return self.left < 0


@dataclass
class InProcess(Session):
    """The model without undo's rollback, asked without a process between."""

    adapter: ModelAdapter = field(default_factory=lambda: ModelAdapter(without(Clause.D9)))
    asked: int = 0

    @property
    def handshake(self) -> Handshake:
        return read_handshake(reply_to(self.adapter, {"cmd": "start"}))

    def _ask(self, request: ResetRequest | EventRequest) -> Reply:
        self.asked += 1
        return Reply.model_validate(reply_to(self.adapter, request_json(request)))


def search(looks: int) -> tuple[Report, Countdown]:
    """Random scripts until the clock was looked at so often, then shrinking, as a campaign does."""
    session, clock = InProcess(()), Countdown(looks)
    words = tuple(w for w in supported(session.handshake) if w not in ("clear", "toggle", "freeze"))
    report = Report(session.handshake, Settings(0, SETTINGS.examples, SETTINGS.steps, words=words))
    random_runs(session, report, clock, 0.9)
    for key in sorted(report.located):
        report.located[key] = shrink(session, report.located[key], clock)
    return report, clock


@pytest.fixture(scope="module")
def whole() -> tuple[Report, int]:
    """The search that nothing ends, and how often it looks at the clock."""
    report, clock = search(100_000)
    return report, 100_000 - clock.left


def test_the_whole_search_finds_and_shrinks(whole: tuple[Report, int]) -> None:
    report, looks = whole
    assert report.located
    assert not report.failures
    assert looks > 60
    assert report.coverage["random"]["shrinking"] > 20


@pytest.mark.parametrize("part", range(4))
def test_a_budget_that_ends_while_it_shrinks_is_no_error(part: int, whole: tuple[Report, int]) -> None:
    """Wherever it ends: no failure, and each fault that was met is told with the shortest script so far."""
    best, looks = whole
    told = 0
    for end in range(looks * (part + 1) // 40, looks, looks // 5):
        report, _ = search(end)
        assert report.failures == []
        for key, found in report.located.items():
            told += 1
            assert found.finding.step == len(found.script)
            assert found.script
            if key in best.located:
                assert len(found.script) >= len(best.located[key].script)
    assert told > 0


def test_it_gets_no_worse_with_more_time(whole: tuple[Report, int]) -> None:
    """More budget never makes a counterexample longer: the run is the same, it only ends later."""
    _, looks = whole
    before: dict[tuple[str, str, str], int] = {}
    for end in range(1, looks, looks // 12):
        report, _ = search(end)
        for key, found in report.located.items():
            assert len(found.script) <= before.get(key, 99)
            before[key] = len(found.script)
    assert before
