"""Results of other commands, read from their ``--json`` output, to stand in the gallery beside the search.

Nothing is assumed: what no file tells is shown as not included, with the command that would tell it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldproof.explore.strict_json import StrictJsonError, read_file

PROVED = "proved"
RUN_KINDS = ("vectors", "short", "random", "refinement")
"""Kinds of conformance run, each with how many it takes until a missing clause is exposed."""


class ResultError(ValueError):
    """A file is not the JSON of a command that the gallery knows."""


@dataclass
class Results:
    """What other commands found: obligations of ``prove``, verdicts of ``conform`` and ``validate`` by
    implementation, scores by missing clause (``conformance.mutation``), refinements
    (``stateful_tests.exhaustive``).
    """

    obligations: list[dict[str, Any]] = field(default_factory=list)
    implementations: list[dict[str, Any]] = field(default_factory=list)
    mutation: dict[str, dict[str, int | None]] = field(default_factory=dict)
    refinements: list[dict[str, Any]] = field(default_factory=list)

    def exposed(self, clauses: list[str], kind: str) -> int:
        """How many of these missing clauses this kind of run exposes."""
        return sum(self.mutation.get(clause, {}).get(kind) is not None for clause in clauses)

    def score(self, kind: str) -> str:
        """How many of all clauses this kind of run exposes, in words."""
        return f"{self.exposed(list(self.mutation), kind)} of {len(self.mutation)}"

    def proofs_of(self, machine: str, invariant: str) -> dict[str, Any] | None:
        """How many obligations speak of an invariant, and how many are proved; None for none."""
        about = [o for o in self.obligations if _speaks_of(o, machine, invariant)]
        if not about:
            return None
        return {"all": len(about), "proved": sum(is_proved(o) for o in about)}

    def verdicts_of(self, invariant: str) -> dict[str, list[str]]:
        """The implementations by their verdict on an invariant, the worst of all their runs."""
        worst: dict[str, str] = {}
        for one in self.implementations:
            verdict = one["invariants"].get(invariant, "unchecked")
            worst[one["name"]] = min(worst.get(one["name"], verdict), verdict, key=_SEVERITY.index)
        by_verdict: dict[str, list[str]] = defaultdict(list)
        for name, verdict in worst.items():
            by_verdict[verdict].append(name)
        return {verdict: by_verdict[verdict] for verdict in _SEVERITY if verdict in by_verdict}


def _speaks_of(obligation: dict[str, Any], machine: str, invariant: str) -> bool:
    """Whether an obligation is a step of the proof of this invariant of this machine.

    A step of the budget machine is about all its invariants at once, one of the pass about its layout.
    ``Undo-below`` is about a design without a clause, so it is no step of the design's proof.
    """
    kind, _, rest = str(obligation["name"]).partition("/")
    if machine == "core":
        in_step = obligation.get("invariant") == invariant and kind != "Undo-below"
        return in_step or (kind, rest) == ("literal", invariant)
    return kind == machine and (machine == "budget" or (machine, invariant) == ("pass", "LAYOUT"))


_SEVERITY = ("violated", "held", "unchecked")


def is_proved(obligation: dict[str, Any]) -> bool:
    """Every solver that was asked proved it, and its mutant was caught."""
    answers = [obligation[solver] for solver in ("z3", "cvc5") if solver in obligation]
    return bool(answers) and all(a == PROVED for a in answers) and not obligation.get("failures")


def read_results(paths: list[Path]) -> Results:
    """Read files. Raises `ResultError`, naming the file and what it should be."""
    results = Results()
    for path in paths:
        try:
            value = read_file(path)
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {error.strerror}") from error
        except StrictJsonError as error:
            raise ResultError(f"{path}: {error}") from error
        try:
            _add(results, value)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ResultError(
                f"{path}: not the JSON of prove, conform, validate, conformance.mutation or "
                f"stateful_tests.exhaustive ({error})"
            ) from error
    return results


def _add(results: Results, value: Any) -> None:
    if "obligations" in value:
        results.obligations += [dict(o) | {"is_proved": is_proved(o)} for o in value["obligations"]]
    elif "mutation" in value:
        for row in value["mutation"]:
            results.mutation[str(row["without"])] = {kind: _count(row[kind]) for kind in RUN_KINDS}
    elif "refinement" in value:
        found = value["refinement"]
        numbers = {name: int(found[name]) for name in ("bound", "states", "transitions", "refusals")}
        results.refinements.append({"implementation": str(found["implementation"])} | numbers)
    elif "files" in value:
        for file in value["files"]:
            if file["verdict"] != "errored":
                results.implementations.append(_implementation(file["implementation"], file))
    else:
        results.implementations.append(_implementation(value["implementation"], value))


def _count(value: Any) -> int | None:
    return None if value is None else int(value)


def _implementation(who: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{who['name']} {who.get('version') or ''}".strip(),
        "verdict": value["verdict"],
        "invariants": {str(k): _SEVERITY[_SEVERITY.index(v)] for k, v in value["invariants"].items()},
        "findings": [
            {name: str(f[name]) for name in ("invariant", "kind", "detail")} | {"clause": f.get("clause")}
            for f in value["findings"]
        ],
        "source": str(value.get("file", "conform")),
    }
