"""`foldproof validate`: real runs, shipped runs, and every kind of malformed input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from foldproof.cli.main import run as cli
from foldproof.conformance.checker import Finding
from foldproof.conformance.explain import explained
from foldproof.conformance.runfile import validate_file

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / "examples" / "runs"
KIMI = "kimi-spine-{}.{}.jsonl"

_INTO_A = [
    (13, "anchor", "node 1.1.1 closedAt", "D1a_undo"),
    (13, "resurrected", "m7 m8", "D1a_undo"),
    (13, "sync", "c2", "D1a_undo"),
    (14, "hidden", "m9", "D1a_undo"),
]
_INTO_B = [(13, "resurrected", "m7 m8", "D9"), (13, "sync", "c2", "D9")]
REAL = {
    ("2026-07-13a", "undo-into-closed-span"): [*_INTO_A, (15, "hidden", "m10", "D1a_undo")],
    ("2026-07-13a", "transition-after-undo"): [
        *_INTO_A,
        (16, "sync", "c3", "D1c"),
        (17, "hidden", "m10", "D1a_undo"),
    ],
    ("2026-07-13a", "clear-after-epoch"): [
        (8, "anchor", "epochStartAt", "D1a_clear"),
        (9, "hidden", "m7", "D1a_clear"),
        (10, "hidden", "m8", "D1a_clear"),
    ],
    ("2026-07-13a", "gauge-after-undo"): [
        (12, "caliber", "trigger", "D7"),
        (17, "caliber", "trigger", "D1b"),
    ],
    ("2026-07-13a", "gauge-after-close"): [(9, "caliber", "trigger", "D7")],
    ("2026-07-13a", "undo-after-closed-span"): [],
    ("2026-07-13b", "undo-into-closed-span"): _INTO_B,
    ("2026-07-13b", "transition-after-undo"): _INTO_B,
    ("2026-07-13b", "clear-after-epoch"): [],
    ("2026-07-13b", "gauge-after-undo"): [],
    ("2026-07-13b", "gauge-after-close"): [(9, "caliber", "trigger", "D7")],
    ("2026-07-13b", "undo-after-closed-span"): [],
    ("2026-08-18", "undo-into-closed-span"): [],
    ("2026-08-18", "transition-after-undo"): [],
    ("2026-08-18", "clear-after-epoch"): [],
    ("2026-08-18", "gauge-after-undo"): [],
    ("2026-08-18", "gauge-after-close"): [(8, "caliber", "trigger", "D7")],
    ("2026-08-18", "undo-after-closed-span"): [],
}
NUMBERS = {
    ("2026-07-13a", "undo-into-closed-span"): "closedAt is 11 of 8",
    ("2026-07-13a", "clear-after-epoch"): "epochStartAt is 5 of 0",
    ("2026-07-13a", "gauge-after-undo"): "trigger is 1268, the view costs 116",
    ("2026-07-13a", "gauge-after-close"): "trigger is 889, the view costs 78",
    ("2026-07-13b", "gauge-after-close"): "trigger is 889, the view costs 134",
    ("2026-08-18", "gauge-after-close"): "trigger is 936, the view costs 102",
}


def shape(finding: Finding) -> tuple[int, str, str, str | None]:
    ids = finding.ids[0] if finding.kind == "anchor" else " ".join(finding.ids)
    return finding.step, finding.kind, ids, finding.clause


@pytest.mark.parametrize("which", REAL, ids=".".join)
def test_a_real_run_gives_exactly_the_findings_that_a_careful_reader_finds(
    which: tuple[str, str], shared_data: Path
) -> None:
    run, checker = validate_file(shared_data / "runs" / KIMI.format(*which))
    findings = explained(checker.findings, run.exchanges)
    assert [shape(finding) for finding in findings] == REAL[which]
    if which in NUMBERS:
        assert NUMBERS[which] in findings[0].detail
    noted = {identifier for note in checker.notes for identifier in note.ids}
    assert bool(noted) == (which[0] == "2026-08-18" and which[1] != "clear-after-epoch")


@pytest.mark.parametrize("which", REAL, ids=".".join)
def test_the_adapters_help_is_not_needed(which: tuple[str, str], shared_data: Path, tmp_path: Path) -> None:
    """Without ``synthetic`` in the views, a black-box reading finds the same."""
    lines = (shared_data / "runs" / KIMI.format(*which)).read_text(encoding="utf-8").splitlines()
    stripped = [json.loads(line) for line in lines]
    for value in stripped:
        for item in value.get("observation", {}).get("view", ()):
            item.pop("synthetic", None)
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in stripped), encoding="utf-8")
    run, checker = validate_file(path)
    assert [shape(f) for f in explained(checker.findings, run.exchanges)] == REAL[which]


def test_the_shipped_runs_are_what_their_script_writes() -> None:
    sys.path.insert(0, str(RUNS))
    try:
        import make  # noqa: PLC0415 - the script of that folder
    finally:
        sys.path.remove(str(RUNS))
    assert {path.name: path.read_text(encoding="utf-8") for path in RUNS.glob("*.jsonl")} == make.texts()


@pytest.mark.parametrize("path", sorted(RUNS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_shipped_run_is_explained_by_the_clause_that_it_lacks(path: Path) -> None:
    run, checker = validate_file(path)
    findings = explained(checker.findings, run.exchanges)
    if path.stem == "design":
        assert not findings
        assert set(checker.verdicts().values()) == {"held"}
    else:
        assert {finding.clause for finding in findings} == {path.stem.removeprefix("without-")}


def lines() -> list[str]:
    return (RUNS / "design.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)


def changed(number: int, old: str, new: str) -> str:
    """The design's run with something replaced in one line."""
    text = lines()
    assert old in text[number - 1]
    text[number - 1] = text[number - 1].replace(old, new, 1)
    return "".join(text)


