"""Deliberately wrong implementations, one fault each: every one is caught, the correct one passes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from foldproof.conformance.campaign import run_campaign
from foldproof.conformance.campaign_record import Report, Settings
from foldproof.conformance.campaign_report import report_lines
from foldproof.conformance.scenarios import SCENARIOS
from foldproof.conformance.script import words
from foldproof.conformance.wire import WireError

MINIATURES = Path(__file__).resolve().parents[1] / "miniatures"
CASES = [(scenario.name, words(scenario.script)) for scenario in SCENARIOS]

BROKEN: dict[str, tuple[str, str]] = {
    "undo-keeps-tree": ("undo-into-closed-span", "anchor"),
    "clear-keeps-summary": ("clear-after-epoch", "hidden"),
    "undo-clamps": ("undo-into-closed-span", "resurrected"),
    "undo-raw-gauge": ("gauge-after-undo", "caliber"),
    "close-keeps-gauge": ("gauge-after-close", "caliber"),
    "compact-keeps-gauge": ("two-epochs", "caliber"),
    "undo-loses-next": ("transition-after-undo", "sync"),
    "seen-is-not-clamped": ("transition-after-undo", "anchor"),
    "resume-loses-call": ("resume-while-pending", "sync"),
    "resume-raw-gauge": ("resume-with-closed-span", "caliber"),
    "resume-resurrects": ("undo-then-resume", "resurrected"),
    "resume-duplicates": ("resume-empty", "repeated"),
    "compact-while-pending": ("compact-while-pending", "sync"),
    "switch-loses-call": ("switch-off-while-pending", "sync"),
    "switch-keeps-gauge": ("switch-with-closed-span", "caliber"),
    "undo-while-off": ("clear-while-off", "anchor"),
    "undo-keeps-prompt": ("undo-twice", "resurrected"),
    "undo-takes-too-much": ("undo-behind-epoch", "hidden"),
    "undo-ignores-count": ("undo-into-inner-span", "resurrected"),
    "liar-undo": ("undo-twice", "resurrected"),
    "liar-clear": ("clear-after-epoch", "resurrected"),
    "liar-append": ("plain", "hidden"),
    "liar-reset": ("one-span", "resurrected"),
    "liar-step-end": ("one-span", "sync"),
    "compact-hides-one": ("compact-with-tail", "hidden"),
    "compact-repeats": ("two-epochs", "repeated"),
    "compact-forgets": ("two-epochs", "hidden"),
    "memory-at-end": ("undo-after-closed-span", "reordered"),
    "memory-missing": ("one-span", "hidden"),
    "nested-twice": ("nested-spans", "repeated"),
    "orphan-result": ("one-span", "hidden"),
    "newest-first": ("plain", "reordered"),
    "ghost-call": ("undo-to-open-span", "sync"),
    "raw-trigger": ("one-span", "caliber"),
    "anchor-past-end": ("two-epochs", "anchor"),
    "lines-share-history": ("lines-are-apart", "resurrected"),
    "switch-keeps-fold": ("compaction-in-one-line", "hidden"),
    "branch-keeps-tail": ("line-without-last-prompt", "resurrected"),
    "resume-on-main": ("resume-in-a-line", "resurrected"),
    "remove-from-summary": ("exchange-removed-after-compaction", "resurrected"),
    "remove-leaves-answer": ("exchange-removed", "resurrected"),
    "regenerate-appends": ("answer-replaced", "resurrected"),
}
"""Each wrong miniature, with the named case that catches it and how it shows."""

ERRORED: dict[str, str] = {
    "crash-on-clear": "the process ended with exit code 7",
    "killed-on-undo": "the process was ended by SIGKILL",
    "error-on-compact": "the implementation errored: KeyError",
    "slow-compact": "no reply within",
    "broken-json": "the reply is not JSON",
    "wrong-seq": "the reply's seq is 99",
    "megabyte-line": "a reply of more than 4 MiB",
    "na-n-reply": "NaN is not a JSON number",
    "extra-line": "the reply is not JSON at column 1: Expecting value: 'debug: two messages'",
    "less-than-declared": "the observation lacks trigger",
}
"""Each miniature that does not keep the protocol, with what is said of it."""

UNSTARTED: dict[str, str] = {
    "noise-first": "noise on stdout before the handshake: 'Loading plugins...'",
    "exits-at-once": "start: the process ended with exit code 1",
    "says-nothing": "start: no reply within",
}
"""Each miniature with which no handshake comes about."""


def command(fault: str) -> list[str]:
    return [sys.executable, str(MINIATURES / "miniature.py"), fault]


def report_of(fault: str, cases: list[tuple[str, tuple[str, ...]]], timeout: float = 10) -> Report:
    return run_campaign(command(fault), Settings(exhaustive=0, examples=0, timeout=timeout), cases)


def test_every_miniature_is_in_a_table() -> None:
    sys.path.insert(0, str(MINIATURES))
    try:
        from faults import FAULTS  # noqa: PLC0415 - the folder's own module
    finally:
        sys.path.remove(str(MINIATURES))
    assert {*BROKEN, *ERRORED, *UNSTARTED, "none", "lined", "keeps-a-child", "unsteady"} == set(FAULTS)
    assert len(BROKEN) >= 25


@pytest.mark.parametrize("name", ["none", "lined"])
def test_the_correct_miniature_passes(name: str) -> None:
    report = run_campaign(command(name), Settings(exhaustive=3, examples=60, seconds=60), CASES)
    assert report.verdict == "held", report.located
    assert set(report.invariants.values()) == {"held"}
    applied = {event for event, status in report.statuses if status == "applied"}
    assert applied == set(report.handshake.events) - {"compact.keep"}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_wrong_miniature_is_caught_by_its_named_case(fault: str) -> None:
    case, kind = BROKEN[fault]
    chosen = [(name, script) for name, script in CASES if name == case]
    if fault == "liar-reset":
        chosen = [CASES[0], *chosen]
    assert chosen, case
    report = report_of(fault, chosen)
    assert report.verdict == "violated"
    assert kind in {finding.kind for finding in report.cases[case]}  # type: ignore[union-attr]


@pytest.mark.parametrize("fault", ERRORED)
def test_an_errored_miniature_is_no_pass_and_says_why(fault: str) -> None:
    report = report_of(fault, [("case", words("user compact user user undo1 clear"))], timeout=1)
    assert report.verdict == "errored"
    assert ERRORED[fault] in report.failures[0].what
    if fault == "crash-on-clear":
        assert "segmentation fault" in report.failures[0].stderr
        assert report.failures[0].repeats


def test_what_shows_only_sometimes_is_a_fault_and_is_said_to_be_unsteady() -> None:
    report = run_campaign(command("unsteady"), Settings(exhaustive=0, examples=80, steps=8), [])
    assert report.verdict == "violated", report.failures
    assert ("VIEW", "resurrected", "undo") in report.located
    assert report.unsteady
    assert any("did not show again" in line for line in report_lines(report))


@pytest.mark.parametrize("fault", UNSTARTED)
def test_without_a_handshake_it_is_one_clear_error(fault: str) -> None:
    with pytest.raises(WireError) as error:
        report_of(fault, CASES, timeout=1)
    assert UNSTARTED[fault] in error.value.what
    if fault == "exits-at-once":
        assert "cannot find my configuration" in error.value.stderr


def test_the_process_group_is_ended() -> None:
    """A child that ignores SIGTERM does not outlive the run."""
    report_of("keeps-a-child", CASES[:1])
    time.sleep(0.2)
    assert not [entry for entry in Path("/proc").iterdir() if b"keeps-a-child" in _command_line(entry)]


def _command_line(process: Path) -> bytes:
    try:
        if "\nState:\tZ" in (process / "status").read_text():
            return b""
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
