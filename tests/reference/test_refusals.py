"""A log that says what cannot be, and a command that cannot be carried out: each is one typed error.

The lines here are whole and their checksums fit: what is wrong is what they say.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foldproof.reference.basic import BasicCompactor
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import (
    CorruptLogError,
    FoldproofError,
    LogError,
    PassRefusedError,
    TransitionRejectedError,
    UndoRejectedError,
    WriteError,
)
from foldproof.reference.log import FORMAT, VERSION, encode_line
from foldproof.reference.messages import ChatMessage
from foldproof.reference.passes import clean
from foldproof.reference.protocols import CharacterEstimator, SummaryRequest
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

SETTINGS = Settings.for_window(2_000)
HEADER = {"format": FORMAT, "version": VERSION, "session": "s"}
PROMPT = {"role": "user", "text": "hello"}


def log(path: Path, *lines: Any, header: Any = HEADER) -> Path:
    """A log of these events, numbered, with checksums that fit; a dict stands as it is."""
    bodies = [
        line if isinstance(line, dict) else {"seq": seq, "type": line[0], "data": line[1]}
        for seq, line in enumerate(lines, 1)
    ]
    path.write_bytes(b"".join(encode_line(body) for body in (header, *bodies)))
    return path


def real_summary(tmp_path: Path) -> dict[str, Any]:
    """The data of a summary as a pass writes it, so that only what a test changes is wrong."""
    with Session.create(tmp_path / "real", SETTINGS) as session:
        for number in range(40):
            session.append(ChatMessage("user", f"{number} " + "words " * 40))
        asyncio.run(RecallableCompactor(session).compact_now())
    lines = [json.loads(line) for line in (tmp_path / "real").read_bytes().splitlines()[1:]]
    return next(dict(line["data"]) for line in lines if line["type"] == "compaction/summary")


CANNOT_BE: dict[str, tuple[tuple[Any, ...], int, str]] = {
    "no type": (({"seq": 1, "data": {}},), 2, "an event needs a type and data"),
    "a type that is not known": (
        (("wish", {}),),
        2,
        "a wish event that cannot be applied .*unknown type 'wish'",
    ),
    "a transition nobody asked for": (
        (("message", PROMPT), ("transition/open", {"carrier": 1})),
        3,
        "seq 1 carries no transition",
    ),
    "an undo of what is not there": ((("undo", {"cut": 7}),), 2, "seq 7 is not in the history"),
    "a checkpoint of no summary": (
        (("message", PROMPT), ("checkpoint", {"summary": 1})),
        3,
        "seq 1 is not the summary before it",
    ),
}


@pytest.mark.parametrize("name", CANNOT_BE)
def test_a_log_that_says_what_cannot_be_names_the_line(tmp_path: Path, name: str) -> None:
    lines, line, what = CANNOT_BE[name]
    path = log(tmp_path / "s.log", *lines)
    before = path.read_bytes()
    for opener in (Session.read, Session.open, Session.open):  # twice: a failed open leaves no lock behind
        with pytest.raises(CorruptLogError, match=f"s.log:{line}: .*{what}"):
            opener(path, SETTINGS)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"shadowed_seqs": [9]}, "seq 9 is not on the surface"),
        ({"shadowed_seqs": [1, 3]}, "no span of the surface"),
        ({"kind": "basic", "shadowed_seqs": [2, 3]}, "a summary replaces a prefix"),
        ({"kind": "index", "shadowed_seqs": [2, 3]}, "begins right behind the last index stub"),
    ],
)
def test_a_region_that_does_not_fit_names_the_line(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    data = real_summary(tmp_path) | change
    messages = [("message", PROMPT)] * 3
    start = ("compaction/start", {"compactor": "recallable", "trigger": "request", "regions": [[1, 3]]})
    path = log(
        tmp_path / "s.log", *messages, start, ("compaction/summary", data), ("checkpoint", {"summary": 5})
    )
    with pytest.raises(CorruptLogError, match=f"s.log:7: .*({what})"):
        Session.read(path, SETTINGS)


@pytest.mark.parametrize(
    ("header", "error", "what"),
    [
        ({"format": "other", "session": "s"}, CorruptLogError, "not a foldproof log"),
        (HEADER | {"version": 9}, LogError, f"version 9; this release reads version {VERSION}"),
    ],
)
def test_another_file_or_version_is_no_log(
    tmp_path: Path, header: dict[str, Any], error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        Session.read(log(tmp_path / "s.log", header=header), SETTINGS)
    (tmp_path / "list.log").write_bytes(b'[1,"sum":"00000000"}\n')
    with pytest.raises(CorruptLogError, match="no valid header"):
        Session.read(tmp_path / "list.log", SETTINGS)


def test_a_log_is_never_begun_over_another(tmp_path: Path) -> None:
    (tmp_path / "s.log").write_text("mine")
    for _ in range(2):
        with pytest.raises(LogError, match="exists already; open it, or name another file"):
            Session.create(tmp_path / "s.log", SETTINGS)
    assert (tmp_path / "s.log").read_text() == "mine"


def test_a_lone_surrogate_is_stored_and_comes_back(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        session.append(ChatMessage("user", "half a pair: \ud83d"))
    assert Session.read(tmp_path / "s.log", SETTINGS).view()[0].message.text == "half a pair: \ud83d"


def test_a_write_that_can_be_neither_done_nor_taken_back_ends_the_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Session.create(tmp_path / "s.log", Settings(fsync="always")) as session:
        session.append(ChatMessage("user", "first"))

        def fail(*_: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            patch.setattr(os, "ftruncate", fail)
            with pytest.raises(WriteError, match="not written"):
                session.append(ChatMessage("user", "second"))
        with pytest.raises(WriteError, match="an earlier write failed half-way; open the log again"):
            session.append(ChatMessage("user", "third"))


def test_who_only_reads_cannot_write(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        session.append(ChatMessage("user", "first"))
        reader = Session.read(tmp_path / "s.log", SETTINGS)
        with pytest.raises(FoldproofError, match="opened for reading only"):
            reader.append(ChatMessage("user", "second"))
        reader.close()


def test_commands_that_change_nothing_write_nothing(tmp_path: Path) -> None:
    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        session.clear()
        session.toggle(True)
        assert not session.step_end()
        session.toggle(False)
        assert not session.step_end()
        with pytest.raises(TransitionRejectedError):
            session.call("open")
        assert session.last_seq == 1
        with pytest.raises(ValueError, match="count: 0 is less than 1"):
            session.undo(0)
        with pytest.raises(UndoRejectedError) as refused:
            session.undo()
        assert refused.value.reason == "empty"


def test_a_summary_bars_an_undo_and_a_pending_call_bars_every_pass(tmp_path: Path) -> None:
    async def go(session: Session) -> None:
        for number in range(12):
            session.append(ChatMessage("user", f"{number} " + "words " * 100))
        basic = BasicCompactor(session)
        assert await basic.compact_now() is not None
        with pytest.raises(UndoRejectedError) as refused:
            session.undo(12)
        assert refused.value.reason == "epoch-boundary"
        session.call("open")
        assert await basic.compact_now() is None
        assert await RecallableCompactor(session).compact_now() is None
        with pytest.raises(PassRefusedError, match="a transition is pending"):
            session.record("compaction/summary", {"kind": "state"})
        session.step_end()

    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        asyncio.run(go(session))


class Failing:
    async def summarize(self, request: SummaryRequest) -> str:
        raise ConnectionError("no route")


def test_a_basic_pass_that_fails_is_closed_and_an_interrupted_one_too(tmp_path: Path) -> None:
    async def go(session: Session) -> None:
        for number in range(12):
            session.append(ChatMessage("user", f"{number} " + "words " * 100))
        with pytest.raises(ConnectionError):
            await BasicCompactor(session, Failing()).compact_now()
        assert session.passes[-1].error == "ConnectionError: no route"
        session.record("compaction/start", {"compactor": "basic", "trigger": "request", "regions": [[1, 2]]})
        session.pass_runs = True
        with pytest.raises(PassRefusedError):
            await BasicCompactor(session).compact_now()
        session.pass_runs = False
        assert await BasicCompactor(session).compact_now() is not None
        assert session.passes[-2].error == "interrupted"

    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        asyncio.run(go(session))


def test_a_stub_of_keywords_alone_is_cut_to_its_cap() -> None:
    estimate: Callable[[str], int] = CharacterEstimator()
    text = clean("one line\nKeywords: " + ", ".join(f"word{n}" for n in range(200)), 40, estimate)
    assert estimate(text) <= 40
    assert text.splitlines()[-1].startswith("Keywords: ")


def test_a_view_is_a_sequence_like_any_other() -> None:
    with Session.in_memory(SETTINGS) as session:
        session.append_all([ChatMessage("user", str(number)) for number in range(3)])
        view = session.view()
        assert [item.seq for item in view[-2:]] == [2, 3]
        assert view[-1].seq == 3
        with pytest.raises(IndexError):
            view[3]


def test_a_refused_request_starts_a_pass_once_a_turn_and_only_where_it_was_too_long(tmp_path: Path) -> None:
    """A provider's 413 by a view far below the threshold has another reason; one turn tries so many times."""

    async def go(session: Session) -> None:
        compactor = RecallableCompactor(session)
        session.append(ChatMessage("user", "small"))
        assert await compactor.compact_if_needed("overflow") is None, "nothing was too long"
        passes = 0
        for turn in range(3):
            for _ in range(session.settings.overflow_passes + 2):
                for _ in range(40):
                    session.append(ChatMessage("assistant", "words " * 120))
                if await compactor.compact_if_needed("overflow") is not None:
                    passes += 1
            assert passes == (turn + 1) * session.settings.overflow_passes
            session.append(ChatMessage("user", "next turn"))

    with Session.create(tmp_path / "s.log", Settings.for_window(8_000)) as session:
        asyncio.run(go(session))


def test_a_pass_that_is_overtaken_while_the_tokens_are_counted_commits_nothing(tmp_path: Path) -> None:
    async def go(session: Session) -> None:
        for number in range(12):
            session.append(ChatMessage("user", f"{number} " + "words " * 100))

        async def count(messages: object) -> int:
            if len(session.view()):
                session.clear()
            return 1

        report = await RecallableCompactor(session, count=count).compact_now()
        assert report is not None
        assert report.outcome in ("overtaken", "guard")
        assert len(session.view()) == 0
        assert not session.checkpoints

    with Session.create(tmp_path / "s.log", SETTINGS) as session:
        asyncio.run(go(session))
