"""The Informal Trace Format (ITF): traces that Apalache, Quint and their viewers read.

Integers are written as ``#bigint``; a value that is absent is the variant ``Nothing``, one that is
present stands as itself. The event and the verdicts of each state stand in its ``#meta``, what else a
trace knows in the ``#meta`` of the document; so an ITF file of ours is read back without loss.

Source: ADR 015 of Apalache.
"""

from __future__ import annotations

from typing import Any

from foldproof.explore.trace import Trace

FORMAT = "ITF"
DESCRIPTION = "A run of a foldproof machine; #meta.event is the event that led to each state."
_NOTHING: dict[str, Any] = {"tag": "Nothing", "value": {}}


def to_itf(trace: Trace) -> dict[str, Any]:
    """A trace as an ITF document, ready for ``json.dump``."""
    document = trace.model_dump(mode="json")
    states = [
        {
            "#meta": {"index": index, "event": event, "verdicts": verdict},
            **{name: _encode(part) for name, part in state.items()},
        }
        for index, (event, state, verdict) in enumerate(
            zip([None, *document["events"]], document["states"], document["verdicts"], strict=True)
        )
    ]
    about = {name: document[name] for name in ("version", "machine", "without", "bound")}
    return {
        "#meta": {"format": FORMAT, "description": DESCRIPTION, "foldproof": about},
        "vars": list(document["states"][0]),
        "states": states,
    }


def is_itf(value: object) -> bool:
    """Whether a JSON value claims to be an ITF document."""
    return isinstance(value, dict) and "states" in value and "#meta" in value


def from_itf(value: dict[str, Any]) -> Trace:
    """The trace in an ITF document of ours. Raises ValueError, naming what it lacks."""
    about = value["#meta"].get("foldproof") if isinstance(value["#meta"], dict) else None
    if not isinstance(about, dict) or not isinstance(value["states"], list):
        raise ValueError("this ITF document does not say which machine it is a run of (#meta.foldproof)")
    events: list[Any] = []
    states: list[Any] = []
    verdicts: list[Any] = []
    for index, state in enumerate(value["states"]):
        meta = state.get("#meta") if isinstance(state, dict) else None
        if not isinstance(meta, dict) or "event" not in meta or "verdicts" not in meta:
            raise ValueError(f"state {index} has no event or no verdicts in its #meta")
        events.append(meta["event"])
        verdicts.append(meta["verdicts"])
        states.append({name: _decode(part) for name, part in state.items() if name != "#meta"})
    return Trace.model_validate({**about, "events": events[1:], "states": states, "verdicts": verdicts})


def _encode(value: Any) -> Any:
    if value is None:
        return _NOTHING
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if isinstance(value, list):
        return [_encode(part) for part in value]
    return {name: _encode(part) for name, part in value.items()}


def _decode(value: Any) -> Any:
    if value == _NOTHING:
        return None
    if isinstance(value, dict):
        if value.keys() == {"#bigint"}:
            return _bigint(value["#bigint"])
        return {name: _decode(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_decode(part) for part in value]
    return value


def _bigint(text: Any) -> int:
    if not isinstance(text, str) or len(text) > 17 or not text.removeprefix("-").isdecimal():
        raise ValueError(f"#bigint {str(text)[:20]!r} is not an integer that a state can hold")
    return int(text)
