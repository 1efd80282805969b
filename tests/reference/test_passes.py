"""The shape of a session after passes, and what a crash at any byte leaves behind."""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path

import pytest

from foldproof.conformance.synthetic import plant, synthetic_session
from foldproof.reference.basic import BasicCompactor
from foldproof.reference.checkpoints import FOOTER
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import (
    CorruptLogError,
    LockedLogError,
    NotAnAgentError,
    OffsetError,
    OrphanedStartError,
    PassFailedError,
    PassRefusedError,
    RecallError,
    TornLogWarning,
    UndoRejectedError,
    UnknownCheckpointError,
)
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.passes import PRIOR_STATE, PassReport
from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.recall import RecallTools
from foldproof.reference.render import render_anthropic, render_openai
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.summarizers import ExtractiveSummarizer
from foldproof.reference.surface import ItemClass

SMALL = Settings.for_window(8_000)


def shape(session: Session) -> str:
    """One letter an item: i index, s state, b basic, m message."""
    return "".join(item.kind.value[0] for item in session.view())


def request(session: Session) -> list[object]:
    return [render_openai(session.view().messages()), render_anthropic(session.view().messages())]


async def run(session: Session, turns: int, seed: int = 0, basic: bool = False) -> list[PassReport]:
    compactor = BasicCompactor(session) if basic else RecallableCompactor(session)
    reports = []
    for item in synthetic_session(turns, seed).messages:
        if item.role == "assistant":
            report = await compactor.compact_if_needed()
            if report is not None:
                reports.append(report)
        session.append(item.message)
    return reports


def test_every_pass_leaves_stubs_then_one_state_then_the_tail(tmp_path: Path) -> None:
    async def go() -> None:
        with Session.create(tmp_path / "log", SMALL) as session:
            compactor = RecallableCompactor(session)
            stubs: list[str] = []
            passes = 0
            for item in synthetic_session(120).messages:
                if item.role == "assistant" and (report := await compactor.compact_if_needed()) is not None:
                    passes += 1
                    assert report.outcome in ("committed", "guard")
                    assert shape(session).lstrip("i").removeprefix("s").strip("m") == ""
                    assert shape(session).count("s") == 1
                    now = [i.message.text for i in session.view() if i.kind is ItemClass.INDEX]
                    assert now[: len(stubs)] == stubs, "a committed stub changed"
                    stubs = now
                    for checkpoint in session.checkpoints.values():
                        [found] = FOOTER.finditer(checkpoint.text)
                        assert found.end() == len(checkpoint.text)
                        assert found.group(1) == str(checkpoint.seq)
                        assert not any(
                            session.items[seq].kind is ItemClass.INDEX for seq in checkpoint.shadowed
                        ), "a committed stub fell into a later region"
                session.append(item.message)
            assert passes > 5
            live, tokens = request(session), session.tokens
        with Session.open(tmp_path / "log", SMALL) as again:
            assert request(again) == live
            assert (again.tokens, again.trigger) == (tokens, tokens)

    asyncio.run(go())


def test_the_two_hop_pin(tmp_path: Path) -> None:
    """What only a superseded state shadows is found by search, and read in two hops from the view."""
    session_data, plants = plant(synthetic_session(120), 200)

    async def go() -> None:
        with Session.create(tmp_path / "log", SMALL) as session:
            compactor = RecallableCompactor(session)
            for item in session_data.messages:
                if item.role == "assistant":
                    await compactor.compact_if_needed()
                session.append(item.message)
            tools = RecallTools(session)
            superseded = {c.id for c in session.checkpoints.values() if c.kind is ItemClass.STATE} - {
                f"c{i.checkpoint}" for i in session.view()
            }
            in_view = [f"c{i.checkpoint}" for i in session.view() if i.checkpoint is not None]
            checked = 0
            for fact in plants:
                page = await tools.history_search(fact.literal.lower())
                owners = {match.checkpoint for match in page.matches}
                if not owners & superseded:
                    continue
                checked += 1
                assert page.matched == 1
                [owner] = owners
                first = [text for start in in_view if owner in (text := await whole(tools, start))]
                assert any(f"{PRIOR_STATE}\n" in text and f"[checkpoint {owner}:" in text for text in first)
                assert fact.sentence in await whole(tools, owner)
            assert checked >= 5

    asyncio.run(go())


