"""What each command's ``--json`` prints, as models: the fields that are promises, by type.

A command may print more than is promised, never less. The schemas in ``foldproof/cli/schemas`` are
written from these models by ``python -m foldproof.cli.promises``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt

FOLDER = Path(__file__).parent / "schemas"

Held = Literal["held", "violated", "unchecked"]
Verdict = Literal["held", "violated", "unchecked", "errored"]
Proof = Literal["proved", "refuted", "unknown"]


class Promise(BaseModel):
    """A JSON object that has at least these fields."""

    model_config = ConfigDict(extra="allow", strict=True)


class InvariantResult(Promise):
    """One invariant: a counterexample has its events, their number, and the two sides that differ."""

    verdict: Held
    trace: list[str] | None = None
    at: NonNegativeInt | None = None
    why: str | None = None


class Check(Promise):
    """``foldproof check --json``."""

    machine: str
    bound: NonNegativeInt
    design: list[str]
    engine: str
    states: NonNegativeInt
    transitions: NonNegativeInt
    depth: NonNegativeInt
    seconds: NonNegativeFloat
    invariants: dict[str, InvariantResult]


class Simulate(Check):
    """``foldproof simulate --json``."""

    runs: NonNegativeInt


class Broken(Promise):
    """How an invariant breaks: a shortest trace, and the least bound that has one of its length."""

    bound: NonNegativeInt
    trace: list[str]


class MatrixRow(Promise):
    """A design without some clauses."""

    without: list[str]
    broken: dict[str, Broken]


class Matrix(Promise):
    """``foldproof matrix --json``."""

    rows: list[MatrixRow]


class Replay(Promise):
    """``foldproof replay --json``."""

    steps: list[dict[str, Any]]
    verdicts: dict[str, Held]


class Finding(Promise):
    """One violation that an observer saw."""

    step: NonNegativeInt
    event: str
    invariant: str
    kind: str
    ids: list[str]
    detail: str
    clause: str | None


class ValidatedFile(Promise):
    """One recorded run."""

    file: str
    implementation: dict[str, Any]
    steps: NonNegativeInt
    verdict: Verdict
    invariants: dict[str, Held]
    findings: list[Finding]


class Validate(Promise):
    """``foldproof validate --json``."""

    files: list[ValidatedFile]


class ConformFinding(Finding):
    """A finding with the shortest script that shows it."""

    trace: list[str]


class Conform(Promise):
    """``foldproof conform --json``."""

    implementation: dict[str, Any]
    mode: Literal["invariants", "refinement"]
    verdict: Verdict
    invariants: dict[str, Held]
    findings: list[ConformFinding]
    coverage: dict[str, Any]
    seconds: NonNegativeFloat


class SmokeCheck(Promise):
    """One question to an adapter; ``passed`` is null where it could not be asked."""

    name: str
    passed: bool | None
    detail: str


class Smoke(Promise):
    """``foldproof smoke --json``."""

    verdict: Literal["held", "errored"]
    checks: list[SmokeCheck]


class Scaffold(Promise):
    """``foldproof scaffold --json``: the files that were written, and the adapter's command."""

    language: str
    files: list[str]
    command: list[str]


class Obligation(Promise):
    """One proof obligation and what each solver said; ``mutant`` is what it was shown to catch."""

    name: str
    statement: str
    event: str | None = None
    invariant: str | None = None
    z3: Proof | None = None
    cvc5: Proof | None = None
    seconds: NonNegativeFloat
    mutant: str | None


class Prove(Promise):
    """``foldproof prove --json``."""

    obligations: list[Obligation]


class Pass(Promise):
    """One compaction pass; counts are tokens."""

    stubs: NonNegativeInt
    regions: NonNegativeInt
    tokens_before: NonNegativeInt
    tokens_after: NonNegativeInt
    cache_missed_tokens: NonNegativeInt | None
    summarizer_input_tokens: NonNegativeInt


class Compact(Promise):
    """``foldproof compact --json``."""

    messages: NonNegativeInt
    passes: list[Pass]
    surface: dict[str, Any]


class RecallSearch(Promise):
    """``foldproof recall search --json``."""

    matches: list[dict[str, Any]]
    scanned: NonNegativeInt
    matched: NonNegativeInt
    truncated: bool


class RecallRead(Promise):
    """``foldproof recall read --json``."""

    checkpoint: str
    text: str
    offset: NonNegativeInt
    next_offset: NonNegativeInt | None


class FirstViolation(Promise):
    """Where a run first violates an invariant, and which."""

    step: NonNegativeInt
    invariant: str


class ExploredRun(Promise):
    """One run of a page: its name in the page's address, its events, and where it breaks, if it does."""

    trace: str
    machine: str
    without: list[str]
    events: list[str]
    first: FirstViolation | None


class Explore(Promise):
    """``foldproof explore --json``."""

    file: str
    exhibits: list[ExploredRun]


class Gallery(Promise):
    """``foldproof gallery --json``: the first page, and the names of all in its folder."""

    index: str
    pages: list[str]


PROMISES: dict[str, type[Promise]] = {
    "check": Check,
    "simulate": Simulate,
    "matrix": Matrix,
    "replay": Replay,
    "validate": Validate,
    "conform": Conform,
    "smoke": Smoke,
    "scaffold": Scaffold,
    "prove": Prove,
    "compact": Compact,
    "recall-search": RecallSearch,
    "recall-read": RecallRead,
    "explore": Explore,
    "gallery": Gallery,
}
"""The model of each command's JSON, by the name of its schema file."""


def schemas() -> dict[str, str]:
    """Each schema's text, by file name."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        f"{name}.json": json.dumps(dialect | model.model_json_schema(), indent=1) + "\n"
        for name, model in PROMISES.items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in schemas().items():
        (FOLDER / file).write_text(text, encoding="utf-8")
