"""The acceptance criteria of recallable compaction, one test each; docs/reference.md has the table."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from foldproof.conformance.synthetic import Plant, plant, synthetic_session
from foldproof.reference.checkpoints import FOOTER, Checkpoint
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import (
    NotAnAgentError,
    OrphanedStartError,
    PassFailedError,
    UnknownCheckpointError,
)
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.passes import PRIOR_STATE, PassReport
from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.recall import PROMPT_SECTION, SCHEMAS, RecallTools
from foldproof.reference.render import render_anthropic, render_openai
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings
from foldproof.reference.summarizers import ExtractiveSummarizer
from foldproof.reference.surface import ItemClass

SMALL = Settings.for_window(8_000)


@dataclass
class Lived:
    """A long session: its passes, and what the surface and the tools' texts were after each."""

    path: Path
    plants: tuple[Plant, ...]
    reports: list[PassReport]
    surfaces: list[list[tuple[str, str]]]
    tools: list[str]
    request: str


def request(session: Session) -> str:
    messages = session.view().messages()
    return json.dumps([render_openai(messages), render_anthropic(messages)])


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    path = tmp_path_factory.mktemp("acceptance") / "log"
    imported, plants = plant(synthetic_session(120), 200)
    life = Lived(path, plants, [], [], [], "")

    async def go() -> None:
        with Session.create(path, SMALL) as session:
            compactor = RecallableCompactor(session)
            for item in imported.messages:
                if item.role == "assistant":
                    report = await compactor.compact_if_needed()
                    if report is not None and report.outcome == "committed":
                        life.reports.append(report)
                        life.surfaces.append([(i.kind.value, i.message.text) for i in session.view()])
                        life.tools.append(json.dumps(RecallTools.schemas) + RecallTools.prompt_section)
                session.append(item.message)
            life.request = request(session)

    asyncio.run(go())
    assert len(life.reports) > 5
    return life


def stubs(surface: list[tuple[str, str]]) -> list[str]:
    return [text for kind, text in surface if kind == "index"]


def read_all(tools: RecallTools, checkpoint: str) -> str:
    parts, offset = [], 0
    while offset is not None:
        page = asyncio.run(tools.history_read(checkpoint, offset))
        assert len(page.text) <= SMALL.page_chars
        parts.append(page.text)
        offset = page.next_offset  # type: ignore[assignment]
    return "".join(parts)


# --- the surface ---------------------------------------------------------------------------------


def test_every_completed_pass_leaves_stubs_state_tail(lived: Lived) -> None:
    for surface in lived.surfaces:
        letters = "".join(kind[0] for kind, _ in surface)
        assert re.fullmatch(r"i*sm+", letters), letters


def test_prior_stubs_are_byte_identical_across_passes(lived: Lived) -> None:
    for before, after in zip(lived.surfaces, lived.surfaces[1:], strict=False):
        assert stubs(after)[: len(stubs(before))] == stubs(before)


def test_a_committed_stub_never_falls_into_a_later_region(lived: Lived) -> None:
    session = Session.read(lived.path, SMALL)
    for checkpoint in session.checkpoints.values():
        assert all(session.items[seq].kind is not ItemClass.INDEX for seq in checkpoint.shadowed)


def test_a_superseded_state_folds_without_a_tombstone_and_is_rendered_with_its_label(lived: Lived) -> None:
    session = Session.read(lived.path, SMALL)
    states = [c for c in session.checkpoints.values() if c.kind is ItemClass.STATE]
    assert len(states) == len(lived.reports)
    for old in states[:-1]:
        [owner] = [c for c in session.checkpoints.values() if old.seq + 1 in c.shadowed]
        assert old.text not in owner.text
        assert f"{PRIOR_STATE}\n{old.text}" in read_all(RecallTools(session), owner.id)


# --- footers -------------------------------------------------------------------------------------


def test_every_checkpoint_ends_with_its_footer(lived: Lived) -> None:
    for checkpoint in Session.read(lived.path, SMALL).checkpoints.values():
        [found] = FOOTER.finditer(checkpoint.text)
        assert found.end() == len(checkpoint.text)
        assert tuple(map(int, found.groups())) == (checkpoint.seq, *checkpoint.span)


