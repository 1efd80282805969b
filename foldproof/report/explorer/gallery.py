"""The gallery: every fault's shortest trace as a page, the necessity matrix as a map of them, and one page
that joins search, proof and conformance for each invariant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from foldproof import __version__
from foldproof.explore.matrix import Matrix, Row
from foldproof.explore.result import SearchResult
from foldproof.explore.trace import run
from foldproof.model.core import CORE
from foldproof.model.machine import Machine
from foldproof.report.explorer.cards import card
from foldproof.report.explorer.exhibits import exhibit, search_exhibits
from foldproof.report.explorer.page import asset, embedded, environment, explorer_page
from foldproof.report.explorer.results import Results
from foldproof.report.text import statement

INDEX = "index.html"
FIGURE_SCRIPTS = ("dom.js", "lane.js", "panels.js", "timeline.js", "figure.js")
SHADES = ((3, "h4"), (5, "h3"), (8, "h2"))
"""Up to so many events: the shade of a cell. The fewer it takes, the darker."""


class Wing(NamedTuple):
    """What the gallery shows of one machine: the design's own search, the matrix, each fault's search."""

    machine: Machine[Any, Any]
    design: SearchResult
    matrix: Matrix
    faults: dict[str, SearchResult]


def gallery_pages(wings: Sequence[Wing], results: Results, max_states: int) -> Iterator[tuple[str, str]]:
    """Every page by its file name, the index last, so that nothing it links to is missing."""
    for wing in wings:
        for row in wing.matrix.rows:
            if row.broken:
                yield _row_name(wing, row), _row_page(wing, row, max_states)
        for fault, result in wing.faults.items():
            if len(result.without) > 1 and result.violated:
                shown = search_exhibits(wing.machine, result, max_states)
                title = f"{fault}: the {wing.machine.name} machine without {', '.join(result.without)}"
                yield _fault_name(wing, fault), explorer_page(shown, title, INDEX)
    yield FEATURED_PAGE, _featured_page(max_states)
    yield INDEX, _index(wings, results)


def _row_name(wing: Wing, row: Row) -> str:
    return f"{wing.machine.name}-{'-'.join(row.without)}.html"


def _fault_name(wing: Wing, fault: str) -> str:
    return f"{wing.machine.name}-fault-{fault}.html"


def _row_page(wing: Wing, row: Row, max_states: int) -> str:
    shown = [
        exhibit(
            wing.machine,
            found.shortest.events,
            row.without,
            found.bound,
            key=name,
            max_states=max_states,
        )
        for name, found in row.broken.items()
    ]
    shown.sort(key=lambda one: (one["key"] != "VIEW", len(one["events"])))
    title = f"The {wing.machine.name} machine without {', '.join(row.without)}"
    return explorer_page(shown, title, INDEX)


def _index(wings: Sequence[Wing], results: Results) -> str:
    figures = _figures()
    return (
        environment()
        .get_template("gallery.html.j2")
        .render(
            version=__version__,
            style=asset("page.css") + asset("gallery.css"),
            scripts=[asset(name) for name in FIGURE_SCRIPTS],
            featured={"page": f"{FEATURED_PAGE}#trace=VIEW&step=7", "trace": FEATURED, "figures": figures},
            data=embedded({"figures": figures}),
            wings=[_wing(wing) for wing in wings],
            invariants=[entry for wing in wings for entry in _invariants(wing, results)],
            faults=[entry for wing in wings for entry in _faults(wing)],
            results=results,
        )
    )


def _wing(wing: Wing) -> dict[str, Any]:
    says = {str(clause): str(getattr(clause, "says", "")) for clause in wing.machine.clauses}
    return {
        "name": wing.machine.name,
        "bound": wing.matrix.bound,
        "invariants": wing.matrix.invariants,
        "rows": [
            {
                "without": " + ".join(row.without),
                "says": "; ".join(says[clause] for clause in row.without),
                "page": _row_name(wing, row) if row.broken else None,
                "cells": [_cell(wing, row, name) for name in wing.matrix.invariants],
            }
            for row in wing.matrix.rows
        ],
    }


def _cell(wing: Wing, row: Row, invariant: str) -> dict[str, Any] | None:
    found = row.broken.get(invariant)
    if found is None:
        return None
    events = len(found.shortest.events)
    return {
        "page": f"{_row_name(wing, row)}#trace={invariant}&step={events}",
        "events": events,
        "bound": found.bound,
        "consequence": found.consequence,
        "shade": next((name for most, name in SHADES if events <= most), "h1"),
        "trace": "; ".join(map(str, found.shortest.events)),
    }


def _invariants(wing: Wing, results: Results) -> Iterator[dict[str, Any]]:
    """For each invariant of a machine what the search, the proofs and the implementations say of it."""
    for name in map(str, wing.machine.invariants):
        is_core = wing.machine is CORE
        yield {
            "machine": wing.machine.name,
            "name": name,
            "says": statement(wing.machine, name),
            "search": wing.design.verdict(name),
            "states": wing.design.states,
            "bound": wing.design.bound,
            "clauses": [" + ".join(r.without) for r in wing.matrix.rows if name in r.broken],
            "proofs": results.proofs_of(wing.machine.name, name),
            "verdicts": results.verdicts_of(name) if is_core else {},
        }


def _faults(wing: Wing) -> Iterator[dict[str, Any]]:
    says = {str(clause): str(getattr(clause, "says", "")) for clause in wing.machine.clauses}
    for fault, result in wing.faults.items():
        single = len(result.without) == 1
        page = f"{wing.machine.name}-{result.without[0]}.html" if single else _fault_name(wing, fault)
        yield {
            "machine": wing.machine.name,
            "name": fault,
            "without": result.without,
            "rule": "; ".join(says[clause] for clause in result.without),
            "page": page if result.violated else None,
            "broken": [
                {
                    "name": name,
                    "page": f"{page}#trace={name}",
                    "trace": "; ".join(map(str, found[0].events)),
                }
                for name, found in result.counterexamples.items()
                if found
            ],
            "bound": result.bound,
        }


FEATURED = "Call(open); StepEnd; AppendUser; Call(close); StepEnd; Undo(2)"
FEATURED_WITHOUT = "D1a_undo"
FEATURED_PAGE = "repro-f.html"
"""Repro F of the seed: the shortest run after which the model does not see what its user says."""


def _featured_page(max_states: int) -> str:
    """Repro F as a page of its own, with the prompt that it swallows."""
    events = _events(f"{FEATURED}; AppendUser")
    shown = exhibit(CORE, events, (FEATURED_WITHOUT,), 5, key="VIEW", max_states=max_states)
    return explorer_page([shown], "Repro F: an undo makes the next prompt invisible", INDEX)


def _events(text: str) -> list[Any]:
    return [CORE.event_from_name(name) for name in text.split("; ")]


def _figures() -> list[dict[str, Any]]:
    """Repro F in four pictures: cards up to the state that each shows."""
    events = _events(f"{FEATURED}; AppendUser")
    fault = [card(CORE, s) for s in run(CORE, events, CORE.without(FEATURED_WITHOUT))]
    design = [card(CORE, s) for s in run(CORE, events, CORE.design)]
    cut = len(events) - 1
    return [
        {
            "title": "1. Before the undo",
            "text": "A span was closed, so the model is sent one memory in place of messages #0 to #2, "
            "and after it the call that closed the span.",
            "cards": fault[:cut],
        },
        {
            "title": "2. The undo, tree not repaired",
            "text": "The user takes back prompt #2 and all after it. The span still reaches to index 2: "
            "its memory speaks for a prompt that is gone.",
            "cards": fault[: cut + 1],
        },
        {
            "title": "3. The next prompt is swallowed",
            "text": "The user's new prompt, #5, lands at index 2, inside the stale span. The model is sent "
            "the old memory and never sees the prompt.",
            "cards": fault,
        },
        {
            "title": "4. The design, same events",
            "text": "The undo rolls the tree back: the span is open again, nothing is folded, and the model "
            "sees prompt #5.",
            "cards": design,
        },
    ]
