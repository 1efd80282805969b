"""The necessity matrix: what breaks without each clause, by the shortest trace, from which bound on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from foldproof.explore import plain
from foldproof.explore.forked import forked
from foldproof.explore.result import Counterexample, Engine, SearchResult
from foldproof.model.machine import EventT, Machine, StateT
from foldproof.model.markup import Cell, table

CONSEQUENCE_BOUND = 3
CONSEQUENCE_DEPTH = 7
"""How far past a first violation the matrix looks: a broken state space need not be finite."""


@dataclass(frozen=True)
class Break:
    """An invariant that breaks, and how.

    ``shortest`` is a counterexample with the fewest events within the matrix's bound, ``bound`` the
    least bound that has one of that length. A smaller bound may have longer ones only: then
    ``least_bound`` is the least that has any, and ``least`` a shortest there. ``consequence`` is true
    when the invariant breaks only in runs that have violated another one before.
    """

    invariant: str
    bound: int
    shortest: Counterexample
    least_bound: int
    least: Counterexample
    consequence: bool = False


@dataclass(frozen=True)
class Row:
    """A design without some clauses. ``beyond_parts``: invariants that no smaller part of it breaks."""

    without: tuple[str, ...]
    broken: dict[str, Break]
    beyond_parts: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """The rows of a machine up to a bound; single clauses first, then pairs where asked for."""

    machine: str
    bound: int
    invariants: tuple[str, ...]
    rows: tuple[Row, ...]

    def _repr_html_(self) -> str:
        """The matrix as a heat map, for a notebook: the fewer events it takes, the darker."""
        caption = (
            f"The {self.machine} machine, histories of up to {self.bound} messages: events of a shortest "
            "run, the bound that it needs; in brackets: only after another violation; a dash: nothing found"
        )
        rows: list[Sequence[str | Cell]] = [
            (" + ".join(row.without), *(_cell(row.broken.get(name)) for name in self.invariants))
            for row in self.rows
        ]
        return table(caption, ("without", *self.invariants), rows)


def _cell(found: Break | None) -> Cell:
    if found is None:
        return Cell("-")
    events = len(found.shortest.events)
    text = f"{events} @ L={found.bound}"
    return Cell(f"({text})" if found.consequence else text, max(0.1, 0.7 - 0.07 * events))


def necessity(
    machine: Machine[StateT, EventT],
    bound: int,
    *,
    pairs: bool = False,
    consequences: bool = True,
    engine: Engine = plain.search,
    workers: int = 1,
    on_row: Callable[[Row], None] | None = None,
) -> Matrix:
    """Take each clause away, and each pair, and search at every bound up to ``bound``.

    ``workers`` processes share the designs, where processes can be forked; elsewhere there is one.
    """
    names = tuple(map(str, machine.invariants))
    rows: dict[tuple[str, ...], Row] = {}

    def found(without: tuple[str, ...]) -> dict[str, Break]:
        broken = _direct(machine, without, bound, engine)
        if consequences and len(broken) < len(names):
            broken |= _in_consequence(machine, without, min(bound, CONSEQUENCE_BOUND), broken)
        return broken

    subsets = tuple(_subsets(machine, pairs))
    for without, broken in zip(subsets, forked(found, subsets, workers), strict=True):
        parts = {name for clause in without for name in rows[clause,].broken} if len(without) > 1 else set()
        ordered = {name: broken[name] for name in names if name in broken}
        row = Row(without, ordered, tuple(name for name in ordered if name not in parts))
        rows[without] = row
        if on_row is not None:
            on_row(row)
    return Matrix(machine.name, bound, names, tuple(rows.values()))


def _subsets(machine: Machine[StateT, EventT], pairs: bool) -> Iterator[tuple[str, ...]]:
    clauses = tuple(map(str, machine.clauses))
    yield from combinations(clauses, 1)
    if pairs:
        yield from combinations(clauses, 2)


def _direct(
    machine: Machine[StateT, EventT], without: tuple[str, ...], bound: int, engine: Engine
) -> dict[str, Break]:
    """What breaks as the first thing in some run, found at every bound."""
    broken: dict[str, Break] = {}
    for smaller in range(1, bound + 1):
        result = engine(machine, smaller, machine.without(*without))
        _add(broken, smaller, result, consequence=False)
    return broken


def _in_consequence(
    machine: Machine[StateT, EventT], without: tuple[str, ...], bound: int, direct: dict[str, Break]
) -> dict[str, Break]:
    """What breaks only after another invariant was violated, within a few events."""
    late: dict[str, Break] = {}
    others = tuple(name for name in map(str, machine.invariants) if name not in direct)
    for smaller in range(1, bound + 1) if direct else ():
        result = plain.search(
            machine,
            smaller,
            machine.without(*without),
            invariants=others,
            past_violations=True,
            max_depth=CONSEQUENCE_DEPTH,
            stop_when_found=True,
        )
        _add(late, smaller, result, consequence=True)
    return late


def _add(broken: dict[str, Break], bound: int, result: SearchResult, *, consequence: bool) -> None:
    """Enter a bound's counterexamples: the first bound is the least, a shorter trace the shortest."""
    for name, found in result.counterexamples.items():
        if not found:
            continue
        known = broken.get(name)
        if known is None:
            broken[name] = Break(name, bound, found[0], bound, found[0], consequence)
        elif len(found[0].events) < len(known.shortest.events):
            broken[name] = replace(known, bound=bound, shortest=found[0])
