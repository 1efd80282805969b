"""Crashes: real kills, a cut at every byte, and writes that the system refuses."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from foldproof.model.events import (
    AppendReply,
    AppendUser,
    Call,
    CommitIndex,
    CommitState,
    Event,
    FlagFlip,
    Measure,
    Restore,
    StepEnd,
    Undo,
)
from foldproof.model.fold import flatten
from foldproof.model.state import INITIAL, Kind, State
from foldproof.model.step import step
from foldproof.reference.abstraction import alpha_view
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import TornLogWarning, WriteError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.session import Session
from foldproof.reference.surface import ItemClass
from foldproof.stateful_tests.refinement import apply, check, core_costs
from foldproof.stateful_tests.session_machine import PASSING, Gated

CAMPAIGN = "import sys; from pathlib import Path; from foldproof.stateful_tests.killing import campaign; \
result = campaign(Path(sys.argv[1]), int(sys.argv[2])); print(result.acknowledged, result.half_done)"


def kill(folder: Path, rounds: int) -> tuple[int, int]:
    """In a process of its own, which has no threads when it forks."""
    done = subprocess.run(
        [sys.executable, "-c", CAMPAIGN, str(folder), str(rounds)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    acknowledged, half_done = map(int, done.stdout.split())
    return acknowledged, half_done


def test_two_hundred_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    acknowledged, half_done = kill(tmp_path, 200)
    assert acknowledged > 200
    assert half_done > 20, "the kills did not come in the midst of anything"


@pytest.mark.nightly
def test_ten_thousand_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    assert kill(tmp_path, 10_000)[0] > 10_000


TURNS: tuple[Event, ...] = (
    AppendUser(),
    Call(Kind.OPEN),
    StepEnd(),
    AppendReply(),
    Measure(),
    Call(Kind.NEXT),
    StepEnd(),
    AppendUser(),
    Call(Kind.CLOSE),
    StepEnd(),
    FlagFlip(),
    AppendUser(),
    Undo(6),
    FlagFlip(),
    *[AppendUser(), AppendReply()] * 6,
)


def lived(path: Path) -> tuple[bytes, list[tuple[int, State]]]:
    """Ordinary turns, then a pass of several regions: the log, and what the model was when, by size."""
    session = Session.create(path, PASSING, core_costs)
    model, moments = INITIAL, [(path.stat().st_size, INITIAL)]
    with session:
        for event in TURNS:
            session = apply(session, event)
            model = step(model, event)
            check(session, model)
            moments.append((path.stat().st_size, model))
        gated = Gated()
        gated.gate.set()
        report = asyncio.run(RecallableCompactor(session, gated).compact_now())
        assert report is not None
        assert report.regions >= 3
        data = path.read_bytes()
        ends = [n + 1 for n, byte in enumerate(data) if byte == 10]
        for checkpoint in session.checkpoints.values():
            if checkpoint.kind is not ItemClass.TASK:
                last = checkpoint.shadowed[-1]
                k = 1 + max(n for n, item in enumerate(session.history) if item.seq <= last)
                event = CommitIndex(k) if checkpoint.kind is ItemClass.INDEX else CommitState(k)
                model = step(model, event)
                moments.append((ends[checkpoint.seq + 1], model))
        check(session, model)
    return data, moments


def test_a_cut_at_every_byte_comes_back_as_the_model_says(tmp_path: Path) -> None:
    """Of ordinary turns and of a pass: reopened it is the last whole event; resumed, the pass is whole."""
    data, moments = lived(tmp_path / "whole")
    carriers = 0
    start = moments[0][0]
    for cut in range(start, len(data) + 1):
        size, model = [moment for moment in moments if moment[0] <= cut][-1]
        path = tmp_path / "cut"
        path.write_bytes(data[:cut])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TornLogWarning)
            session = Session.open(path, PASSING, core_costs)
        with session:
            if data[size:cut].count(b"\n") and session.history[-1].transition is not None:
                carriers += 1  # a call whose receipt was lost: stored, but never accepted
                assert len(session.history) == len(model.history) + 1
                assert session.pending is None
                continue
            check(session, step(model, Restore()))
            unfinished = session.unfinished_pass
            begun = unfinished is not None and unfinished.committed > 0
            gated = Gated()
            gated.gate.set()
            asyncio.run(RecallableCompactor(session, gated).resume())
            assert session.unfinished_pass is None
            assert list(flatten(alpha_view(session))) == [item.seq for item in session.history]
            kinds = [item.kind.value[0] for item in session.view()]
            if begun:
                assert "".join(kinds).lstrip("i")[0] == "s", "the state was not restored"
    assert carriers


class FullDisk:
    """A file that takes ``room`` bytes more, and then says that the disk is full."""

    def __init__(self, file: object, room: int, code: int) -> None:
        self.file, self.room, self.code = file, room, code

    def write(self, data: bytes) -> int:
        taken = min(len(data), self.room)
        if not taken:
            raise OSError(self.code, os.strerror(self.code))
        self.room -= taken
        return self.file.write(data[:taken])  # type: ignore[attr-defined, no-any-return]

    def __getattr__(self, name: str) -> object:
        return getattr(self.file, name)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("room", [0, 1, 50, 150])
def test_a_refused_write_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, code: int
) -> None:
    path = tmp_path / "log"
    with Session.create(path) as session:
        session.append(ChatMessage("user", "kept"))
        before, shown = path.read_bytes(), session.view().messages()
        writer = session._writer
        with monkeypatch.context() as patch:
            patch.setattr(writer, "_file", FullDisk(writer._file, room, code))  # type: ignore[union-attr]
            with pytest.raises(WriteError, match=r"log: not written \("):
                session.append_all([ChatMessage("user", "x" * 90), ChatMessage("assistant", "y" * 90)])
        assert path.read_bytes() == before
        assert session.view().messages() == shown
        session.append(ChatMessage("assistant", "there is room again"))
        live = session.view().messages()
    with Session.open(path) as again:
        assert again.view().messages() == live


def test_a_limit_of_the_system_on_the_file_is_a_refused_write(tmp_path: Path) -> None:
    """The real thing, not a stand-in: the kernel cuts the write short, then refuses the rest."""
    with Session.create(tmp_path / "log") as session:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
        try:
            with pytest.raises(WriteError, match="too large"):
                session.append(ChatMessage("user", "x" * 1_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        session.append(ChatMessage("user", "fits"))
    assert [item.message.text for item in Session.read(tmp_path / "log").view()] == ["fits"]


def test_a_disk_that_fails_to_sync_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session.create(tmp_path / "log") as session:

        def fail(_: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(WriteError, match="not on the disk"):
            session.append(ChatMessage("user", "on the disk?"))
        monkeypatch.undo()
