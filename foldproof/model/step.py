"""The step function: what each event does, under a design.

``effect`` is the next state, ``step`` is ``effect`` behind the event's guard. Each design clause
appears exactly where it rules: to take a clause away is to take one branch away.
"""

from __future__ import annotations

from typing import assert_never

from foldproof.model import index
from foldproof.model.design import DESIGN, Clause
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
from foldproof.model.fold import CORE_COSTS, Costs, est, view
from foldproof.model.guards import NotEnabledError, guard
from foldproof.model.machine import Clauses
from foldproof.model.receipts import Receipt, accepted_receipts, recorded_transitions
from foldproof.model.state import (
    Frozen,
    Gauge,
    GaugeKind,
    Kind,
    Memory,
    Message,
    Node,
    Origin,
    Pending,
    Role,
    State,
    ids,
)
from foldproof.model.tree import compacted_tree, truncated_tree


def step(s: State, event: Event, design: Clauses = DESIGN, costs: Costs = CORE_COSTS) -> State:
    """The state after an event. Raises `NotEnabledError`, with the reason, where its guard fails."""
    reason = guard(s, event, design)
    if reason is not None:
        raise NotEnabledError(f"{event} is not enabled: {reason}")
    return effect(s, event, design, costs)


def effect(s: State, event: Event, design: Clauses = DESIGN, costs: Costs = CORE_COSTS) -> State:
    """The state after an event whose guard holds."""
    match event:
        case AppendUser():
            return _append(s, Role.USER, Origin.USER, costs)
        case AppendReply():
            return _append(s, Role.ASSISTANT, Origin.MODEL, costs)
        case Call(transition):
            return _call(s, transition, costs)
        case StepEnd():
            return _settle(s, design, costs)
        case Measure():
            return s._replace(gauge=Gauge(len(s.history), est(view(s)), GaugeKind.MEASURED))
        case Undo(cut):
            return _undo(s, cut, design)
        case Clear():
            return _clear(s, design)
        case CommitState(k):
            return _commit_state(s, k, costs)
        case CommitIndex(k):
            return _commit_index(s, k, costs)
        case ApplyCompaction(k):
            return _apply_compaction(s, k, design, costs)
        case Restore():
            return _restore(s, design, costs)
        case FlagFlip():
            return _flag_flip(s, design, costs)
        case _:
            assert_never(event)


def rebased(s: State) -> State:
    """The gauge restarts as the estimate of the view."""
    return s._replace(gauge=Gauge(len(s.history), est(view(s)), GaugeKind.ESTIMATE))


def _rebased_raw(s: State) -> State:
    """The fault of D1b and D2_resume: the gauge restarts as the estimate of the raw history."""
    return s._replace(gauge=Gauge(len(s.history), est(s.history), GaugeKind.ESTIMATE))


def _append(s: State, role: Role, origin: Origin, costs: Costs) -> State:
    message = Message(s.next_id, role, origin, costs.message)
    return s._replace(history=(*s.history, message), next_id=s.next_id + 1)


def _call(s: State, transition: Kind, costs: Costs) -> State:
    call = s.next_id
    carrier = Message(call, Role.ASSISTANT, Origin.MODEL, costs.message, call, transition)
    receipt = Message(call + 1, Role.TOOL, Origin.TOOL, costs.message, call)
    cursor = None if s.cursor is None else s.tree.nodes[s.cursor].opened_at
    return s._replace(
        history=(*s.history, carrier, receipt),
        pending=Pending(transition, call, cursor),
        next_id=s.next_id + 2,
    )


def _settle(s: State, design: Clauses, costs: Costs) -> State:
    """End a step: commit the pending transition where its receipt is found, then observe all."""
    if s.pending is not None:
        receipt = _find_pending(s, s.pending, design)
        if receipt is not None:
            s = _commit(s, receipt, design, costs)
    return s._replace(pending=None, last_observed=len(s.history))


def _find_pending(s: State, pending: Pending, design: Clauses) -> Receipt | None:
    """The pending call's stored receipt, looked for from ``last_observed`` on."""
    start = s.last_observed
    if Clause.D1C in design:
        start = index.clamp(start, len(s.history))
    for receipt in accepted_receipts(s, start):
        if receipt.carrier.id == pending.carrier:
            return receipt
    return None


