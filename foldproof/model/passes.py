"""The pass machine: recallable compaction in micro-steps, with crashes, among appends, undos and clears.

After every completed pass the surface is ``[stubs…][state][tail]``. A pass selects and plans, summarises
every region off the surface, is guarded, and commits region by region.

Source: the seed on recallable compaction; its rejected alternatives are the faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldproof.model.fold import CORE_COSTS
from foldproof.model.machine import Bounds, Clauses, Machine
from foldproof.model.passes_canonical import canonical
from foldproof.model.passes_invariants import INVARIANTS
from foldproof.model.passes_state import (
    ALPHABET,
    FAULTS,
    INFLATED_TOKENS,
    PROVIDER_OVERHEAD,
    STATE_TOKENS,
    STUB_TOKENS,
    Answer,
    AppendCall,
    AppendUser,
    Begin,
    Checkpoint,
    Class,
    Clause,
    Clear,
    Commit,
    Crash,
    Event,
    Guard,
    Item,
    LateAnswer,
    LegacyHead,
    PassState,
    Phase,
    Region,
    Resume,
    StateDone,
    StateFails,
    StateInflates,
    StubDone,
    StubFails,
    Undo,
    direct,
    est,
    flatten,
    units,
)
from foldproof.model.state import Message, Origin, Role, ids


def enabled(s: PassState, bound: int, design: Clauses) -> Iterator[Event]:
    """The events that a state whose history may hold at most ``bound`` messages can take, in order."""
    length, regions = len(s.history), len(s.regions)
    candidates: tuple[Event, ...] = (
        AppendUser(),
        AppendCall(),
        *map(Undo, range(length)),
        Clear(),
        *map(LegacyHead, range(1, length + 1)),
        *map(Begin, range(1, len(s.surface) + 1)),
        *map(StubDone, range(regions)),
        *map(StubFails, range(regions)),
        StateDone(),
        StateInflates(),
        StateFails(),
        LateAnswer(),
        Guard(),
        Commit(),
        Crash(),
        Resume(),
    )
    yield from (event for event in candidates if guard(s, event, design, bound) is None)


def guard(s: PassState, event: Event, design: Clauses, bound: int | None = None) -> str | None:
    """Why an event is not enabled, or None when it is."""
    length = len(s.history)
    room = length if bound is None else bound - length
    waits = s.phase is Phase.SUMMARISING
    match event:
        case AppendUser() | AppendCall():
            if bound is not None and room < (1 if isinstance(event, AppendUser) else 2):
                return "the history has reached its bound"
        case Undo(cut):
            if not 0 <= cut < length or not s.history[cut].is_prompt:
                return f"history[{cut}] is not a prompt"
            if cut < s.hidden:
                return f"history[{cut}] is shadowed"
            if Clause.R17_BOUNDARY in design and cut < s.boundary and (s.resumed or not waits):
                return f"{cut} lies before the retain boundary {s.boundary}"
        case Clear():
            return None if length else "the history is empty"
        case LegacyHead(k):
            if s.phase is not Phase.IDLE or s.hidden:
                return "the surface has checkpoints already"
            if k > length or (k < length and s.history[k].is_receipt):
                return f"{k} is not an edge"
        case Begin(count):
            return _guard_begin(s, count, design)
        case StubDone(i) | StubFails(i):
            asked = waits and i < len(s.regions) and s.regions[i].kind is Class.STUB
            return None if asked and s.regions[i].answer is None else f"no stub call {i} is open"
        case StateDone() | StateInflates() | StateFails():
            return None if waits and s.regions[-1].answer is None else "no state call is open"
        case LateAnswer():
            return "no call is late" if s.late is None else None
        case Guard():
            return None if waits and s.answered and not s.has_committed else "not all summaries exist"
        case Commit():
            early = waits and Clause.R7_BUFFERED not in design
            ready = s.phase is Phase.COMMITTING or early
            return None if ready and s.regions[_next(s, design)].answer is not None else "nothing may commit"
        case Crash():
            return None if waits or s.phase is Phase.COMMITTING else "no pass is running"
        case Resume():
            return None if s.phase is Phase.TORN else "no pass is torn"
    return None


def _guard_begin(s: PassState, count: int, design: Clauses) -> str | None:
    if s.phase is not Phase.IDLE:
        return "a pass is running"
    regions = _planned(s, _sizes(s, count, design), design)
    if regions is None:
        return f"{count} units cannot be compacted"
    if Clause.R9_DEFER in design and _boundary(s, regions) <= s.refused:
        return "the guard refused, and no more history is stale"
    return None


def _selectable(s: PassState, design: Clauses) -> tuple[Item, ...]:
    """The surface after its stubs (and after a legacy head that was not adopted)."""
    if Clause.R2_FROZEN not in design:
        return s.surface
    adopted = Clause.R5_ADOPT in design
    frozen = (Class.STUB,) if adopted else (Class.STUB, Class.LEGACY)
    ahead = [isinstance(i, Checkpoint) and i.kind in frozen for i in s.surface]
    return s.surface[ahead.index(False) if False in ahead else len(ahead) :]


def _sizes(s: PassState, count: int, design: Clauses) -> tuple[int, ...]:
    """One region a unit; where a superseded state and one unit are all there is, the state has its own."""
    superseded = any(isinstance(item, Checkpoint) for item in _selectable(s, design))
    alone = superseded and count == 1 and s.phase is Phase.IDLE and Clause.R4_TWO_HOPS in design
    return (0, 1) if alone else (1,) * count


def _planned(s: PassState, sizes: Sequence[int], design: Clauses) -> tuple[Region, ...] | None:
    """Regions of so many units each; a superseded checkpoint goes with the first. The last is the state.

    A region without messages of its own is a superseded checkpoint alone: code writes its stub, no call.
    """
    selectable = _selectable(s, design)
    superseded = tuple(item for item in selectable if isinstance(item, Checkpoint))
    found = units(selectable[len(superseded) :], design)
    if not sizes or sum(sizes) > len(found) or sizes[-1] < 1:
        return None
    if superseded and len(sizes) == 1 and Clause.R4_TWO_HOPS in design and s.phase is Phase.IDLE:
        return None
    regions, place = [], 0
    for number, size in enumerate(sizes):
        items = tuple(item for unit in found[place : place + size] for item in unit)
        kind = Class.STATE if number == len(sizes) - 1 else Class.STUB
        answer = None if items else Answer((), STUB_TOKENS)
        regions.append(Region(kind, items if number else (*superseded, *items), answer))
        place += size
    return tuple(regions) if all(region.items for region in regions) else None


def _boundary(s: PassState, regions: tuple[Region, ...]) -> int:
    return s.hidden + sum(len(direct(region.items)) for region in regions)


def effect(s: PassState, event: Event, design: Clauses) -> PassState:
    """The state after an event whose guard holds."""
    match event:
        case AppendUser():
            return _append(s, Message(s.next_id, Role.USER, Origin.USER, CORE_COSTS.message))
        case AppendCall():
            call = s.next_id
            carrier = Message(call, Role.ASSISTANT, Origin.MODEL, CORE_COSTS.message, call)
            return _append(s, carrier, Message(call + 1, Role.TOOL, Origin.TOOL, CORE_COSTS.message, call))
        case Undo(cut):
            return _undo(s, cut, design)
        case Clear():
            if Clause.R16_CANCEL in design:
                return PassState(next_id=s.next_id)
            return s._replace(history=(), surface=(), frozen=(), logged=(), refused=0)
        case LegacyHead(k):
            told = ids(s.history[:k])
            head = Checkpoint(Class.LEGACY, s.surface[:k], told, (told[0], told[-1]), STATE_TOKENS)
            return s._replace(surface=(head, *s.surface[k:]), logged=told, refused=0)
        case Begin(count):
            return begun(s, _sizes(s, count, design), design)
        case StubDone(i):
            return _answered(s, i, Answer(direct(s.regions[i].items), STUB_TOKENS))
        case StubFails(i):
            return _answered(s, i, Answer((), STUB_TOKENS))
        case StateDone() | StateInflates():
            tokens = STATE_TOKENS if isinstance(event, StateDone) else INFLATED_TOKENS
            return _answered(s, len(s.regions) - 1, Answer((*s.base, *s.staled), tokens))
        case StateFails():
            return _failed(s)
        case LateAnswer():
            return _late_answer(s, design)
        case Guard():
            return _guarded(s, design)
        case Commit():
            return _commit(s, _next(s, design), design)
        case Crash():
            if s.resumed or s.has_committed:
                return _torn(s)
            return _ended(s)
        case Resume():
            remaining = len(units(_remaining(s), design))
            return resumed(s, (1,) * remaining, design)


def _append(s: PassState, *messages: Message) -> PassState:
    return s._replace(
        history=(*s.history, *messages),
        surface=(*s.surface, *messages),
        next_id=s.next_id + len(messages),
    )


def _undo(s: PassState, cut: int, design: Clauses) -> PassState:
    removed = len(s.history) - cut
    if s.phase is Phase.SUMMARISING and cut < s.boundary and Clause.R16_CANCEL in design:
        s = _failed(s)
    return s._replace(history=s.history[:cut], surface=s.surface[: len(s.surface) - removed], refused=0)


def _begin(s: PassState, regions: tuple[Region, ...], design: Clauses) -> PassState:
    staled = tuple(i for region in regions for i in direct(region.items))
    visible = next((i.told for i in s.surface if isinstance(i, Checkpoint) and i.is_state), ())
    return s._replace(
        phase=Phase.SUMMARISING,
        regions=regions,
        head=len(s.surface) - len(_selectable(s, design)),
        boundary=_boundary(s, regions),
        base=s.logged if Clause.R14_BASE in design else visible,
        staled=staled,
    )


def begun(s: PassState, sizes: Sequence[int], design: Clauses) -> PassState:
    """A pass begins with regions of so many units each; `Begin` plans one a unit, the finest there is."""
    return _begin(s, _planned(s, sizes, design) or (), design)


def resumed(s: PassState, sizes: Sequence[int], design: Clauses) -> PassState:
    """A torn pass goes on with what remains up to its boundary; the log says what was stale."""
    regions = _planned(s, sizes, design)
    if regions is None:
        return _ended(s)  # nothing remains that the state could stand for
    after = _begin(s, regions, design)
    staled = s.staled if Clause.R15_STALED in design else after.staled
    return after._replace(resumed=True, boundary=s.boundary, staled=staled)


def _remaining(s: PassState) -> tuple[Item, ...]:
    """The messages shown up to the retain boundary."""
    return s.surface[s.checkpoints : len(s.surface) - (len(s.history) - s.boundary)]


def _answered(s: PassState, i: int, answer: Answer) -> PassState:
    return s._replace(regions=(*s.regions[:i], s.regions[i]._replace(answer=answer), *s.regions[i + 1 :]))


def _failed(s: PassState) -> PassState:
    """The pass ends without a commit; its open stub call will be answered late."""
    late = next(
        ((i, direct(r.items)) for i, r in enumerate(s.regions) if r.answer is None and r.kind is Class.STUB),
        None,
    )
    return (_torn(s) if s.resumed or s.has_committed else _ended(s))._replace(late=late)


def _ended(s: PassState) -> PassState:
    return s._replace(phase=Phase.IDLE, regions=(), head=0, boundary=0, resumed=False, base=(), staled=())


def _torn(s: PassState) -> PassState:
    return s._replace(phase=Phase.TORN, regions=(), head=0, base=(), resumed=False)


def _late_answer(s: PassState, design: Clauses) -> PassState:
    late, s = s.late, s._replace(late=None)
    if late is None or Clause.R6_OWN in design or s.phase is not Phase.SUMMARISING:
        return s
    i, told = late
    mistaken = i < len(s.regions) - 1 and s.regions[i].answer is None
    return _answered(s, i, Answer(told, STUB_TOKENS)) if mistaken else s


def _guarded(s: PassState, design: Clauses) -> PassState:
    before = est(i for region in s.regions for i in region.items)
    after = sum(region.answer.tokens for region in s.regions if region.answer is not None)
    shrinks = after < before
    seen = shrinks if Clause.R8_METRIC in design else after < before + PROVIDER_OVERHEAD
    if s.resumed and Clause.R13_RESUME in design:
        return s._replace(phase=Phase.COMMITTING, shrinks=True)
    if seen:
        return s._replace(phase=Phase.COMMITTING, shrinks=shrinks)
    return _ended(s)._replace(refused=s.boundary)


def _next(s: PassState, design: Clauses) -> int:
    """The region that commits next: chunks from left to right, the state last."""
    waiting = [i for i, region in enumerate(s.regions) if not region.committed]
    chunks, state = waiting[:-1], waiting[-1]
    if Clause.R11_LAST not in design and not s.regions[-1].committed:
        return len(s.regions) - 1
    if s.regions[-1].committed:
        chunks = waiting
    if not chunks:
        return state
    return chunks[0] if Clause.R10_LEFT in design else chunks[-1]


def _commit(s: PassState, i: int, design: Clauses) -> PassState:
    region = s.regions[i]
    answer = region.answer
    assert answer is not None  # the guard of Commit
    start = s.head + sum(1 if r.committed else len(r.items) for r in s.regions[:i])
    covers = region.items
    if Clause.R3_FOLD not in design:
        covers = tuple(item for item in covers if isinstance(item, Message))
    flat = tuple(flatten(region.items))
    footer = (flat[0], flat[-1]) if Clause.R12_FOOTER in design else (flat[0], flat[-1] - 1)
    checkpoint = Checkpoint(region.kind, covers, answer.told, footer, answer.tokens)
    regions = (*s.regions[:i], region._replace(committed=True), *s.regions[i + 1 :])
    s = s._replace(
        surface=(*s.surface[:start], checkpoint, *s.surface[start + len(region.items) :]),
        regions=regions,
        frozen=(*s.frozen, checkpoint) if region.kind is Class.STUB else s.frozen,
        logged=answer.told if region.kind is Class.STATE else s.logged,
    )
    return _ended(s)._replace(shrinks=True) if all(r.committed for r in regions) else s


PASS: Machine[PassState, Event] = Machine(
    name="pass",
    initial=PassState(),
    clauses=tuple(Clause),
    faults=FAULTS,
    invariants=INVARIANTS,
    enabled=enabled,
    guard=guard,
    effect=effect,
    canonical=canonical,
    event_from_name=ALPHABET.read,
    bounds=Bounds(check=4, matrix=3),
)
