"""Violations in plain words: who is hidden, who is back from the dead, which number is wrong.

The equation says *that* a state is wrong; a reader asks *what* is wrong with it. Of the core's four
invariants that can be told from the two sides; of any other the equation itself has to do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from foldproof.model.fold import est, flatten, trigger, view
from foldproof.model.invariants import anchors
from foldproof.model.machine import Violation
from foldproof.model.receipts import Transition, accepted_transitions, recorded_transitions
from foldproof.model.state import State, ids
from foldproof.report.explorer.lanes import lane, session_of


class Explanation(NamedTuple):
    """A sentence, and what it speaks of: message ids, and positions of spans in the tree."""

    words: str
    messages: tuple[int, ...] = ()
    spans: tuple[int, ...] = ()


def explain(state: Any, violation: Violation, says: str = "") -> Explanation:
    """What a violation means for the state in which it stands; ``says`` is what the invariant says."""
    s = session_of(state)
    name = str(violation.invariant)
    told: Explanation | None = None
    if s is not None and name in _TELL:
        told = _TELL[name](s)
    elif name == "VIEW":
        told = _surface(state)
    rule = says.rstrip(".") or violation.equation
    return told or Explanation(f"It must hold that {rule}; here {violation.left}, {violation.right}.")


def _view(s: State) -> Explanation | None:
    told = _accounted(flatten(view(s)), ids(s.history))
    if told is None:
        return None
    spans = [
        position
        for position, node in enumerate(s.tree.nodes)
        if node.memory is not None and not set(told.messages).isdisjoint(node.memory.covers)
    ]
    return told._replace(spans=tuple(spans))


def _surface(state: Any) -> Explanation | None:
    """The same of a machine that keeps what the model is sent instead of folding it anew."""
    drawn = lane(state)
    if drawn is None or drawn["items"] is None:
        return None
    spoken = [i for item in drawn["items"] for i in item.get("covers", [item.get("id")])]
    return _accounted(spoken, [message["id"] for message in drawn["messages"]])


def _accounted(spoken: Sequence[int], stored: Sequence[int]) -> Explanation | None:
    """What a view speaks for, against what is stored."""
    if tuple(spoken) == tuple(stored):
        return None
    gone = sorted({i for i in spoken if i not in stored})
    hidden = [i for i in stored if i not in spoken]
    twice = sorted(i for i, times in Counter(spoken).items() if times > 1 and i in stored)
    told = []
    if gone:
        told.append(f"the view still speaks for {_names(gone)}, which {_is(gone)} no longer stored")
    if hidden:
        told.append(
            f"the view leaves out {_names(hidden)}, which {_is(hidden)} live: the model never sees it"
        )
    if twice:
        told.append(f"the view speaks for {_names(twice)} more than once")
    if not told:
        told.append("the view tells the messages in another order than they were stored in")
    return Explanation(_sentence(told), (*gone, *hidden, *twice))


def _idx(s: State) -> Explanation | None:
    length = len(s.history)
    wrong = [anchor for anchor in anchors(s) if not anchor.holds(length)]
    if not wrong:
        return None
    end = f"the history ends at {length - 1}" if length else "the history is empty"
    told, spans = [], []
    for anchor in wrong:
        node = _NODE.fullmatch(anchor.name)
        if node is None:
            told.append(f"{_ANCHORS[anchor.name]} {anchor.value}")
        else:
            told.append(f"node {node['position']} {node['end']}s at {anchor.value}")
            spans.append(int(node["position"]))
    return Explanation(f"{_sentence(told)[:-1]}, but {end}.", (), tuple(spans))


def _cal(s: State) -> Explanation | None:
    believed, true = trigger(s), est(view(s))
    if believed == true:
        return None
    consequence = "it compacts too early" if believed > true else "it compacts too late"
    return Explanation(
        f"The session believes that the model is sent {believed} tokens; it is sent {true}, so {consequence}."
    )


def _sync(s: State) -> Explanation | None:
    since = s.tree.epoch_start_at
    recorded = Counter(recorded_transitions(s.tree, since))
    accepted = Counter(accepted_transitions(s, since))
    told = []
    if unfounded := sorted((recorded - accepted).elements()):
        told.append(f"the tree records {_transitions(unfounded)}, for which no receipt is stored")
    if lost := sorted((accepted - recorded).elements()):
        told.append(f"a receipt accepted {_transitions(lost)}, which the tree does not record")
    if not told:
        return None
    at = {t.position for t in (*unfounded, *lost)}
    return Explanation(_sentence(told), tuple(m.id for i, m in enumerate(s.history) if i in at))


_NODE = re.compile(r"nodes\[(?P<position>\d+)\]\.(?P<end>open|close)e?d_at")
_ANCHORS = {
    "epoch_start_at": "the epoch starts at",
    "last_observed": "what was last observed ends at",
    "gauge.length": "the gauge counts messages up to",
    "epoch_memory_at": "the epoch's memory is message",
}

_TELL = {"VIEW": _view, "IDX": _idx, "CAL": _cal, "SYNC": _sync}


def _names(messages: Iterable[int]) -> str:
    return _joined([f"#{i}" for i in messages])


def _is(messages: list[int]) -> str:
    return "is" if len(messages) == 1 else "are"


def _transitions(transitions: list[Transition]) -> str:
    return _joined([f"{'an' if t.kind == 'open' else 'a'} {t.kind} at {t.position}" for t in transitions])


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sentence(told: list[str]) -> str:
    text = "; ".join(told)
    return text[0].upper() + text[1:] + "."