def _commit(s: State, receipt: Receipt, design: Clauses, costs: Costs) -> State:
    """Write an accepted transition into the tree. A close or next without an open node commits nothing."""
    nodes = s.tree.nodes
    if receipt.kind.closes:
        cursor = s.cursor
        if cursor is None:
            return s
        opened_at, closed_at = nodes[cursor].opened_at, index.carrier_closes_at(receipt.position)
        start, end = index.spoken_for(index.Span(True, opened_at, True, closed_at))
        memory = Memory(costs.memory, ids(s.history[start:end]))
        nodes = (*nodes[:cursor], Node(opened_at, closed_at, memory), *nodes[cursor + 1 :])
    if receipt.kind.opens:
        nodes = (*nodes, Node(index.carrier_opens_at(receipt.position)))
    s = s._replace(tree=s.tree._replace(nodes=nodes))
    if receipt.kind.closes and Clause.D7 in design:
        s = rebased(s)
    return s


def _undo(s: State, cut: int, design: Clauses) -> State:
    before = s
    s = s._replace(history=s.history[:cut])
    if Clause.D1A_UNDO in design and (s.enabled or Clause.D6_REPAIR in design):
        s = s._replace(tree=truncated_tree(s.tree, cut, design))
    if Clause.D1C in design:
        s = s._replace(last_observed=index.clamp(s.last_observed, cut))
    if s.pending is not None and all(m.id != s.pending.carrier for m in s.history):
        s = s._replace(pending=None)
    if index.outlives(s.gauge.length, cut) or s.tree != before.tree:
        s = rebased(s) if Clause.D1B in design else _rebased_raw(s)
    return s


def _clear(s: State, design: Clauses) -> State:
    tree = s.tree
    if Clause.D1A_CLEAR in design and (s.enabled or Clause.D6_REPAIR in design):
        tree = truncated_tree(tree, 0, design)
    observed = 0 if Clause.D1C in design else s.last_observed
    return State(tree=tree, last_observed=observed, enabled=s.enabled, next_id=s.next_id)


def _commit_state(s: State, k: int, costs: Costs) -> State:
    memory = Memory(costs.memory, ids(s.history[s.tree.frozen_end : k]))
    return rebased(s._replace(tree=s.tree._replace(state=memory, epoch_start_at=k)))


def _commit_index(s: State, k: int, costs: Costs) -> State:
    start = s.tree.frozen_end
    frozen = Frozen(start, k, Memory(costs.memory, ids(s.history[start:k])))
    tree = s.tree._replace(frozen=(*s.tree.frozen, frozen), frozen_end=k, state=None, epoch_start_at=k)
    return rebased(s._replace(tree=tree))


def _apply_compaction(s: State, k: int, design: Clauses, costs: Costs) -> State:
    summary = Message(s.next_id, Role.USER, Origin.SUMMARY, costs.summary)
    s = s._replace(history=(summary, *s.history[k:]), next_id=s.next_id + 1)
    if Clause.D1A_COMPACT in design:
        s = s._replace(tree=compacted_tree(s.tree, k))
    if Clause.D1C in design:
        s = s._replace(last_observed=index.clamp(s.last_observed, len(s.history)))
    return rebased(s) if Clause.D1B in design else _rebased_raw(s)


def _restore(s: State, design: Clauses, costs: Costs) -> State:
    s = s._replace(pending=None)
    if Clause.D8 in design:
        recorded = set(recorded_transitions(s.tree, s.tree.epoch_start_at))
        for receipt in accepted_receipts(s, s.tree.epoch_start_at):
            if not recorded.issuperset(receipt.transitions):
                s = _commit(s, receipt, design, costs)
    s = s._replace(last_observed=len(s.history))
    return rebased(s) if Clause.D2_RESUME in design else _rebased_raw(s)


def _flag_flip(s: State, design: Clauses, costs: Costs) -> State:
    if s.enabled and s.pending is not None and Clause.D6_SETTLE in design:
        s = _settle(s, design, costs)
    s = s._replace(enabled=not s.enabled)
    return rebased(s) if Clause.D6_REBASE in design else s