def test_footers_round_trip_through_replay(lived: Lived) -> None:
    with Session.open(lived.path, SMALL) as again:
        assert request(again) == lived.request


def test_the_state_records_the_wider_range_that_it_was_made_from(lived: Lived) -> None:
    session = Session.read(lived.path, SMALL)
    for checkpoint in session.checkpoints.values():
        if checkpoint.kind is ItemClass.STATE:
            siblings = [c for c in session.checkpoints.values() if c.pass_number == checkpoint.pass_number]
            assert checkpoint.span == (siblings[0].shadowed[0], checkpoint.shadowed[-1])


# --- the pass ------------------------------------------------------------------------------------


class Watching:
    """Looks at the log at every call; can fail, and can answer with what does not shrink."""

    def __init__(self, session: Session, fail: str = "", text: str = "") -> None:
        self.session, self.fail, self.text = session, fail, text
        self.requests: list[SummaryRequest] = []
        self.committed: list[int] = []
        self.inner = ExtractiveSummarizer()

    async def summarize(self, request: SummaryRequest) -> str:
        self.requests.append(request)
        await asyncio.sleep(0.01)
        self.committed.append(self.session.passes[-1].committed)
        if request.kind == self.fail:
            raise RuntimeError("refused")
        return self.text or await self.inner.summarize(request)


def filled(path: Path, turns: int = 14, seed: int = 5) -> Session:
    session = Session.create(path, SMALL)
    session.append_all(item.message for item in synthetic_session(turns, seed).messages)
    return session


def test_nothing_commits_before_all_summaries_exist(tmp_path: Path) -> None:
    with filled(tmp_path / "log") as session:
        watching = Watching(session)
        report = asyncio.run(RecallableCompactor(session, watching).compact_now())
        assert report is not None
        assert report.regions > 2
        assert watching.committed == [0] * len(watching.requests)
    with filled(tmp_path / "other") as session:
        before = request(session)
        with pytest.raises(PassFailedError):
            asyncio.run(RecallableCompactor(session, Watching(session, fail="state")).compact_now())
        assert request(session) == before
        assert not session.checkpoints


def test_a_guard_failure_commits_nothing_and_does_not_fail_the_turn(tmp_path: Path) -> None:
    async def same(_: object) -> int:
        return 1_000

    with filled(tmp_path / "log") as session:
        before = request(session)
        compactor = RecallableCompactor(session, count=same)
        report = asyncio.run(compactor.compact_if_needed())
        assert report is not None
        assert report.outcome == "guard"
        assert request(session) == before
        session.append(ChatMessage("user", "the turn goes on"))
        assert asyncio.run(compactor.compact_if_needed()) is None, "it did not wait for more stale history"


def test_a_kill_in_mid_commit_is_completed_unconditionally_with_the_merge_base_from_the_log(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log"
    with filled(path) as session:
        asyncio.run(RecallableCompactor(session).compact_now())
        state = session.state_text
        session.append_all(item.message for item in synthetic_session(14, 99).messages)
        asyncio.run(RecallableCompactor(session).compact_now())
        number = session.passes[-1].number
        first = next(c for c in session.checkpoints.values() if c.pass_number == number)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: first.seq + 2]))  # the header, and up to the first checkpoint
    with Session.open(path, SMALL) as session:
        assert session.unfinished_pass is not None
        assert all(item.kind is not ItemClass.STATE for item in session.view())

        async def same(_: object) -> int:
            return 1_000  # the guard would refuse: shape outranks size

        watching = Watching(session)
        report = asyncio.run(RecallableCompactor(session, watching, count=same).compact_if_needed())
        assert report is not None
        assert report.trigger == "resume"
        assert report.outcome == "committed"
        assert {item.state for item in watching.requests} == {state}
        assert re.fullmatch(r"i+sm+", "".join(item.kind.value[0] for item in session.view()))


