"""One of the pass machine's states that differ in the ids of messages alone."""

from __future__ import annotations

from foldproof.model.passes_state import Checkpoint, Item, PassState, Region
from foldproof.model.state import GONE, Message, MessageId


def canonical(s: PassState) -> PassState:
    """The representative of a state: ids are renamed by position, those no longer stored are alike."""
    names = {message.id: position for position, message in enumerate(s.history)}
    if s.next_id == len(names) and all(name == position for name, position in names.items()):
        return s

    def name(told: tuple[MessageId, ...]) -> tuple[MessageId, ...]:
        return tuple(names.get(i, GONE) for i in told)

    def rename(item: Item) -> Item:
        if isinstance(item, Message):
            call = None if item.call is None else names.get(item.call, GONE)
            return item._replace(id=names.get(item.id, GONE), call=call)
        return rename_checkpoint(item)

    def rename_checkpoint(c: Checkpoint) -> Checkpoint:
        first, last = name(c.footer)
        return c._replace(covers=tuple(map(rename, c.covers)), told=name(c.told), footer=(first, last))

    def rename_region(region: Region) -> Region:
        answer = region.answer
        return region._replace(
            items=tuple(map(rename, region.items)),
            answer=None if answer is None else answer._replace(told=name(answer.told)),
        )

    renamed = tuple(map(rename, s.history))
    return s._replace(
        history=tuple(m for m in renamed if isinstance(m, Message)),
        surface=tuple(map(rename, s.surface)),
        regions=tuple(map(rename_region, s.regions)),
        base=name(s.base),
        staled=name(s.staled),
        logged=name(s.logged),
        late=None if s.late is None else (s.late[0], name(s.late[1])),
        frozen=tuple(map(rename_checkpoint, s.frozen)),
        next_id=len(s.history),
    )
