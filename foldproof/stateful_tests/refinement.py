"""Driving a session by the kernel's events, and holding it against the model after each.

A session refines the model when, after every event: its abstraction is the model's state (canonical),
its view is the model's item by item, its trigger is the model's; and it refuses, without a change,
every event that the model does not take.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Final

from foldproof.model.canonical import canonical
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
from foldproof.model.fold import CORE_COSTS, trigger, view
from foldproof.model.fold import Item as KernelItem
from foldproof.model.guards import guard
from foldproof.model.state import GONE, Kind, Memory, State
from foldproof.reference.abstraction import alpha, alpha_view
from foldproof.reference.checkpoints import FOOTER
from foldproof.reference.errors import FoldproofError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.passes import Region, commit
from foldproof.reference.plan import edges
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.spine import covers
from foldproof.reference.surface import ItemClass

SUMMARY: Final = "summary"
SETTINGS: Final = Settings(message_overhead_tokens=0, fsync="never")


class RefusedError(Exception):
    """The session does not take the event."""


class NotRefinedError(AssertionError):
    """Session and model have parted; the message says where."""


def core_costs(text: str) -> int:
    """The kernel's costs as an estimate: a memory or summary 1, any other text 2, no text 0."""
    if not text:
        return 0
    if text == SUMMARY:
        return CORE_COSTS.summary
    return CORE_COSTS.memory if FOOTER.search(text) else CORE_COSTS.message


def apply(session: Session, event: Event) -> Session:
    """Do to a session what the event does to the model; returns it, or its successor after a crash.

    Raises `RefusedError`, and then nothing has changed.
    """
    try:
        match event:
            case AppendUser():
                session.append(ChatMessage("user", "prompt"))
            case AppendReply():
                session.append(ChatMessage("assistant", "reply"))
            case Call(transition):
                session.call(transition.value, memory="memory")
            case StepEnd():
                if not session.fold_enabled:
                    raise RefusedError("a session without a fold has no step to end")
                session.step_end()
            case Measure():
                session.measure(sum(item.tokens for item in session.view()))
            case Undo(cut):
                if not 0 <= cut < len(session.history) or not session.history[cut].is_prompt:
                    raise RefusedError("no prompt stands there")
                session.undo(sum(item.is_prompt for item in session.history[cut:]))
            case Clear():
                if not session.history:
                    raise RefusedError("there is nothing to clear")
                session.clear()
            case CommitIndex(k):
                land(session, ItemClass.INDEX, k)
            case CommitState(k):
                land(session, ItemClass.STATE, k)
            case ApplyCompaction(k):
                land(session, ItemClass.BASIC, k)
            case Restore():
                return reopened(session)
            case FlagFlip():
                session.toggle(not session.fold_enabled)
    except FoldproofError as error:
        raise RefusedError(str(error)) from error
    return session


def land(session: Session, kind: ItemClass, k: int) -> None:
    """Commit one region that ends at ``history[k]``, as a pass does, where a pass could plan it."""
    current = session.view()
    start = 0 if kind is ItemClass.BASIC else len(session.spine.frozen)
    end = next((n for n in range(start, len(current) + 1) if covers(current[:n]) == k), None)
    items = current[start:end] if end is not None else []
    if end is None or not items or not edges(current, start, session.parted())[end - start]:
        raise RefusedError(f"{k} is no edge")
    if kind is ItemClass.STATE and k == session.spine.epoch_start:
        raise RefusedError("nothing is stale")
    refused = session.landing_refused(kind)
    if refused is not None:
        raise RefusedError(refused)
    seqs = tuple(item.seq for item in items)
    span = (seqs[0], seqs[-1])
    session.record("compaction/start", {"compactor": "driver", "trigger": "request", "regions": [list(span)]})
    commit(session, [Region(kind, seqs, span, SUMMARY)])
    session.record("compaction/end", {"error": None})


def reopened(session: Session) -> Session:
    """The session after a crash: its log, read again."""
    if session.log_in_memory is not None:
        return type(session).in_memory(session.settings, session.estimate, session.log_in_memory)
    session.close()
    return type(session).open(session.path, session.settings, session.estimate)


def fork(session: Session) -> Session:
    """A copy of a session in memory; both go their own way from here. What is immutable is shared."""
    shared = (
        session.settings,
        *session.items.values(),
        *session.history,
        *session.checkpoints.values(),
        *session.spine.tasks,
    )
    return copy.deepcopy(session, {id(value): value for value in shared})


def differences(session: Session, s: State) -> Iterator[str]:
    """Where a session is not what the model says, one line each."""
    concrete, abstract = canonical(alpha(session)), canonical(s)
    for name in State._fields:
        ours, theirs = getattr(concrete, name), getattr(abstract, name)
        if ours != theirs:
            yield f"{name}: the session has {ours}, the model {theirs}"
    shown, due = _named(alpha_view(session), alpha(session)), _named(view(s), s)
    if shown != due:
        yield f"view: the session shows {shown}, the model {due}"
    if session.trigger != trigger(s):
        yield f"trigger: the session has {session.trigger}, the model {trigger(s)}"


def check(session: Session, s: State, events: tuple[Event, ...] = ()) -> None:
    """Raise `NotRefinedError` where session and model differ."""
    found = list(differences(session, s))
    if found:
        trace = "; ".join(map(str, events))
        raise NotRefinedError("\n".join([f"after {trace or 'these events'}:", *found]))


def check_refusals(session: Session, s: State, events: tuple[Event, ...] = ()) -> int:
    """Try every event that the model refuses; each must be refused, and change nothing. How many were."""
    refused = 0
    for event in candidates(len(s.history)):
        # A session takes a physical replacement with the fold on, too: the kernel leaves that undefined.
        if guard(s, event) is None or (isinstance(event, ApplyCompaction) and s.enabled):
            continue
        try:
            apply(session, event)
        except RefusedError:
            refused += 1
            continue
        trace = "; ".join(map(str, (*events, event)))
        raise NotRefinedError(f"after {trace}: the session took what the model refuses: {guard(s, event)}")
    check(session, s, events)
    return refused


def candidates(length: int) -> Iterator[Event]:
    """Every event over a history of this length, enabled or not."""
    yield from (AppendUser(), AppendReply(), StepEnd(), Measure())
    yield from map(Call, Kind)
    yield from map(Undo, range(length))
    yield Clear()
    for k in range(length + 1):
        yield from (CommitState(k), CommitIndex(k), ApplyCompaction(k))
    yield from (Restore(), FlagFlip())


def _named(items: tuple[KernelItem, ...], s: State) -> list[tuple[object, ...]]:
    """A view with ids renamed by position, so that two can be compared."""
    names = {message.id: position for position, message in enumerate(s.history)}
    return [
        ("memory", item.tokens, tuple(names.get(i, GONE) for i in item.covers))
        if isinstance(item, Memory)
        else ("message", item.tokens, names[item.id], item.letter)
        for item in items
    ]