async def whole(tools: RecallTools, checkpoint: str) -> str:
    parts, offset = [], 0
    while True:
        page = await tools.history_read(checkpoint, offset)
        parts.append(page.text)
        if page.next_offset is None:
            assert sum(map(len, parts)) == page.total
            return "".join(parts)
        offset = page.next_offset


class Counting:
    """Records requests; can fail those of a kind."""

    def __init__(self, fail: str | None = None, text: str | None = None) -> None:
        self.requests: list[SummaryRequest] = []
        self.fail, self.text = fail, text
        self.inner = ExtractiveSummarizer()

    async def summarize(self, request: SummaryRequest) -> str:
        self.requests.append(request)
        await asyncio.sleep(0)
        if request.kind == self.fail:
            raise RuntimeError("no")
        return self.text if self.text is not None else await self.inner.summarize(request)


def filled(path: Path, turns: int = 14) -> Session:
    session = Session.create(path, SMALL)
    session.append_all(item.message for item in synthetic_session(turns, 5).messages)
    return session


def test_a_failed_stub_costs_its_text_and_a_failed_state_the_pass(tmp_path: Path) -> None:
    with filled(tmp_path / "a") as session:
        report = asyncio.run(RecallableCompactor(session, Counting("stub")).compact_now())
        assert report is not None
        assert report.degraded == report.regions - 1 > 0
        assert all(FOOTER.fullmatch(i.message.text) for i in session.view() if i.kind is ItemClass.INDEX)
    with filled(tmp_path / "b") as session:
        before = request(session)
        with pytest.raises(PassFailedError, match="the state could not be written: no"):
            asyncio.run(RecallableCompactor(session, Counting("state")).compact_now())
        assert request(session) == before
        assert session.passes[-1].error is not None
        assert session.unfinished_pass is None


def test_all_calls_of_a_pass_share_their_prefix_and_see_no_sibling(tmp_path: Path) -> None:
    with filled(tmp_path / "a") as session:
        summarizer = Counting()
        asyncio.run(RecallableCompactor(session, summarizer).compact_now())
        session.append_all(item.message for item in _renamed(14))
        del summarizer.requests[:]
        stubs = [i.message.text for i in session.view() if i.kind is ItemClass.INDEX]
        asyncio.run(RecallableCompactor(session, summarizer).compact_now())
        assert len(summarizer.requests) > 2
        assert len({item.shared for item in summarizer.requests}) == 1
        assert summarizer.requests[0].state
        for item in summarizer.requests:
            assert item.kind == "state" or len(item.keywords) == len(stubs)


def _renamed(turns: int) -> list[object]:
    return list(synthetic_session(turns, 99).messages)


def test_the_guard_refuses_what_does_not_shrink_and_waits(tmp_path: Path) -> None:
    async def bigger(messages: object) -> int:
        return len(messages)  # type: ignore[arg-type]

    with filled(tmp_path / "a") as session:
        before = request(session)
        same = RecallableCompactor(session, count=lambda messages: _constant(7))
        report = asyncio.run(same.compact_if_needed("pressure"))
        assert report is not None
        assert (report.outcome, report.regions) == ("guard", 0)
        assert request(session) == before
        assert asyncio.run(same.compact_if_needed("pressure")) is None, (
            "it did not wait for more stale history"
        )
        fewer = RecallableCompactor(session, count=bigger)  # type: ignore[arg-type]
        again = asyncio.run(fewer.compact_now())
        assert again is not None
        assert again.outcome == "committed"


async def _constant(value: int) -> int:
    return value


def test_nothing_to_compact_writes_nothing(tmp_path: Path) -> None:
    with Session.create(tmp_path / "log", SMALL) as session:
        session.append(ChatMessage("user", "hi"))
        size = (tmp_path / "log").stat().st_size
        assert asyncio.run(RecallableCompactor(session).compact_now()) is None
        assert (tmp_path / "log").stat().st_size == size


def test_a_second_pass_at_the_same_time_is_refused_and_cancelling_commits_nothing(tmp_path: Path) -> None:
    async def go() -> None:
        class Slow:
            async def summarize(self, request: SummaryRequest) -> str:
                await asyncio.sleep(60)
                return ""

        with filled(tmp_path / "a") as session:
            before = request(session)
            task = asyncio.create_task(RecallableCompactor(session, Slow()).compact_now())
            await asyncio.sleep(0.01)
            with pytest.raises(PassRefusedError):
                await RecallableCompactor(session).compact_now()
            session.append(ChatMessage("user", "one more"))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert session.passes[-1].error == "cancelled"
            assert request(session)[0][:-1] == before[0]  # type: ignore[index]

    asyncio.run(go())