def test_a_legacy_head_checkpoint_is_adopted_as_the_state(tmp_path: Path) -> None:
    with filled(tmp_path / "log") as session:
        legacy = "Everything so far, as another compactor told it."
        shadowed = tuple(item.seq for item in session.view()[:6])
        seq = session.last_seq + 2
        session.record(
            "compaction/start",
            {"compactor": "legacy", "trigger": "request", "regions": [[shadowed[0], shadowed[-1]]]},
        )
        old = Checkpoint(seq, ItemClass.BASIC, legacy, (shadowed[0], shadowed[-1]), shadowed, 1)
        session.record("compaction/summary", old.to_data())
        session.record("checkpoint", {"summary": seq})
        session.record("compaction/end", {"error": None})
        watching = Watching(session)
        asyncio.run(RecallableCompactor(session, watching).compact_now())
        assert {item.state for item in watching.requests} == {legacy}
        assert re.fullmatch(r"i*sm+", "".join(item.kind.value[0] for item in session.view()))
        assert legacy in read_all(RecallTools(session), f"c{session.view()[0].checkpoint}")


# --- recall --------------------------------------------------------------------------------------


def test_history_read_renders_any_checkpoint_under_budget_with_a_working_cursor(lived: Lived) -> None:
    session = Session.read(lived.path, SMALL.model_copy(update={"page_chars": 700}))
    tools, pages = RecallTools(session), 0
    for checkpoint in session.checkpoints.values():
        text, offset = "", 0
        while True:
            page = asyncio.run(tools.history_read(checkpoint.id, offset))
            assert len(page.text) <= 700
            text, pages = text + page.text, pages + 1
            if page.next_offset is None:
                break
            offset = page.next_offset
        for seq in checkpoint.shadowed:
            assert session.items[seq].message.text in text
    assert pages > 2 * len(session.checkpoints)


def test_what_only_a_superseded_state_shadows_is_found_by_search_and_read_in_two_hops(lived: Lived) -> None:
    session = Session.read(lived.path, SMALL)
    tools = RecallTools(session)
    visible = [f"c{item.checkpoint}" for item in session.view() if item.checkpoint is not None]
    superseded = {c.id for c in session.checkpoints.values() if c.kind is ItemClass.STATE} - set(visible)
    pinned = 0
    for fact in lived.plants:
        found = asyncio.run(tools.history_search(fact.literal.upper()))
        owners = {match.checkpoint for match in found.matches}
        if not owners or not owners <= superseded:
            continue
        pinned += 1
        [owner] = owners
        hops = [first for first in visible if f"[checkpoint {owner}:" in read_all(tools, first)]
        assert len(hops) == 1, "one visible checkpoint leads to it"
        assert fact.sentence in read_all(tools, owner)
    assert pinned >= 5


def test_history_search_covers_every_shadowed_span_and_says_what_it_covered(lived: Lived) -> None:
    session = Session.read(lived.path, SMALL)
    tools = RecallTools(session)
    shown = {item.seq for item in session.view()}
    hidden = [item for item in session.history if item.seq not in shown]
    page = asyncio.run(tools.history_search("e", limit=3))
    assert page.scanned == len(hidden)
    assert (len(page.matches), page.truncated) == (3, True)
    assert all(match.checkpoint.startswith("c") for match in page.matches)
    none = asyncio.run(tools.history_search("no such words anywhere at all"))
    assert none.matched == 0
    assert none.hint is not None
    assert "literal" in none.hint


def test_recall_rejects_non_agents_unknown_ids_and_orphaned_starts(tmp_path: Path) -> None:
    with filled(tmp_path / "log") as session:
        with pytest.raises(PassFailedError):
            asyncio.run(RecallableCompactor(session, Watching(session, fail="state")).compact_now())
        orphan = session.passes[-1].seq
        asyncio.run(RecallableCompactor(session).compact_now())
        known = next(iter(session.checkpoints.values())).id
        tools, person = RecallTools(session), RecallTools(session, "user")
        for call in (person.history_read(known), person.history_search("x")):
            with pytest.raises(NotAnAgentError):
                asyncio.run(call)
        with pytest.raises(UnknownCheckpointError):
            asyncio.run(tools.history_read("c999999"))
        with pytest.raises(OrphanedStartError):
            asyncio.run(tools.history_read(f"c{orphan}"))


