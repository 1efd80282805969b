"""The rows of the table in docs/findings.md: each finding, and the missing clauses that bring it back."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from foldproof.explore import plain
from foldproof.model.machines import MACHINES

HORIZON = {"core": 4, "budget": 4, "pass": 4, "async": 4, "memories": 5}
"""The bound up to which no shorter trace exists."""


DEPTH = 6
"""How far to look past a first violation (a broken state space need not be finite), and past the horizon."""


class Row(NamedTuple):
    """A finding: the machine that shows it, the clauses that prevent it, the invariant that breaks.

    ``consequence``: the invariant breaks only in runs that have broken another one before;
    ``horizon``: the bound to search up to, where it is not the machine's.
    """

    finding: str
    machine: str
    without: tuple[str, ...]
    invariant: str
    consequence: bool = False
    horizon: int = 0


def _row(
    finding: str, machine: str, without: str, invariant: str, *, consequence: bool = False, horizon: int = 0
) -> Row:
    clauses = tuple(without.split())
    return Row(finding, machine, clauses, invariant, consequence, horizon or HORIZON[machine])


ROWS = (
    _row("P1: an undo into a closed span leaves the tree dangling", "core", "D1a_undo", "IDX"),
    _row("P2: an undo leaves `last_observed` dangling, the next transition is lost", "core", "D1c", "IDX"),
    _row("P3: a clear leaves the epoch dangling", "core", "D1a_clear", "VIEW"),
    _row("P4: an undo rebases the gauge from the raw history", "core", "D1b", "CAL"),
    _row("P5: a summary is written from all of history", "budget", "B3_input", "INPUT"),
    _row("P6: a 413 is judged by the raw history", "budget", "B2_rejected", "OVERFLOW"),
    _row("P7: a useless compaction is repeated", "budget", "B4_futile", "QUIET"),
    _row("P8: a resume estimates the raw history", "core", "D2_resume", "CAL"),
    _row("P9: a compaction lands while a transition is pending", "core", "D5", "SYNC"),
    _row("P9 again, with a compaction in flight", "async", "A1_mutex", "SYNC"),
    _row("P10: compaction costs more as the session ages", "budget", "B3_input", "INPUT"),
    _row("P11: switching the fold is undefined", "core", "D6_settle D6_rebase D6_repair", "CAL"),
    _row("P11: the gauge after a switch", "core", "D6_rebase", "CAL"),
    _row("P11: truncation while the fold is off", "core", "D6_repair", "IDX"),
    _row(
        "P12: published sizes of different moments", "budget", "B11_gauge B11_history B11_tail", "PUBLISHED"
    ),
    _row("v0.2.0: an estimate of the size asks for the size", "budget", "B12_reentry", "REENTRY"),
    _row("v0.2.1 F2: a larger window keeps the pause", "budget", "B7_up", "PAUSED"),
    _row("v0.2.2: published without the tail", "budget", "B11_tail", "PUBLISHED"),
    _row("v0.2.2: not published when the gauge changes", "budget", "B11_gauge", "PUBLISHED"),
    _row("v0.2.2: not published when the history changes", "budget", "B11_history", "PUBLISHED"),
    _row("repro A: the summarizer's input is all of history", "budget", "B3_input", "INPUT"),
    _row("repro B: every turn compacts again", "budget", "B4_futile", "QUIET"),
    _row("repro C: a small view, a 413, a useless compaction", "budget", "B2_rejected", "START"),
    _row("repro D: an undo, then a compaction nobody needs", "core", "D1b", "CAL"),
    _row("repro E: an undo, then a lost transition", "core", "D1c", "SYNC", consequence=True),
    _row("repro F: an undo into a closed span hides what follows", "core", "D1a_undo", "VIEW", horizon=5),
    _row("repro G: a clear hides what follows", "core", "D1a_clear", "VIEW"),
    _row("open question of the seed: clamp, or reset?", "core", "D9", "IDX"),
    _row("physical replacement leaves the tree dangling", "core", "D1a_compact", "SYNC"),
    _row("a close leaves the gauge at the raw size", "core", "D7", "CAL"),
    _row("a resume forgets an accepted transition", "core", "D8", "SYNC"),
    _row("rejected: LLM consolidation of stubs", "pass", "R2_frozen", "FROZEN"),
    _row("rejected: full prefix as the summarizer's input", "budget", "B3_input", "INPUT"),
    _row("rejected: one call emits all outputs", "pass", "R6_own", "TOLD"),
    _row("rejected: boundaries chosen by the model", "pass", "R1_edges", "EDGES"),
    _row("rejected: pointers written by the model", "pass", "R12_footer", "FOOTER"),
    _row("rejected: stubs alone, no state", "pass", "R13_resume", "LAYOUT"),
    _row("the superseded state is skipped, not folded", "pass", "R3_fold", "VIEW"),
    _row("the superseded state folds into the new one", "pass", "R4_two_hops", "HOPS"),
    _row("a legacy head is left where it is", "pass", "R5_adopt", "LAYOUT"),
    _row("a region commits before all summaries exist", "pass", "R7_buffered", "BUFFERED"),
    _row("the guard compares two metrics", "pass", "R8_metric", "SHRINK"),
    _row("the guard is asked again about the same history", "pass", "R9_defer", "DEFER"),
    _row("chunks commit from right to left", "pass", "R10_left", "LAYOUT"),
    _row("the state commits before the stubs", "pass", "R11_last", "LAYOUT"),
    _row("a resumed pass merges what is on the surface", "pass", "R14_base", "TOLD"),
    _row("a resumed state omits what had committed", "pass", "R15_staled", "TOLD"),
    _row("an undo into the range of a pass", "pass", "R16_cancel", "VIEW"),
    _row("an undo past a torn pass's boundary", "pass", "R17_boundary", "VIEW"),
    _row("a compaction starts by the raw size", "budget", "B1_view", "START"),
    _row("the pause ends with the turn", "budget", "B5_turn", "QUIET"),
    _row("the pause outlives the history", "budget", "B6_replaced", "DUE"),
    _row("a smaller window keeps the pause", "budget", "B7_down", "DUE"),
    _row("a resume forgets the pause", "budget", "B8_resume", "QUIET"),
    _row("a turn compacts without end", "budget", "B9_attempts", "ATTEMPTS"),
    _row("two compactions at a time", "budget", "B10_single", "SINGLE"),
    _row("an interrupted step loses its transition", "async", "A2_settle", "SYNC"),
    _row("an interrupted step moves its transition", "async", "A2_settle A3_anchor", "SYNC"),
    _row("a compaction lands on other messages", "async", "A4_fresh", "VIEW"),
    _row("a compaction hides what came meanwhile", "async", "A5_target", "VIEW"),
    _row("a compaction lands inside a span", "async", "A6_edge", "EDGE"),
    _row("ordinals are counted anew", "memories", "M1_ordinals", "CITE"),
    _row(
        "ordinals are given again, and memories stay",
        "memories",
        "M2_fresh M3_roll_back",
        "CITE",
        consequence=True,
    ),
    _row("a memory outlives its close", "memories", "M3_roll_back", "VOICE"),
    _row("a voided child's text comes back", "memories", "M4_notes", "VOICE"),
    _row("a clear keeps the notes", "memories", "M5_clear", "VOICE"),
)

HARMLESS_ALONE = {
    "D4": "the repair drops what a cut passes; its reason is the budget",
    "D6_settle": "its reason is liveness: the transition would wait for ever",
    "A3_anchor": "under A2_settle nothing is left over",
    "M2_fresh": "under M3_roll_back no memory cites what was undone",
}
"""Clauses that no invariant needs while the others hold, and why they stay."""


class Shortest(NamedTuple):
    """A shortest trace, the bound that it takes, and the least bound that breaks the invariant at all."""

    trace: str
    bound: int
    least: int


@cache
def _traces(
    machine: str, without: tuple[str, ...], consequence: bool, bound: int, depth: int | None
) -> dict[str, str]:
    spec = MACHINES[machine]
    design = spec.without(*without)
    result = plain.search(spec, bound, design, past_violations=consequence, max_depth=depth)
    kept = result.counterexamples.items()
    return {name: "; ".join(map(str, found[0].events)) for name, found in kept if found}


def shortest(row: Row) -> Shortest:
    """Search every bound up to the row's horizon for its invariant."""
    best: Shortest | None = None
    for bound in range(row.horizon + 1):
        beyond = row.consequence or bound > HORIZON[row.machine]
        unlimited = DEPTH if beyond else None
        depth = unlimited if best is None else best.trace.count(";")  # only what is shorter still counts
        trace = _traces(row.machine, row.without, row.consequence, bound, depth).get(row.invariant)
        if trace is not None:
            best = Shortest(trace, bound, bound if best is None else best.least)
    if best is None:
        raise AssertionError(f"{row} is not broken within its horizon")
    return best