def test_an_undo_meanwhile_overtakes_the_pass(tmp_path: Path) -> None:
    async def go() -> None:
        with filled(tmp_path / "a") as session:

            class Undoing(Counting):
                async def summarize(self, request: SummaryRequest) -> str:
                    if request.kind == "state":
                        session.undo(14)
                    return await super().summarize(request)

            report = await RecallableCompactor(session, Undoing()).compact_now()
            assert report is not None
            assert report.outcome == "overtaken"
            assert shape(session) == ""

    asyncio.run(go())


def test_a_slice_of_recalled_content_alone_is_stubbed_by_code(tmp_path: Path) -> None:
    with Session.create(tmp_path / "log", SMALL) as session:
        session.append(ChatMessage("user", "what was it?"))
        asyncio.run(_fill_with_recall(session))
        summarizer = Counting()
        report = asyncio.run(RecallableCompactor(session, summarizer).compact_now())
        assert report is not None
        assert report.degraded >= 1
        assert report.degraded + report.summarizer_calls == report.regions


async def _fill_with_recall(session: Session) -> None:
    for number in range(12):
        session.append(ChatMessage("assistant", calls=(ToolCall(f"r{number}", "history_read", "{}"),)))
        session.append(ChatMessage("tool", "recalled words " * 200, result_of=f"r{number}"))
    session.append(ChatMessage("assistant", "It was seven."))
    session.append(ChatMessage("user", "thanks " * 3000))


def test_another_compactors_summary_is_adopted_as_the_state(tmp_path: Path) -> None:
    with Session.create(tmp_path / "log", SMALL) as session:
        asyncio.run(run(session, 30, basic=True))
        assert shape(session).startswith("bm")
        legacy = session.view()[0].message.text
        session.append_all(item.message for item in synthetic_session(14, 77).messages)
        summarizer = Counting()
        asyncio.run(RecallableCompactor(session, summarizer).compact_now())
        assert shape(session).lstrip("i").startswith("sm")
        assert all(item.state == legacy for item in summarizer.requests)
        tools = RecallTools(session)
        first = session.view()[0].checkpoint
        assert legacy.splitlines()[0] in asyncio.run(tools.history_read(f"c{first}")).text


def test_a_kill_at_every_byte_of_a_pass_loses_nothing(tmp_path: Path) -> None:
    """Cut the log after every byte of a pass, resume, and compare with what had been acknowledged."""
    path = tmp_path / "whole"
    with filled(path, 10) as session:
        asyncio.run(RecallableCompactor(session).compact_now())
        session.append_all(item.message for item in synthetic_session(9, 31).messages)
        start = path.stat().st_size
        everything = {seq: i.message for seq, i in session.items.items() if i.kind is ItemClass.MESSAGE}
        asyncio.run(RecallableCompactor(session).compact_now())
        goal = shape(session)
    data = path.read_bytes()
    ends = {start + at + 1 for at, byte in enumerate(data[start:]) if byte == 10}
    cuts = range(start, len(data) + 1)
    chosen = [cut for cut in cuts if cut in ends or cut - 1 in ends or cut % 37 == 0 or cut == len(data)]
    for cut in chosen:
        torn = tmp_path / "torn"
        torn.write_bytes(data[:cut])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if cut not in ends and cut != start else "error", TornLogWarning)
            resumed = Session.open(torn, SMALL)
        with resumed as session:
            asyncio.run(RecallableCompactor(session).resume())
            assert session.unfinished_pass is None
            if shape(session) != "i" * goal.count("i") + "s" + "m" * goal.count("m"):
                assert session.passes[-1].error or len(session.passes) == 1, "a committed prefix was left"
                asyncio.run(RecallableCompactor(session).compact_now())
            assert shape(session) == goal
            assert covered(session) == everything


def covered(session: Session) -> dict[int, ChatMessage]:
    """Every message that is shown or shadowed; each exactly once."""
    seqs = [item.seq for item in session.view() if item.kind is ItemClass.MESSAGE]
    for checkpoint in session.checkpoints.values():
        seqs += [seq for seq in checkpoint.shadowed if session.items[seq].kind is ItemClass.MESSAGE]
    assert len(seqs) == len(set(seqs))
    return {seq: session.items[seq].message for seq in sorted(seqs)}


