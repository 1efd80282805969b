"""``foldproof prove --countermodels``: what each missing clause breaks, as traces of the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from foldproof.cli.errors import Exit, IncompleteError, UsageError
from foldproof.cli.options import print_json, writable_directory


def write_countermodels(names: list[str], directory: Path, *, json_output: bool, quiet: bool) -> int:
    """Find, replay, label and write a countermodel for each clause that one of the obligations needs."""
    from foldproof.proofs.countermodel import countermodel  # noqa: PLC0415 - loads z3
    from foldproof.proofs.obligations import CLAUSES_THAT_RULE  # noqa: PLC0415 - loads z3

    wanted = [
        (event, group, clause)
        for (event, group), clauses in CLAUSES_THAT_RULE.items()
        if f"{event}/{group}" in names
        for clause in clauses
    ]
    if not wanted:
        raise UsageError("no clause rules over these obligations; name an inductive step, such as 'Undo/*'")
    directory = writable_directory(directory)
    entries: list[dict[str, Any]] = []
    for event, group, clause in wanted:
        name = f"{event}/{group} without {clause}"
        try:
            found = countermodel(event, group, clause)
        except TimeoutError as error:
            raise IncompleteError(str(error)) from error
        if found is None:
            raise IncompleteError(f"{name}: no countermodel of a size that can be written down")
        path = directory / f"{event}-{group}-without-{clause}.json"
        text = json.dumps(found.trace().model_dump(mode="json"), indent=1)
        try:
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}; name another directory") from error
        run = None if found.run is None else [*map(str, found.run)]
        entry = {
            "obligation": f"{event}/{group}",
            "without": str(clause),
            "label": found.label,
            "run": run,
            "event": str(found.event),
            "broken": list(found.broken),
            "bound": found.bound,
            "file": path.name,
        }
        entries.append(entry)
        if not json_output:
            typer.echo(_line(name, entry))
    if json_output:
        print_json({"countermodels": entries})
    return Exit.HOLDS


def _line(name: str, entry: dict[str, Any]) -> str:
    start = "; ".join(entry["run"] or ["…"])
    broken = ", ".join(entry["broken"]) or "the strengthened invariant alone"
    return f"{name}: {start}; {entry['event']} breaks {broken} ({entry['label']})"
