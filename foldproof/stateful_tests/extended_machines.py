"""Hypothesis machines for the extended refinements: long random runs where the exhaustive walks are short."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from foldproof.stateful_tests.budget_refinement import BudgetDriver
from foldproof.stateful_tests.pass_refinement import PassDriver
from foldproof.stateful_tests.product import Driver


class DriverMachine(RuleBasedStateMachine):
    """Draws from what a driver can do; the driver compares after each command."""

    bound: ClassVar[int] = 8
    reached: ClassVar[Counter[str]]
    """How often a run took each event."""

    driver: Driver[Any]

    def new_driver(self) -> Driver[Any]:
        """A driver at the beginning. `self.loop` is its event loop."""
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.driver = self.new_driver()

    @rule(data=st.data())
    def command(self, data: st.DataObject) -> None:
        """One command, each kind of event as likely as any other."""
        kinds: dict[str, list[Any]] = {}
        for choice in self.driver.commands(self.bound):
            kinds.setdefault(type(choice.event).__name__, []).append(choice)
        name = data.draw(st.sampled_from(sorted(kinds)), label="event")
        self.driver.do(data.draw(st.sampled_from(kinds[name]), label="which"))
        self.reached[name] += 1

    def teardown(self) -> None:
        if hasattr(self, "driver"):
            self.driver.end()
            self.loop.close()


class BudgetMachine(DriverMachine):
    """The budget controller and the budget machine, side by side."""

    reached: ClassVar[Counter[str]] = Counter()

    def new_driver(self) -> BudgetDriver:
        return BudgetDriver(self.loop)


class PassMachine(DriverMachine):
    """The recallable compactor and the pass machine, side by side; chunks of one to three messages."""

    bound: ClassVar[int] = 12
    reached: ClassVar[Counter[str]] = Counter()

    def new_driver(self) -> PassDriver:
        return PassDriver(self.loop, chunks=(1, 2, 3))
