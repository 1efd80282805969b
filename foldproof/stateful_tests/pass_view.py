"""What a session is in the pass machine's terms: the abstraction, and the costs that it needs.

A summary that the driver writes lists the names of the messages that it was given. So what a checkpoint
tells is read off its text: it is what the session really put into the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from foldproof.model.passes_canonical import canonical
from foldproof.model.passes_state import Checkpoint, Class, Item, PassState, Phase, Region, flatten
from foldproof.model.state import GONE, Message, Origin, Role
from foldproof.reference.checkpoints import FOOTER
from foldproof.reference.messages import ChatMessage
from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.session import Session
from foldproof.reference.surface import Item as SessionItem
from foldproof.reference.surface import ItemClass

SCALE: Final = 10
TELLS, TELLS_LONG, HEAD = "told", "long", "head"
KINDS = {ItemClass.INDEX: Class.STUB, ItemClass.STATE: Class.STATE, ItemClass.BASIC: Class.LEGACY}


def costs(text: str) -> int:
    """The machine's costs, times `SCALE`: a message 2, a checkpoint 1, a state that came out too long 3."""
    if not text:
        return 0
    if FOOTER.search(text):
        return SCALE * (3 if text.startswith(TELLS_LONG) else 1)
    if text.startswith(HEAD):
        return SCALE
    return 1 if text.startswith((TELLS, TELLS_LONG)) else 2 * SCALE


def name_of(message: ChatMessage) -> str:
    """The name that the driver gave a message: no two of a session have the same."""
    return message.calls[0].id if message.calls else message.text


def answer_to(request: SummaryRequest, prefix: str = TELLS) -> str:
    """The summary of a request: what it is given, by name; a state's begins with what the last one told."""
    before = names_in(request.state) if request.kind == "state" else []
    return " ".join([prefix, *before, *map(name_of, request.messages)])


def names_in(text: str) -> list[str]:
    """The names that a summary tells, each once."""
    found = FOOTER.search(text)
    return list(dict.fromkeys((text[: found.start()] if found else text).split()[1:]))


def abstract(session: Session, *, flying: bool) -> PassState:
    """The session in the machine's terms, as far as it can be seen; ids are seqs.

    ``flying``: a pass of this session is running now. What the machine keeps of a pass's answers lives in
    the calls of the pass, not in the session.
    """
    lens = _Lens(session)
    view = session.view()
    surface = tuple(lens.item(item) for item in view)
    history = lens.history()
    record = session.unfinished_pass
    phase, boundary, resumed = Phase.IDLE, 0, False
    regions: tuple[Region, ...] = ()
    if record is not None and record.committed < len(record.regions):
        place = {item.seq: n for n, item in enumerate(view)}
        waiting = record.regions[record.committed :]
        if all(seq in place for pair in waiting for seq in pair):
            boundary = len(list(flatten(surface[: place[waiting[-1][1]] + 1])))
            spans = [surface[place[a] : place[b] + 1] for a, b in waiting]
            if flying:
                kinds = [Class.STUB] * (len(spans) - 1) + [Class.STATE]
                phase, resumed = Phase.SUMMARISING, record.committed > 0
                regions = tuple(Region(kind, span) for kind, span in zip(kinds, spans, strict=True))
            elif record.committed:
                phase = Phase.TORN
        if phase is Phase.IDLE:
            boundary = 0
    return PassState(
        history=history,
        surface=surface,
        phase=phase,
        regions=regions,
        boundary=boundary,
        resumed=resumed,
        logged=lens.told(session.state_text),
        next_id=session.last_seq + 1,
    )


def visible(s: PassState) -> PassState:
    """A state of the machine without what a session does not show, ids renamed by position."""
    waiting = tuple(r._replace(answer=None) for r in s.regions if not r.committed)
    return canonical(
        s._replace(
            regions=waiting if s.phase is Phase.SUMMARISING else (),
            head=0,
            base=(),
            staled=(),
            refused=0,
            late=None,
            frozen=(),
            shrinks=True,
        )
    )


class _Lens:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.stored = {item.seq: item for item in session.items.values() if item.kind is ItemClass.MESSAGE}
        self.seqs = {name_of(item.message): seq for seq, item in self.stored.items()}
        self.makers = {call.id: i.seq for i in self.stored.values() for call in i.message.calls}

    def history(self) -> tuple[Message, ...]:
        """The messages that are alive; another compactor's summary stands for those that it replaced."""
        found: list[Message] = []
        for item in self.session.history:
            if item.kind is ItemClass.MESSAGE:
                found.append(self.message(item))
            else:
                found += self.messages(self.item(item))
        return tuple(found)

    def messages(self, item: Item) -> list[Message]:
        return [self.message(self.stored[seq]) for seq in flatten([item])]

    def message(self, item: SessionItem) -> Message:
        message = item.message
        if message.role == "user":
            return Message(item.seq, Role.USER, Origin.USER, item.tokens // SCALE)
        if message.role == "tool":
            maker = self.makers.get(message.result_of or "", GONE)
            return Message(item.seq, Role.TOOL, Origin.TOOL, item.tokens // SCALE, maker)
        return Message(item.seq, Role.ASSISTANT, Origin.MODEL, item.tokens // SCALE, item.seq)

    def item(self, item: SessionItem) -> Item:
        """An item of the surface, with all that it shadows."""
        if item.kind is ItemClass.MESSAGE:
            return self.message(item)
        checkpoint = self.session.checkpoints[item.checkpoint or 0]
        covers = tuple(self.item(self.session.items[seq]) for seq in checkpoint.shadowed)
        flat = tuple(flatten(covers))
        footer = (flat[0], flat[-1])
        if item.kind is not ItemClass.BASIC:
            found = FOOTER.search(item.message.text)
            first, last = (int(found[2]), int(found[3])) if found else checkpoint.span
            footer = (self.end(first, 0), self.end(last, -1))
            # A state's names the wider range that it was made from; the machine's what it replaced.
            if item.kind is ItemClass.STATE and footer[0] <= flat[0]:
                footer = (flat[0], footer[1])
        told = self.told(checkpoint.body)
        return Checkpoint(KINDS[item.kind], covers, told, footer, item.tokens // SCALE)

    def end(self, seq: int, place: int) -> int:
        """The first or the last message that the item which event ``seq`` put here stands for."""
        item = self.session.items.get(seq)
        return GONE if item is None else list(flatten([self.item(item)]))[place]

    def told(self, text: str) -> tuple[int, ...]:
        return tuple(self.seqs.get(name, GONE) for name in names_in(text))


class Gate:
    """The provider's count: it waits, and then answers for both sides, for one, or for neither."""

    def __init__(self, mode: int) -> None:
        self._opened, self._mode, self._asked = asyncio.Event(), mode % 3, 0

    def open(self) -> None:
        """Answer from now on."""
        self._opened.set()

    async def __call__(self, messages: Sequence[ChatMessage]) -> int | None:
        await self._opened.wait()
        self._asked += 1
        if self._mode == 0 or (self._mode == 1 and self._asked > 1):
            return None
        return 2 * SCALE + sum(costs(m.text) or 2 * SCALE for m in messages)


def sizes_of(regions: Sequence[Sequence[Item]]) -> tuple[int, ...]:
    """How many of the machine's units each region holds: a message, or a call with its result."""
    return tuple(
        sum(isinstance(item, Message) and not item.is_receipt for item in region) for region in regions
    )
