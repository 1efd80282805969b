"""The gallery: every fault's shortest trace as a page, the necessity matrix as a map of them, and one page
that joins search, proof and conformance for each invariant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from foldproof import __version__
from foldproof.explore.matrix import CONSEQUENCE_BOUND, CONSEQUENCE_DEPTH, Matrix, Row
from foldproof.explore.result import SearchResult
from foldproof.explore.trace import run
from foldproof.model.core import CORE
from foldproof.model.machine import Machine
from foldproof.report.explorer.cards import card
from foldproof.report.explorer.exhibits import exhibit, search_exhibits
from foldproof.report.explorer.page import asset, embedded, environment, explorer_page
from foldproof.report.explorer.results import RUN_KINDS, Results
from foldproof.report.text import statement

INDEX = "index.html"
FIGURE_SCRIPTS = ("dom.js", "lane.js", "panels.js", "timeline.js", "figure.js")
SUBJECTS = {
    "core": "one session: its history, task tree, token gauge and pending call",
    "budget": "when a compaction starts, what it is given, and which sizes are published",
    "pass": "one recallable pass in small steps, with crashes between them",
    "async": "a compaction that begins, summarises and lands among everything else",
    "memories": "texts that outlive what they tell: citations of prompts, children's memories",
}
"""What each machine is about, in one line."""

REPROS = {"P10": "A", "P7": "B", "P6": "C", "P4": "D", "P2": "E", "P1": "F", "P3": "G"}
"""The seed's reproductions, by the fault that each one shows."""

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
            featured={
                "page": f"{FEATURED_PAGE}#trace=VIEW&step={len(_featured())}",
                "trace": FEATURED,
                "figures": figures,
            },
            machines={wing.machine.name: SUBJECTS[wing.machine.name] for wing in wings},
            alone=[
                row.without[0]
                for wing in wings
                for row in wing.matrix.rows
                if not row.broken and len(row.without) == 1
            ],
            consequence={"bound": CONSEQUENCE_BOUND, "events": CONSEQUENCE_DEPTH},
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
            "refined": results.refinements if is_core else [],
            "scores": _scores(wing, name, results) if is_core else None,
            "proofs": results.proofs_of(wing.machine.name, name),
            "verdicts": results.verdicts_of(name) if is_core else {},
        }


def _scores(wing: Wing, invariant: str, results: Results) -> dict[str, int] | None:
    """Of the clauses that this invariant needs, how many each kind of conformance run exposes."""
    needed = [row.without[0] for row in wing.matrix.rows if invariant in row.broken and len(row.without) == 1]
    if not results.mutation or not needed:
        return None
    return {"of": len(needed)} | {kind: results.exposed(needed, kind) for kind in RUN_KINDS}


def _faults(wing: Wing) -> Iterator[dict[str, Any]]:
    says = {str(clause): str(getattr(clause, "says", "")) for clause in wing.machine.clauses}
    for fault, result in wing.faults.items():
        single = len(result.without) == 1
        page = f"{wing.machine.name}-{result.without[0]}.html" if single else _fault_name(wing, fault)
        yield {
            "machine": wing.machine.name,
            "name": fault,
            "repro": REPROS.get(fault),
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


FEATURED = "Call(open); StepEnd; AppendUser; Call(close); StepEnd; Undo(2); AppendUser"
FEATURED_WITHOUT = "D1a_undo"
FEATURED_PAGE = "repro-f.html"
"""Repro F of the seed: the shortest run after which the model does not see what its user says."""


def _featured_page(max_states: int) -> str:
    """Repro F as a page of its own."""
    shown = exhibit(CORE, _featured(), (FEATURED_WITHOUT,), 5, key="VIEW", max_states=max_states)
    return explorer_page([shown], "Repro F: an undo makes the next prompt invisible", INDEX)


def _featured() -> list[Any]:
    return [CORE.event_from_name(name) for name in FEATURED.split("; ")]


def _figures() -> list[dict[str, Any]]:
    """Repro F in four pictures: cards up to the state that each shows."""
    events = _featured()
    fault = [card(CORE, s) for s in run(CORE, events, CORE.without(FEATURED_WITHOUT))]
    design = [card(CORE, s) for s in run(CORE, events, CORE.design)]
    last = len(events)
    return [
        _figure(
            f"1. After event {last - 2}: before the undo",
            "A span of work was closed, so the model is sent one memory in place of messages #0 to #2, and "
            "after it the call that closed the span (#3) and its receipt (#4).",
            fault[: last - 1],
        ),
        _figure(
            f"2. After event {last - 1}: the undo, tree not repaired",
            "The user takes back prompt #2 and all that followed. The span still reaches to index 2: its "
            "memory speaks for a prompt that is gone, and rests on a call that is gone.",
            fault[:last],
        ),
        _figure(
            f"3. After event {last}: the next prompt is swallowed",
            "The user's new prompt, #5, lands at index 2, inside the stale span. The model is sent the old "
            "memory alone and never sees the prompt.",
            fault,
        ),
        _figure(
            f"4. After event {last} in the design",
            "The same events, but the undo rolled the tree back: the span is open again, nothing is folded, "
            "and the model sees prompt #5.",
            design,
        ),
    ]


def _figure(title: str, text: str, cards: list[Any]) -> dict[str, Any]:
    return {"title": title, "text": text, "cards": cards, "broken": cards[-1]["broken"]}
