"""Cards: one state as the page needs it, with everything that is computed from it computed here.

The page has no rules of its own: view, sizes, verdicts and sentences come from the model.
"""

from __future__ import annotations

from typing import Any

from foldproof.explore.trace import encode
from foldproof.model.fold import est, trigger, view
from foldproof.model.labels import core_parts, part_label
from foldproof.model.machine import Machine
from foldproof.model.state import State
from foldproof.report.explorer.lanes import lane, session_of
from foldproof.report.explorer.words import explain
from foldproof.report.text import statement

Card = dict[str, Any]


def card(machine: Machine[Any, Any], state: Any) -> Card:
    """A state as JSON: ``state`` as traces store it, and beside it what the page draws and says."""
    session = session_of(state)
    return {
        "state": encode(state),
        "lane": lane(state),
        "sizes": None if session is None else [trigger(session), est(view(session))],
        "parts": _parts(state),
        "broken": {str(v.invariant): _broken(machine, state, v) for v in machine.violations(state)},
    }


def _parts(state: Any) -> dict[str, str]:
    """The parts of a state by name, each as one short text; history and view are in the lane."""
    if isinstance(state, State):
        return core_parts(state)
    parts: dict[str, str] = {}
    for name, part in state._asdict().items():
        if isinstance(part, State):
            parts |= core_parts(part)
        elif name not in ("history", "surface"):
            parts[name.replace("_", " ")] = part_label(part)
    return parts


def _broken(machine: Machine[Any, Any], state: Any, violation: Any) -> dict[str, Any]:
    told = explain(state, violation, statement(machine, str(violation.invariant)))
    return {
        "equation": violation.equation,
        "left": violation.left,
        "right": violation.right,
        "place": violation.place,
        "why": str(violation),
        "words": told.words,
        "messages": list(told.messages),
        "spans": list(told.spans),
    }
