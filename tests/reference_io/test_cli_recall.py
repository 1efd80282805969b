"""The commands around the reference session: what they print, promise as JSON, refuse, and leave behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldproof.cli.main import run
from foldproof.conformance.importers import load_session
from foldproof.reference.session import Session

from .fake_endpoint import fake_endpoint
from .formats import as_openai

SAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
PASS_FIELDS = {
    "stubs",
    "regions",
    "tokens_before",
    "tokens_after",
    "cache_missed_tokens",
    "summarizer_input_tokens",
}


def compact(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["compact", *arguments, "--json"]) == 0
    out = capsys.readouterr().out
    result = json.loads(out)
    assert isinstance(result, dict)
    return result


@pytest.mark.parametrize("sample", ["pi.jsonl", "dsh.jsonl", "openai.json", "anthropic.json"])
def test_compact_reports_every_pass_alike_for_every_format(
    sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    report = compact(capsys, str(SAMPLES / sample), "--window", "6000", "--out", str(log))
    assert report["format"] == sample.partition(".")[0]
    assert report["messages"] == 112
    assert len(report["passes"]) >= 2
    for item in report["passes"]:
        assert item.keys() >= PASS_FIELDS
        assert item["tokens_after"] < item["tokens_before"]
        assert 0 < item["cache_missed_tokens"] <= item["tokens_after"]
    assert report["passes"][-1]["stubs"] == report["surface"]["index"]
    assert report["surface"]["state"] == 1
    # The basic compactor's requests after a pass miss the cache from the first token on.
    assert all(i["cache_missed_tokens"] == i["tokens_after"] for i in report["baseline"]["passes"])
    assert report["passes"][-1]["cache_missed_tokens"] < report["passes"][-1]["tokens_after"]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    live = Session.read(log)
    assert live.tokens == report["surface"]["tokens"]
    assert sum(item.kind == "message" for item in live.items.values()) == report["messages"]


def test_the_same_input_gives_the_same_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        compact(capsys, str(SAMPLES / "pi.jsonl"), "--window", "6000", "--out", str(tmp_path / name))
    first, second = ((tmp_path / name).read_bytes().splitlines()[1:] for name in ("a", "b"))
    assert first == second


def test_basic_alone_and_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    report = compact(capsys, str(SAMPLES / "pi.jsonl"), "--window", "6000", "--compactor", "basic")
    assert report["baseline"] is None
    assert report["surface"]["basic"] == 1
    assert run(["compact", str(SAMPLES / "pi.jsonl"), "--window", "6000"]) == 0
    text = capsys.readouterr().out
    assert "recallable: " in text
    assert "the prompt cache missed" in text
    assert run(["compact", str(SAMPLES / "pi.jsonl")]) == 0
    assert "no pass was due" in capsys.readouterr().out


def test_a_checkpoint_of_another_compactor_is_taken_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [
        {"type": "session", "version": 0, "createdAt": 0},
        {"type": "user/message", "data": {"content": [{"type": "text", "text": "the ORIGINAL-77 words"}]}},
        {
            "type": "user/message",
            "data": {"content": [{"type": "text", "text": "a summary"}]},
            "surfaceOp": {"op": "replace", "start": 0, "end": 0},
        },
        {"type": "assistant/message", "data": {"message": {"content": [{"type": "text", "text": "fine"}]}}},
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    report = compact(capsys, str(path), "--out", str(tmp_path / "log"))
    assert report["surface"]["basic"] == 1
    assert run(["recall", "search", str(tmp_path / "log"), "original-77", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matched"] == 1


def test_recall_reads_pages_and_searches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(tmp_path / "log")
    compact(capsys, str(SAMPLES / "openai.json"), "--window", "6000", "--out", log)
    assert run(["recall", "search", log, "PLEASE", "--limit", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["matches"]) == 2
    assert found["truncated"]
    assert found["scanned"] > found["matched"] > 2
    checkpoint = found["matches"][0]["checkpoint"]
    assert run(["recall", "read", log, checkpoint, "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page["text"].startswith("User: Please")
    assert run(["recall", "read", log, checkpoint, "--offset", "6", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("Please")
    assert run(["recall", "search", log, "no such thing", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hint"].startswith("No match.")
    assert run(["recall", "search", log, "no such thing"]) == 0
    assert "literal" in capsys.readouterr().out


def test_the_chat_summarizer_writes_the_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with fake_endpoint({"text": "The model wrote this."}) as server:
        arguments = ["--summarizer", "chat", "--model", "fake", "--base-url", server.url]
        log = tmp_path / "log"
        report = compact(capsys, str(SAMPLES / "pi.jsonl"), "--window", "6000", "--out", str(log), *arguments)
    calls = sum(i["summarizer_calls"] for p in (report, report["baseline"]) for i in p["passes"])
    assert len(server.requests) == calls
    assert all("The model wrote this." in c.text for c in Session.read(log).checkpoints.values())


def test_a_failing_endpoint_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with fake_endpoint({"status": 401, "message": "bad key"}) as server:
        arguments = ["--summarizer", "chat", "--model", "fake", "--base-url", server.url]
        code = run(
            [
                "compact",
                str(SAMPLES / "pi.jsonl"),
                "--window",
                "6000",
                "--out",
                str(tmp_path / "log"),
                *arguments,
            ]
        )
    error = capsys.readouterr().err
    assert code == 3
    assert "bad key" in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


MISTAKES = {
    "no session": (["compact", "nowhere.jsonl"], 2, "nowhere.jsonl: there is no such file"),
    "format": (["compact", "s", "--format", "xml"], 2, "no format 'xml'; choose from pi"),
    "window": (["compact", "s", "--window", "5"], 2, "--window 5: "),
    "negative": (["compact", "s", "--window", "-5"], 2, "window_tokens: -5"),
    "compactor": (["compact", "s", "--compactor", "zip"], 2, "no compactor 'zip'"),
    "summarizer": (["compact", "s", "--summarizer", "oracle"], 2, "no summarizer 'oracle'"),
    "model": (["compact", "s", "--summarizer", "chat"], 2, "needs --model"),
    "timeout": (["compact", "s", "--summarizer", "chat", "--model", "m", "--timeout", "0"], 2, "timeout: 0"),
    "tokens": (["compact", "s", "--tokens", "abacus"], 2, "--tokens abacus: "),
    "out exists": (["compact", "s", "--out", "s"], 2, "exists already"),
    "out folder": (["compact", "s", "--out", "no/where/log"], 2, "there is no folder"),
    "broken": (["compact", "broken"], 3, "broken:1: not JSON"),
    "folder": (["compact", "."], 3, ".: "),
    "no log": (["recall", "read", "nowhere", "c1"], 2, "nowhere: there is no such log"),
    "not a log": (["recall", "search", "s", "x"], 3, "s:1: no valid header"),
    "checkpoint": (["recall", "read", "log", "c1"], 2, "checkpoint 'c1'"),
    "offset": (["recall", "read", "log", "c109", "--offset", "-1"], 2, "offset -1"),
    "limit": (["recall", "search", "log", "x", "--limit", "0"], 2, "limit 0"),
    "query": (["recall", "search", "log", " "], 2, "query"),
}


@pytest.fixture(scope="module")
def a_log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("log") / "log"
    assert run(["compact", str(SAMPLES / "pi.jsonl"), "--window", "6000", "--out", str(path), "--quiet"]) == 0
    return path.read_bytes()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(
    name: str,
    a_log: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    sample = load_session(SAMPLES / "pi.jsonl")
    Path("s").write_text(as_openai(sample.messages[:20]))
    Path("broken").write_text('{"a"')
    Path("log").write_bytes(a_log)
    before = sorted(path.name for path in tmp_path.iterdir())
    first = next(iter(Session.read("log").checkpoints.values())).id
    capsys.readouterr()
    arguments, code, said = MISTAKES[name]
    assert run([first if part == "c109" else part for part in arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("foldproof: ")
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before
