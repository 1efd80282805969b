"""The verdict on a run as text and as JSON: the same words from validate and conform."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from foldproof.conformance.checker import Checker, Finding
from foldproof.model.design import Clause

MAX_SIDE = 160


def file_json(name: str, checker: Checker, findings: Sequence[Finding], steps: int) -> dict[str, Any]:
    """The entry of one file in the JSON that ``validate`` promises."""
    who = checker.handshake.implementation
    return {
        "file": name,
        "implementation": {"name": who.name, "language": who.language, "version": who.version},
        "steps": steps,
        "verdict": "violated" if findings else "held",
        "invariants": checker.verdicts(),
        "findings": [finding.to_json() for finding in findings],
        "notes": [finding.to_json() for finding in checker.notes],
    }


def run_lines(checker: Checker, findings: Sequence[Finding], steps: int) -> Iterator[str]:
    """A checked run, for reading: verdicts, then each finding with its step, both sides and its clause."""
    verdicts = checker.verdicts()
    yield f"{label(checker)}: {steps} steps; " + ", ".join(f"{name} {v}" for name, v in verdicts.items())
    for finding in findings:
        yield from (f"  {line}" for line in finding_lines(finding))
    redundant = sorted({i for note in checker.notes for i in note.ids})
    if redundant:
        steps_noted = ", ".join(str(note.step) for note in checker.notes)
        yield f"  note: shown and also claimed by a memory (redundant, no violation): {' '.join(redundant)}"
        yield f"        from step {steps_noted} on"


def finding_lines(finding: Finding) -> Iterator[str]:
    """One finding: what, why (the two sides), and the clause that explains it."""
    yield f"step {finding.step} ({finding.event}): {finding.invariant} {finding.kind}: {finding.detail}"
    if finding.invariant in ("VIEW", "SYNC", "REFINEMENT"):
        yield f"    {'view' if finding.invariant == 'VIEW' else 'observed':<8} {_short(finding.left)}"
        yield f"    {'live' if finding.invariant == 'VIEW' else 'expected':<8} {_short(finding.right)}"
    if finding.clause is not None:
        yield f"    explained by a missing {finding.clause}: {Clause(finding.clause).says}"


def label(checker: Checker) -> str:
    """Who answered, with its version."""
    who = checker.handshake.implementation
    return f"{who.name} {who.version}" if who.version else who.name


def _short(text: str) -> str:
    return text if len(text) <= MAX_SIDE else text[: MAX_SIDE - 1] + "…"
