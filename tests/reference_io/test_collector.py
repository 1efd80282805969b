"""The collector is paused while a log is replayed, and left as it was found."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from foldproof.reference.collector import collector_paused
from foldproof.reference.errors import CorruptLogError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.session import Session


def test_it_is_paused_and_comes_back() -> None:
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_host_that_switched_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_comes_back_after_a_broken_log_too(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Session.create(path) as session:
        session.append(ChatMessage("user", "hi"))
    with Session.open(path):
        assert gc.isenabled()
    path.write_bytes(b"no log\n")
    with pytest.raises(CorruptLogError):
        Session.read(path)
    assert gc.isenabled()
