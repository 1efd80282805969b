"""The mutation score: which kind of run exposes which faulty design.

``python -m foldproof.conformance.mutation`` prints the table of docs/conformance.md, with ``--json`` as one
object that ``foldproof gallery --results`` takes. In process, with fixed seeds: the figures are the same on
every machine.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator

from foldproof.conformance.ledger import Ledger
from foldproof.conformance.protocol import EventRequest, Reply
from foldproof.conformance.recording import record_script
from foldproof.conformance.refinement import Refinement
from foldproof.conformance.scenarios import SCENARIOS
from foldproof.conformance.script import WORDS, event_of, sensible
from foldproof.conformance.sweeps import short_scripts
from foldproof.model.design import Clause, without

RANDOM_SCRIPTS = 150
RANDOM_STEPS = 18
SHORT = 4


def random_scripts(count: int, steps: int, seed: int = 0) -> Iterator[tuple[str, ...]]:
    """Random sensible scripts, as if all that they say were applied."""
    source = random.Random(seed)
    for _ in range(count):
        ledger, script = Ledger(), list[str]()
        while len(script) < steps:
            options = [w for w in WORDS if sensible(w, ledger, script[-1] if script else None)]
            if not options:
                break
            word = source.choice(options)
            request = EventRequest(cmd="event", seq=len(script) + 1, event=event_of(word, ledger))
            ledger.apply(request, Reply(seq=request.seq, status="applied"))
            script.append(word)
        yield tuple(script)


def exposes(clause: Clause, script: str, *, refine: bool = False) -> bool:
    """Whether a script shows that a design lacks a clause, by the invariants or by refinement."""
    _, exchanges, checker = record_script(without(clause), script)
    if checker.findings:
        return True
    refinement = Refinement()
    return refine and any(refinement.compare(exchange) is not None for exchange in exchanges)


def first(clause: Clause, scripts: list[tuple[str, ...]], *, refine: bool = False) -> str:
    """How many scripts it takes, or a dash where none of them shows it."""
    for number, script in enumerate(scripts, 1):
        if exposes(clause, " ".join(script), refine=refine):
            return str(number)
    return "-"


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Per clause: vectors that expose it, then the first short, random, and refinement vector to do so."""
    vectors = [tuple(scenario.script.split()) for scenario in SCENARIOS]
    short = [script for length in range(1, SHORT + 1) for script in short_scripts(length, WORDS)]
    chance = list(random_scripts(RANDOM_SCRIPTS, RANDOM_STEPS))
    for clause in Clause:
        hits = sum(exposes(clause, " ".join(script)) for script in vectors)
        yield (
            str(clause),
            str(hits) if hits else "-",
            first(clause, short),
            first(clause, chance),
            first(clause, vectors, refine=True),
        )


def table() -> str:
    """The table as Markdown, the score in its last row."""
    lines = ["| without | vectors | short | random | refinement |", "|---|---|---|---|---|"]
    found = list(rows())
    lines += [f"| {' | '.join(row)} |" for row in found]
    scores = [f"{sum(row[c] != '-' for row in found)} of {len(found)}" for c in range(1, 5)]
    return "\n".join([*lines, f"| **score** | {' | '.join(scores)} |"])


KINDS = ("vectors", "short", "random", "refinement")


def as_json() -> str:
    """The table as one JSON object; null where a kind of run does not expose the clause."""
    found = [
        {"without": clause}
        | {kind: None if n == "-" else int(n) for kind, n in zip(KINDS, numbers, strict=True)}
        for clause, *numbers in rows()
    ]
    return json.dumps({"mutation": found}, indent=1)


if __name__ == "__main__":
    print(as_json() if "--json" in sys.argv[1:] else table())
