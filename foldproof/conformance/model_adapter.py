"""The model behind the protocol: the design, or a faulty design, as an implementation under test.

``python -m foldproof.conformance.model_adapter --without D1a_undo`` speaks the protocol on stdin and stdout.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, ClassVar

from foldproof.conformance.adapter import Adapter, Rejected, serve
from foldproof.conformance.events import EXTENSION_EVENTS
from foldproof.model import step as kernel
from foldproof.model.core import CORE
from foldproof.model.design import DESIGN
from foldproof.model.events import (
    AppendReply,
    AppendUser,
    ApplyCompaction,
    Call,
    Clear,
    CommitIndex,
    CommitState,
    Event,
    FlagFlip,
    Measure,
    Restore,
    StepEnd,
    Undo,
)
from foldproof.model.fold import est, trigger, view
from foldproof.model.guards import guard
from foldproof.model.index import carrier_opens_at, closing_carrier
from foldproof.model.invariants import anchors
from foldproof.model.machine import Clauses
from foldproof.model.state import INITIAL, Kind, Memory, MessageId, Node, State, Tree
from foldproof.model.tree import compacted_tree, span_of, truncated_tree

Kept = tuple[State, dict[MessageId, str], dict[MessageId, str], list[list[str]]]
"""A line of a session: all of `ModelAdapter` that belongs to it."""


class ModelAdapter(Adapter):
    """A session of the model. It knows each message by the id that the tester gave it.

    The extensions' events always have their meaning here; they are listed if it is ``extended``.
    """

    observes: ClassVar[tuple[str, ...]] = (
        "view",
        "history_length",
        "anchors",
        "trigger",
        "view_tokens",
        "committed",
        "pending",
    )
    tokens: ClassVar[dict[str, float] | None] = {"tolerance": 0, "overhead": 0}

    def __init__(self, design: Clauses = DESIGN, *, extended: bool = False) -> None:
        self.design, self.extended = design, extended
        missing = [str(clause) for clause in CORE.clauses if clause not in design]
        name = "foldproof model" + (f" without {', '.join(missing)}" if missing else "")
        self.implementation = {"name": name, "language": "python"}  # type: ignore[misc]
        self.reset({})

    def reset(self, config: dict[str, Any]) -> None:
        self.state: State = INITIAL
        self.line, self.lines = "main", dict[str, Kept]()
        self.names: dict[MessageId, str] = {}
        self.texts: dict[MessageId, str] = {}
        self.transitions: list[list[str]] = []
        """For each node of the tree, the call that opened it and the one that closed it, if any."""

    def append(self, message: dict[str, str]) -> None:
        is_prompt = message["origin"] == "user"
        identifier = self.state.next_id
        self._do(AppendUser() if is_prompt else AppendReply())
        self.names[identifier], self.texts[identifier] = message["id"], message["text"]

    def call(self, kind: str, call: str, summary: str | None, memory: str | None) -> None:
        identifier = self.state.next_id
        self._do(Call(Kind(kind)))
        self.names[identifier] = self.names[identifier + 1] = call

    def step_end(self) -> None:
        self._do(StepEnd())

    def measure(self, tokens: int | None) -> None:
        self._do(Measure())

    def undo(self, count: int) -> None:
        prompts = [i for i, message in enumerate(self.state.history) if message.is_prompt]
        if count > len(prompts):
            raise Rejected(f"there are {len(prompts)} prompts, not {count}")
        self._do(Undo(prompts[-count]))

    def clear(self) -> None:
        self._do(Clear())
        self.lines.clear()

    def compact(self, summary: str, keep: int | None, frozen: bool | None) -> None:
        k = len(self.state.history) - (keep or 0)
        replaced = self.state.history[: max(k, 0)]
        if not self.state.enabled:
            self._do(ApplyCompaction(k))
            gone = " ".join(self.texts.get(m.id) or f"[[{self.names[m.id]}]]" for m in replaced)
            summary_id = self.state.history[0].id
            self.names[summary_id] = ""
            self.texts[summary_id] = "summary: " + " ".join(_markers(gone))
        elif frozen:
            self._do(CommitIndex(k))
        else:
            self._do(CommitState(k))

    def restore(self) -> None:
        self._do(Restore())

    def toggle(self, enabled: bool) -> None:
        if enabled == self.state.enabled:
            raise Rejected(f"the fold is {'on' if enabled else 'off'} already")
        self._do(FlagFlip())

    @property
    def events(self) -> list[str]:
        return [name for name in super().events if self.extended or name not in EXTENSION_EVENTS]

    def branch(self, name: str, count: int) -> None:
        """A line is a value: the state is kept, and an undo goes on from a copy."""
        kept = self._kept()
        if count:
            self.undo(count)
        self.lines[self.line], self.line = kept, name

    def switch(self, name: str) -> None:
        if name not in self.lines:
            raise Rejected(f"there is no line {name}")
        kept = self._kept()
        self._take(self.lines.pop(name))
        self.lines[self.line], self.line = kept, name

    def remove(self, prompt: str) -> None:
        self._rewrite(prompt, keep=0)

    def regenerate(self, prompt: str, message: dict[str, str]) -> None:
        self._rewrite(prompt, 1, message)

    def _rewrite(self, prompt: str, keep: int, *messages: dict[str, str]) -> None:
        """Undo to a prompt and append again: ``keep`` of its exchange, then ``messages``, then the rest."""
        history = self.state.history
        start = next((i for i, m in enumerate(history) if self.names[m.id] == prompt), len(history))
        prompts = [i for i, m in enumerate(history) if m.is_prompt]
        if start not in prompts:
            raise Rejected(f"{prompt} is no prompt of the history")
        end = next((i for i in prompts if i > start), len(history))
        again = [*history[start : start + keep], *history[end:]]
        if any(m.is_carrier or m.is_receipt or m.is_summary for m in again):
            raise Rejected("calls and summaries cannot be appended again")
        told = [
            {"id": self.names[m.id], "origin": "user" if m.is_prompt else "", "text": self.texts[m.id]}
            for m in again
        ]
        kept = self._kept()
        try:
            self.undo(sum(place >= start for place in prompts))
            for one in [*told[:keep], *messages, *told[keep:]]:
                self.append(one)
        except Rejected:
            self._take(kept)
            raise

    def _kept(self) -> Kept:
        return self.state, dict(self.names), dict(self.texts), [list(calls) for calls in self.transitions]

    def _take(self, kept: Kept) -> None:
        self.state, self.names, self.texts, self.transitions = kept

    def observe(self) -> dict[str, Any]:
        s = self.state
        return {
            "view": [self._item(item) for item in view(s)],
            "history_length": len(s.history),
            "anchors": [
                {"name": a.name, "value": a.value, "bound": "inclusive" if a.inclusive else "exclusive"}
                for a in anchors(s)
            ],
            "trigger": trigger(s),
            "view_tokens": est(view(s)),
            "committed": list(dict.fromkeys(call for calls in self.transitions for call in calls)),
            "pending": None if s.pending is None else self.names[s.pending.carrier],
        }

    def _do(self, event: Event) -> None:
        before, self.state = self.state, self._after(event)
        self._follow(before, event)

    def _after(self, event: Event) -> State:
        """The state after an event. Raises `Rejected` where it is not taken."""
        reason = guard(self.state, event, self.design)
        if reason is not None:
            raise Rejected(reason)
        return kernel.effect(self.state, event, self.design)

    def _follow(self, before: State, event: Event) -> None:
        """Keep ``transitions`` beside the nodes: the tree holds indices, the protocol asks for calls."""
        match event:
            case Undo() | Clear() | ApplyCompaction():
                nodes = iter(self.state.tree.nodes)
                kept = []
                for node, calls in zip(before.tree.nodes, self.transitions, strict=True):
                    if self._survives(before, node, event):
                        kept.append(calls if not next(nodes).is_open else calls[:1])
                self.transitions = kept
            case _:
                for place, node in enumerate(self.state.tree.nodes):
                    if place == len(self.transitions):
                        opener = self.state.history[carrier_opens_at(node.opened_at)]
                        self.transitions.append([self.names[opener.id]])
                    if not node.is_open and len(self.transitions[place]) == 1:
                        closer = self.state.history[closing_carrier(span_of(node))]
                        self.transitions[place].append(self.names[closer.id])

    def _survives(self, before: State, node: Node, event: Event) -> bool:
        if self.state.tree == before.tree:
            return True
        match event:
            case Undo(cut):
                return bool(truncated_tree(Tree((node,)), cut, self.design).nodes)
            case ApplyCompaction(k):
                return bool(compacted_tree(Tree((node,)), k).nodes)
            case _:
                return bool(truncated_tree(Tree((node,)), 0, self.design).nodes)

    def _item(self, item: Any) -> dict[str, Any]:
        if isinstance(item, Memory):
            covered = dict.fromkeys(
                marker
                for i in item.covers
                for marker in _markers(self.texts.get(i) or f"[[{self.names[i]}]]")
            )
            return {"role": "user", "text": "memory: " + " ".join(covered), "synthetic": "memory"}
        if item.is_carrier:
            return {"role": "assistant", "text": "", "calls": [self.names[item.id]]}
        if item.is_receipt:
            return {"role": "tool", "text": "accepted", "result_of": self.names[item.id]}
        shown: dict[str, Any] = {"role": str(item.role), "text": self.texts[item.id]}
        return {**shown, "synthetic": "memory"} if item.is_summary else shown


def _markers(text: str) -> list[str]:
    from foldproof.conformance.adapter import markers  # noqa: PLC0415 - one line, and no name clash

    return markers(text).split()


def main(arguments: Sequence[str] | None = None) -> None:
    """Speak the protocol as the model without the named clauses."""
    parser = argparse.ArgumentParser(description="The model behind the conformance protocol.")
    parser.add_argument("--without", action="append", default=[], metavar="CLAUSE")
    parser.add_argument("--extended", action="store_true", help="list the extensions' events too")
    chosen = parser.parse_args(arguments)
    try:
        design = CORE.without(*chosen.without)
    except ValueError as error:
        parser.error(str(error))
    serve(ModelAdapter(design, extended=chosen.extended))


if __name__ == "__main__":
    main()
