"""Exhaustive walks over a driver: everything that can be done within a bound, or within a number of commands.

A driver holds a session and a machine's state side by side and raises `NotRefinedError` where they part. A
pass in flight cannot be copied, so a node is a driver at rest and the commands since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

C = TypeVar("C")


class Driver(Protocol[C]):
    """A session and a machine's state; ``steps`` are the machine's transitions that it has compared."""

    steps: list[tuple[Any, Any]]

    @property
    def idle(self) -> bool: ...
    @property
    def key(self) -> Hashable: ...
    def commands(self, bound: int) -> Iterator[C]: ...
    def do(self, command: C) -> None: ...
    def copy(self) -> Self: ...
    def end(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Walked(Generic[C]):
    """How far a walk went: nodes, commands done, and every transition of the machine that was compared."""

    nodes: int
    commands: int
    transitions: frozenset[tuple[Any, Any]]


def walk(first: Driver[C], bound: int, length: int | None = None) -> Walked[C]:
    """Do everything that can be done from ``first`` on, shortest ways first.

    With a ``length``, all sequences of at most so many commands, nothing merged; without one, every
    command from every node, a node being entered once. Raises `NotRefinedError` at the first difference.
    """
    waiting: deque[tuple[Driver[C], tuple[C, ...], int]] = deque([(first, (), 0)])
    seen = {first.key}
    nodes = commands = 0
    transitions: set[tuple[Any, Any]] = set()

    def at(rest: Driver[C], since: tuple[C, ...]) -> Driver[C]:
        driver = rest.copy()
        for command in since:
            driver.do(command)
        return driver

    while waiting:
        rest, since, depth = waiting.popleft()
        nodes += 1
        if depth == length:
            continue
        here = at(rest, since)
        choices = list(here.commands(bound))
        for number, command in enumerate(choices):
            driver = here if number == len(choices) - 1 else at(rest, since)
            driver.do(command)
            commands += 1
            transitions.update(driver.steps)
            if length is not None or driver.key not in seen:
                seen.add(driver.key)
                following = (driver, ()) if driver.idle else (rest, (*since, command))
                waiting.append((*following, depth + 1))
            driver.end()
    return Walked(nodes, commands, frozenset(transitions))