def test_a_torn_line_is_kept_beside_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Session.create(path) as session:
        session.append(ChatMessage("user", "kept"))
    with path.open("ab") as file:
        file.write(b'{"seq":2,"type":"mess')
    assert len(Session.read(path).view()) == 1
    with pytest.warns(TornLogWarning, match="21 bytes"):
        session = Session.open(path)
    with session:
        assert [i.message.text for i in session.view()] == ["kept"]
        session.append(ChatMessage("user", "next"))
    assert (tmp_path / "log.torn").read_bytes() == b'{"seq":2,"type":"mess\n'
    assert [i.message.text for i in Session.read(path).view()] == ["kept", "next"]


def test_any_other_damage_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Session.create(path) as session:
        session.append_all(ChatMessage("user", f"number {n}") for n in range(5))
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = {
        "flipped": (
            b"".join([*lines[:3], lines[3].replace(b"number 2", b"number 3"), *lines[4:]]),
            4,
            "checksum",
        ),
        "gap": (b"".join([*lines[:2], *lines[3:]]), 3, "seq 3 where 2 is due"),
        "header": (b"".join(lines[1:]), 1, "header"),
        "empty": (b"", 1, "header"),
    }
    for data, line, said in damaged.values():
        path.write_bytes(data)
        with pytest.raises(CorruptLogError, match=said) as caught:
            Session.open(path)
        assert str(caught.value).startswith(f"{path}:{line}: ")
        assert path.read_bytes() == data


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with Session.create(tmp_path / "log"), pytest.raises(LockedLogError, match="another process"):
        Session.open(tmp_path / "log")
    Session.open(tmp_path / "log").close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chunk_tokens": 100}, "chunk_tokens: 100: at least 3 times"),
        ({"stub_tokens": 900}, "stub_tokens: 900: at most 10%"),
        ({"retain_tokens": 127_000}, "retain_tokens: 127000"),
        ({"window_tokens": 0}, "window_tokens: 0"),
        ({"fsync": "often"}, "fsync: 'often'"),
        ({"colour": 1}, "colour"),
    ],
)
def test_bad_settings_name_field_value_and_rule(change: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings(**change)


def test_undo_says_why_not(tmp_path: Path) -> None:
    with Session.create(tmp_path / "log", SMALL) as session:
        reasons = []
        for count, grow in ((1, 0), (2, 2), (50, 14)):
            session.append_all(i.message for i in synthetic_session(grow, grow).messages)
            if grow == 14:
                asyncio.run(RecallableCompactor(session).compact_now())
            with pytest.raises(UndoRejectedError) as caught:
                session.undo(count if grow != 2 else 3)
            reasons.append(caught.value.reason)
        assert reasons == ["empty", "insufficient", "epoch-boundary"]
        length = len(session.view())
        assert length - session.undo(1) == len(session.view())


def test_recall_errors_are_typed(tmp_path: Path) -> None:
    async def go() -> None:
        with filled(tmp_path / "a") as session:
            with pytest.raises(PassFailedError):
                await RecallableCompactor(session, Counting("state")).compact_now()
            orphan = session.passes[-1].seq
            await RecallableCompactor(session).compact_now()
            tools = RecallTools(session)
            known = next(iter(session.checkpoints.values())).id
            for error, call in (
                (UnknownCheckpointError, tools.history_read("c999999")),
                (UnknownCheckpointError, tools.history_read("nonsense")),
                (OrphanedStartError, tools.history_read(f"c{orphan}")),
                (OffsetError, tools.history_read(known, 10**9)),
                (OffsetError, tools.history_read(known, -1)),
                (OffsetError, tools.history_search("x", limit=0)),
                (RecallError, tools.history_search(" ")),
                (NotAnAgentError, RecallTools(session, "user").history_read(known)),
                (NotAnAgentError, RecallTools(session, "user").history_search("x")),
                (RecallError, tools.call("history_write", {})),
                (RecallError, tools.call("history_read", {})),
                (RecallError, tools.call("history_read", {"checkpoint": known, "page": 1})),
            ):
                with pytest.raises(error):
                    await call
            page = await tools.history_search("no such words anywhere")
            assert (page.matched, page.truncated) == (0, False)
            assert page.hint is not None
            assert page.scanned > 10
            session.clear()
            with pytest.raises(UnknownCheckpointError, match="clear"):
                await tools.history_read(known)

    asyncio.run(go())
