"""A search's state on disk, written after a layer: a long run goes on where it was cut off.

A checkpoint is one numpy archive without pickles: keys, bits, frontier and counts as arrays, and a header
as JSON with what was searched and the parts that the keys number. It is written beside and then put in
place, so that there is always a whole one. Edges are not stored: they are worked out again.
"""

from __future__ import annotations

import json
import os
import zipfile
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from foldproof.explore.bulk_layers import Layer
from foldproof.explore.bulk_low import BulkError
from foldproof.explore.bulk_run import Run
from foldproof.explore.bulk_runs import Met
from foldproof.model import state as types

VERSION = 1

_PARTS = ("histories", "nodes", "borders", "pendings")


def save(run: Run, path: Path) -> None:
    """Write a run between two layers. Raises `BulkError` where the file cannot be written."""
    header = _identity(run) | {
        "depth": run.depth,
        "states": run.states,
        "transitions": run.transitions,
        "met": {name: [met.depth for met in found] for name, found in run.met.items()},
        "parts": {
            name: [_plain(part) for part in getattr(run.tables.parts, name).since(0)] for name in _PARTS
        },
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "keys": run.graph.index.keys.array,
        "frontier_rows": run.frontier.rows,
        "frontier_bits": run.frontier.bits,
        **run.bits.stored(),
    }
    for name, found in run.met.items():
        for place, met in enumerate(found):
            arrays[f"met_{name}_{place}_rows"] = met.states.rows
            arrays[f"met_{name}_{place}_bits"] = met.states.bits
    beside = path.with_name(path.name + ".part")
    try:
        with beside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise BulkError(f"cannot write the checkpoint {path}: {error.strerror}") from error


def load(run: Run, path: Path) -> None:
    """Put a fresh run where a checkpoint left off.

    Raises `BulkError` for a file that is not a whole checkpoint, or one of another search.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            stored = dict(archive)
        header = json.loads(stored["header"].tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise BulkError(f"{path} is not a whole checkpoint ({error}); remove it to start anew") from error
    for name, expected in _identity(run).items():
        if header.get(name) != expected:
            raise BulkError(
                f"{path} is a checkpoint of another search: its {name} is {header.get(name)!r}, "
                f"not {expected!r}; name another file, or remove it"
            )
    numbers = {
        name: np.array([getattr(run.tables.parts, name).number(_part(p)) for p in header["parts"][name]])
        for name in _PARTS
    }
    run.keep = False  # the layers before are gone: counterexamples will search once more
    rows = run.graph.rows(run.graph.renumbered(stored["keys"], numbers))
    run.bits.restore(rows, stored)
    run.depth, run.states, run.transitions = header["depth"], header["states"], header["transitions"]
    run.frontier = Layer(rows[stored["frontier_rows"]].astype(np.int64), stored["frontier_bits"])
    for name, depths in header["met"].items():
        run.met[name] = [
            Met(
                depth,
                Layer(
                    rows[stored[f"met_{name}_{place}_rows"]].astype(np.int64),
                    stored[f"met_{name}_{place}_bits"],
                ),
            )
            for place, depth in enumerate(depths)
        ]


def _identity(run: Run) -> dict[str, Any]:
    tables = run.tables
    without = [str(clause) for clause in tables.machine.clauses if clause not in tables.design]
    return {
        "version": VERSION,
        "machine": tables.machine.name,
        "bound": tables.bound,
        "without": without,
        "checked": list(run.checked),
    }


def _plain(part: Any) -> Any:
    """A part as JSON: named tuples and enumerations with their type, plain tuples as lists."""
    if isinstance(part, Enum):
        return {"enum": type(part).__name__, "value": part.value}
    if isinstance(part, tuple) and hasattr(part, "_fields"):
        return {"type": type(part).__name__, "values": [_plain(value) for value in part]}
    if isinstance(part, tuple):
        return [_plain(value) for value in part]
    return part


def _part(plain: Any) -> Any:
    """The inverse of `_plain`."""
    if isinstance(plain, list):
        return tuple(_part(value) for value in plain)
    if isinstance(plain, dict):
        if "enum" in plain:
            return getattr(types, plain["enum"])(plain["value"])
        return getattr(types, plain["type"])(*(_part(value) for value in plain["values"]))
    return plain
