"""Canonical states: equal up to the names of messages.

Ids only name; so a stored message is renamed to its position in the history, and all messages that
are no longer stored are one, `GONE`. Every other field counts. Two states with one canonical form
take the same events to states with one canonical form, which is what lets a search visit only one.
"""

from __future__ import annotations

from foldproof.model.state import GONE, Memory, State


def canonical(s: State) -> State:
    """The representative of a state: idempotent, and it commutes with every event."""
    length = len(s.history)
    if s.next_id == length and all(m.id == i for i, m in enumerate(s.history)):
        return s  # nothing was removed since the last renaming
    names = {message.id: position for position, message in enumerate(s.history)}

    def rename(memory: Memory) -> Memory:
        return memory._replace(covers=tuple(names.get(i, GONE) for i in memory.covers))

    tree = s.tree._replace(
        nodes=tuple(
            node if node.memory is None else node._replace(memory=rename(node.memory))
            for node in s.tree.nodes
        ),
        frozen=tuple(f._replace(memory=rename(f.memory)) for f in s.tree.frozen),
        state=None if s.tree.state is None else rename(s.tree.state),
    )
    history = tuple(
        m._replace(id=position, call=None if m.call is None else names.get(m.call, GONE))
        for position, m in enumerate(s.history)
    )
    pending = s.pending
    if pending is not None:
        pending = pending._replace(carrier=names.get(pending.carrier, GONE))
    return s._replace(history=history, tree=tree, pending=pending, next_id=length)
