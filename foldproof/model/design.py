"""The design clauses, and the faults: a fault is the design without some of its clauses.

Source: the seed's design formular (D1-D4) and its list of violations (P1-P12); D5-D9 are what
exhaustive search showed to be needed as well.
"""

from __future__ import annotations

from enum import StrEnum

from foldproof.model.machine import Clauses


class Clause(StrEnum):
    """One rule that the design keeps. Its value is its name in traces and on the command line."""

    D1A_UNDO = "D1a_undo"
    D1A_CLEAR = "D1a_clear"
    D1A_COMPACT = "D1a_compact"
    D1B = "D1b"
    D1C = "D1c"
    D2_RESUME = "D2_resume"
    D4 = "D4"
    D5 = "D5"
    D6_SETTLE = "D6_settle"
    D6_REBASE = "D6_rebase"
    D6_REPAIR = "D6_repair"
    D7 = "D7"
    D8 = "D8"
    D9 = "D9"

    @property
    def says(self) -> str:
        """The rule, in one sentence."""
        return _SAYS[self]


_SAYS: dict[Clause, str] = {
    Clause.D1A_UNDO: "undo repairs the tree",
    Clause.D1A_CLEAR: "clear repairs the tree",
    Clause.D1A_COMPACT: "physical replacement repairs the tree",
    Clause.D1B: "truncation and replacement rebase the gauge from the view, not the raw history",
    Clause.D1C: "truncation, clear and replacement clamp last_observed",
    Clause.D2_RESUME: "a resumed gauge is the estimate of the view, not of the raw history",
    Clause.D4: "an epoch boundary is undo's hard boundary",
    Clause.D5: "compaction never lands while a transition is pending",
    Clause.D6_SETTLE: "switching the fold off settles a pending transition first",
    Clause.D6_REBASE: "switching the fold rebases the gauge",
    Clause.D6_REPAIR: "truncation repairs the tree even while the fold is off",
    Clause.D7: "closing a node rebases the gauge",
    Clause.D8: "a resume commits an interrupted transition whose receipt is stored",
    Clause.D9: "truncation rolls nodes back, it does not clamp them",
}

DESIGN: Clauses = frozenset(Clause)
"""Every clause: the design under which all four invariants hold."""


def without(*clauses: Clause) -> Clauses:
    """The design that lacks these clauses."""
    return DESIGN.difference(clauses)


FAULTS: dict[str, Clauses] = {
    "P1": frozenset({Clause.D1A_UNDO}),
    "P2": frozenset({Clause.D1C}),
    "P3": frozenset({Clause.D1A_CLEAR}),
    "P4": frozenset({Clause.D1B}),
    "P8": frozenset({Clause.D2_RESUME}),
    "P9": frozenset({Clause.D5}),
    "P11": frozenset({Clause.D6_SETTLE, Clause.D6_REBASE, Clause.D6_REPAIR}),
}
"""The seed's faults that the core expresses, each as the set of clauses that it lacks."""

RESERVED_FAULTS: tuple[str, ...] = ("P5", "P6", "P7", "P10", "P12")
"""The seed's faults that belong to the budget machine, not to the core."""