DEEP = '{"cmd":"reset","seq":0,"config":' + "[" * 200_000 + "]" * 200_000 + "}\n"
MALFORMED: dict[str, tuple[str | bytes, int, str]] = {
    "empty": ("", 0, "empty"),
    "only a start": (lines()[0], 1, "no reply"),
    "no events": ("".join([*lines()[:4], '{"cmd":"stop"}\n']), 0, "empty run"),
    "cut off before a reply": ("".join(lines()[:9]), 9, "step 3 has no reply"),
    "cut off before stop": ("".join(lines()[:10]), 10, "does not end with a stop"),
    "cut off in a line": ("".join([*lines()[:8], lines()[8][:30]]), 9, "not JSON"),
    "goes on after stop": ("".join([*lines(), lines()[0]]), len(lines()) + 1, "goes on"),
    "an empty line": ("".join([*lines()[:4], "\n", *lines()[4:]]), 5, "empty line"),
    "wrong version": (changed(1, '"version": 1', '"version": 2'), 1, "version"),
    "wrong version told": (changed(2, '"version": 1', '"version": 3'), 2, "version"),
    "not a request": (changed(3, "reset", "restart"), 3, "cmd"),
    "a list": ("[]\n", 1, "not an object"),
    "text": ("hello\n", 1, "not JSON"),
    "not UTF-8": (b'{"cmd": "start", "version": 1}\n{"\xff": 1}\n', 2, "UTF-8"),
    "a lone surrogate": (changed(5, "prompt", "\\ud800"), 5, "surrogate"),
    "NaN": (changed(4, '"trigger": 0', '"trigger": NaN'), 4, "NaN"),
    "infinity": (changed(4, '"trigger": 0', '"trigger": Infinity'), 4, "Infinity"),
    "a huge number": (changed(4, '"trigger": 0', '"trigger": 1' + "0" * 5000), 4, "too large"),
    "a huge float": (changed(4, '"trigger": 0', '"trigger": 1e999'), 4, "too large"),
    "deep nesting": ("".join([*lines()[:2], DEEP, *lines()[3:]]), 3, "deep"),
    "wrong type": (changed(4, '"history_length": 0', '"history_length": "0"'), 4, "history_length"),
    "negative length": (changed(4, '"history_length": 0', '"history_length": -1'), 4, "history_length"),
    "a view that is no list": (changed(4, '"view": []', '"view": {}'), 4, "view"),
    "an observation less": (changed(4, '"trigger": 0, ', ""), 4, "lacks trigger"),
    "unknown status": (changed(4, '"applied"', '"fine"'), 4, "status"),
    "unknown event": (changed(5, '"append"', '"appendix"'), 5, "event"),
    "an event it does not list": (changed(2, '"append", ', ""), 5, "append is not among"),
    "an unknown event listed": (changed(2, '"append"', '"appendix"'), 2, "unknown event"),
    "an unknown observation": (changed(2, '"trigger"', '"triggers"'), 2, "triggers"),
    "wrong seq in a reply": (changed(6, '"seq": 1', '"seq": 7'), 6, "seq is 7"),
    "a seq twice": (changed(7, '"seq": 2', '"seq": 1'), 7, "does not come after"),
    "an id twice": (
        changed(7, '"m2"', '"m1"').replace("[[m2]] reply", "[[m1]] reply"),
        7,
        "m1 is used twice",
    ),
    "a text without its marker": (changed(5, "[[m1]] ", ""), 5, "lacks its marker"),
    "an event before reset": ("".join([*lines()[:2], *lines()[4:]]), 3, "before the first reset"),
    "a second start": ("".join([*lines()[:2], *lines()]), 3, "second start"),
    "errored": (changed(6, '"applied"', '"errored"'), 6, "errored at step 1"),
    "a key twice": (changed(3, '"seq": 0', '"seq": 0, "seq": 0'), 3, "twice"),
    "undo of nothing": (changed(29, '"count": 1', '"count": 0'), 29, "count"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_input_is_one_line_that_names_file_and_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, line, what = MALFORMED[name]
    path = tmp_path / "run.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert cli(["validate", str(path)]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    complaint = captured.err.splitlines()
    assert len(complaint) == 1
    assert f"{path}:{line}: " in complaint[0] if line else f"{path}: " in complaint[0]
    assert what in complaint[0]
    assert len(complaint[0]) < 600


def test_a_missing_file_and_a_folder_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["validate", str(tmp_path / "none.jsonl"), str(tmp_path)]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_run_in_which_nothing_was_applied_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    text = "".join(lines()[:6]) + '{"cmd": "stop"}\n'
    head, _, last = text.rpartition('"status": "applied"')
    path.write_text(f'{head}"status": "skipped"{last}', encoding="utf-8")
    assert cli(["validate", str(path)]) == 3
    assert "no event was applied" in capsys.readouterr().err


def test_what_is_not_observed_is_unchecked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    text = "".join(lines()).replace('"anchors", ', "", 1).replace('"committed", ', "", 1)
    path.write_text(text, encoding="utf-8")
    assert cli(["validate", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["files"][0]["invariants"] == {
        "IDX": "unchecked",
        "CAL": "held",
        "VIEW": "held",
        "SYNC": "unchecked",
    }


def test_json_has_the_promised_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["validate", str(RUNS / "without-D9.jsonl"), "--json"]) == 1
    entry = json.loads(capsys.readouterr().out)["files"][0]
    assert {"file", "implementation", "steps", "verdict", "invariants", "findings"} <= entry.keys()
    assert entry["verdict"] == "violated"
    assert {"step", "event", "invariant", "kind", "ids", "detail", "clause"} <= entry["findings"][0].keys()
