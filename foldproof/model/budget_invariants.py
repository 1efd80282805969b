"""The budget's properties, each an invariant over the state and its history variables.

Two of them are bounded responses: DUE (a crossed threshold is answered before the next request) and
QUIET (a useless compaction is not repeated until the history is replaced or the window changes).
"""

from __future__ import annotations

from collections.abc import Callable

from foldproof.model.budget_state import MAX_ATTEMPTS, MESSAGE, BudgetState, Sizes
from foldproof.model.machine import Violation


def inv_start(s: BudgetState) -> Violation | None:
    """START: a compaction starts only if the view, with its overhead, reaches the threshold."""
    d = s.decision
    if d is None or not d.starts or d.size >= d.limit:
        return None
    return Violation(
        "START", "starts => size >= limit", f"size = {d.size}", f"limit = {d.limit}", "the start"
    )


def inv_due(s: BudgetState) -> Violation | None:
    """DUE: before a step, a view that reaches the threshold starts one, unless paused or busy."""
    d = s.decision
    if d is None or d.overflow is not None or d.starts or d.paused or d.busy or d.size < d.limit:
        return None
    return Violation("DUE", "size >= limit => starts", f"size = {d.size}", f"limit = {d.limit}", "the step")


def inv_quiet(s: BudgetState) -> Violation | None:
    """QUIET: after a useless compaction none starts until the history is replaced or the window changes."""
    d = s.decision
    if d is None or not (d.starts and d.paused):
        return None
    return Violation("QUIET", "useless => not starts", "useless", "starts", "the start")


def inv_single(s: BudgetState) -> Violation | None:
    """SINGLE: at most one compaction is in flight."""
    if s.in_flight <= 1:
        return None
    return Violation("SINGLE", "in_flight <= 1", f"in_flight = {s.in_flight}", "1", "the start")


def inv_paused(s: BudgetState) -> Violation | None:
    """PAUSED: a pause has its reason: what the last compaction left reaches this window's threshold."""
    if not s.futile or (s.floor is not None and s.floor >= s.window.limit):
        return None
    return Violation(
        "PAUSED", "futile => floor >= limit", f"floor = {s.floor}", f"limit = {s.window.limit}", "the window"
    )


def inv_overflow(s: BudgetState) -> Violation | None:
    """OVERFLOW: a 413 is an overflow exactly if the view, with its overhead, reaches the threshold."""
    d = s.decision
    if d is None or d.overflow is None or d.overflow == (d.size >= d.limit):
        return None
    return Violation(
        "OVERFLOW",
        "overflow == (size >= limit)",
        f"overflow = {d.overflow}",
        f"{d.size} >= {d.limit}",
        "the 413",
    )


def inv_attempts(s: BudgetState) -> Violation | None:
    """ATTEMPTS: one turn compacts at most `MAX_ATTEMPTS` times for a provider's 413."""
    if s.attempts <= MAX_ATTEMPTS:
        return None
    return Violation("ATTEMPTS", "attempts <= max", f"attempts = {s.attempts}", str(MAX_ATTEMPTS), "the turn")


def inv_input(s: BudgetState) -> Violation | None:
    """INPUT: a summary is written from the current epoch and the previous memory, and from nothing else."""
    d = s.decision
    if d is None or not d.starts or d.given == d.needed:
        return None
    return Violation(
        "INPUT", "input == epoch + memory", f"input = {d.given}", f"epoch = {d.needed}", "the start"
    )


def inv_published(s: BudgetState) -> Violation | None:
    """PUBLISHED: ``projected == trigger``, ``raw == est(history)``, and so ``raw >= projected``."""
    trigger = s.view if s.gauge is None else s.gauge.tokens + MESSAGE * (s.stored - s.gauge.length)
    if s.published == Sizes(trigger, s.raw) and s.published.raw >= s.published.projected:
        return None
    return Violation(
        "PUBLISHED",
        "published == (trigger, raw), raw >= projected",
        f"{tuple(s.published)}",
        f"{(trigger, s.raw)}",
        "the status line",
    )


def inv_reentry(s: BudgetState) -> Violation | None:
    """REENTRY: no estimate begins while one is running."""
    if s.depth <= 1:
        return None
    return Violation("REENTRY", "depth <= 1", f"depth = {s.depth}", "1", "the status line")


INVARIANTS: dict[str, Callable[[BudgetState], Violation | None]] = {
    "START": inv_start,
    "DUE": inv_due,
    "QUIET": inv_quiet,
    "SINGLE": inv_single,
    "PAUSED": inv_paused,
    "OVERFLOW": inv_overflow,
    "ATTEMPTS": inv_attempts,
    "INPUT": inv_input,
    "PUBLISHED": inv_published,
    "REENTRY": inv_reentry,
}