def test_requests_are_rebuilt_byte_for_byte_with_compaction_and_recall(tmp_path: Path) -> None:
    """Recalled content comes back as an ordinary tool result, is logged, and is compacted like any other."""
    path = tmp_path / "log"
    with filled(path) as session:
        compactor, tools = RecallableCompactor(session), RecallTools(session)
        asyncio.run(compactor.compact_now())
        requests = []
        for number in range(8):
            owner = f"c{session.view()[0].checkpoint}"
            call = ToolCall(f"recall-{number}", "history_read", json.dumps({"checkpoint": owner}))
            text = asyncio.run(tools.call(call.name, json.loads(call.arguments)))
            session.append(ChatMessage("user", f"what was it, {number}?"))
            session.append_all(
                [ChatMessage("assistant", calls=(call,)), ChatMessage("tool", text, result_of=call.id)]
            )
            assert session.view()[-1].message.role == "tool"
            session.append(ChatMessage("assistant", "It was that."))
            asyncio.run(compactor.compact_if_needed())
            requests.append((session.last_seq, request(session)))
        assert len(session.passes) > 1
    lines = path.read_bytes().splitlines(keepends=True)
    for seq, live in requests:
        (tmp_path / "prefix").write_bytes(b"".join(lines[: seq + 1]))
        assert request(Session.read(tmp_path / "prefix", SMALL)) == live


def test_a_keyless_snapshot_of_compact_then_recall(tmp_path: Path) -> None:
    """The whole scenario twice, without a key or a clock: the same bytes."""
    logs = []
    for name in ("one", "two"):
        with Session.create(tmp_path / name, SMALL, session_id="snapshot") as session:
            session.append_all(item.message for item in synthetic_session(14, 5).messages)
            asyncio.run(RecallableCompactor(session).compact_now())
            owner = f"c{session.view()[0].checkpoint}"
            text = asyncio.run(RecallTools(session).call("history_read", {"checkpoint": owner}))
            call = ToolCall("recall", "history_read", json.dumps({"checkpoint": owner}))
            session.append_all(
                [ChatMessage("assistant", calls=(call,)), ChatMessage("tool", text, result_of="recall")]
            )
        logs.append((tmp_path / name).read_bytes())
    assert logs[0] == logs[1]
    assert b"shadows conversation span" in logs[0]


def test_tool_schemas_and_prompt_section_are_byte_identical_across_passes(lived: Lived) -> None:
    assert set(lived.tools) == {json.dumps(SCHEMAS) + PROMPT_SECTION}
    assert not re.search(r"c\d+:", PROMPT_SECTION), "ids reach the model through footers alone"


# --- cost ----------------------------------------------------------------------------------------


def test_summariser_input_per_pass_does_not_grow_with_the_session(lived: Lived) -> None:
    inputs = [report.summarizer_input_tokens for report in lived.reports]
    early, late = sum(inputs[1:4]) / 3, sum(inputs[-3:]) / 3
    assert late < 1.5 * early, inputs


def test_a_pass_takes_about_as_long_as_one_call(tmp_path: Path) -> None:
    """By the order of events, not by a clock: every call of the pass is under way before any returns."""

    class Together:
        def __init__(self) -> None:
            self.under_way = self.most = 0

        async def summarize(self, request: SummaryRequest) -> str:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(0.01)
            self.under_way -= 1
            return "Keywords: x"

    with filled(tmp_path / "log") as session:
        together = Together()
        report = asyncio.run(RecallableCompactor(session, together).compact_now())
        assert report is not None
        assert together.most == min(report.summarizer_calls, SMALL.max_concurrency)


def test_the_docs_name_every_criterion_and_its_test() -> None:
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "reference.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", page))
    source = "".join(path.read_text() for path in (root / "tests").rglob("test_*.py"))
    here = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text(), re.M))
    assert here - {"test_the_docs_name_every_criterion_and_its_test"} <= named
    assert not [name for name in named if f"def {name}(" not in source]
