"""`foldproof conform` over the wire: the model passes in both modes, its faulty designs do not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from foldproof.cli.main import run as cli

MODEL = [sys.executable, "-m", "foldproof.conformance.model_adapter"]
FAST = ["--exhaustive", "2", "--examples", "10", "--budget", "60"]


def conform(capsys: pytest.CaptureFixture[str], *options: str, fault: str | None = None) -> tuple[int, dict]:  # type: ignore[type-arg]
    command = [*MODEL, *(["--without", fault] if fault else [])]
    code = cli(["conform", *FAST, "--json", *options, "--", *command])
    return code, json.loads(capsys.readouterr().out)


def test_the_model_passes_in_refinement_mode(capsys: pytest.CaptureFixture[str]) -> None:
    code, report = conform(capsys, "--mode", "refinement", "--examples", "60")
    assert code == 0
    assert report["verdict"] == "held"
    assert set(report["invariants"].values()) == {"held"}
    assert {"implementation", "mode", "findings", "coverage", "seconds"} <= report.keys()
    assert report["coverage"]["exhaustive"]["complete_to"] == 2
    assert report["coverage"]["vectors"]["skipped"] == 0


@pytest.mark.parametrize(("fault", "where"), [("D4", "status"), ("D6_settle", "committed")])
def test_what_breaks_no_invariant_is_caught_by_refinement(
    fault: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = conform(capsys, fault=fault)
    assert (code, report["verdict"]) == (0, "held")
    code, report = conform(capsys, "--mode", "refinement", fault=fault)
    assert (code, report["invariants"]["REFINEMENT"]) == (1, "violated")
    assert where in {one for finding in report["findings"] for one in finding["ids"]}


def test_random_runs_find_and_shrink_what_nothing_else_was_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plain = tmp_path / "plain.json"
    shipped = Path(__file__).resolve().parents[2] / "vectors" / "plain.json"
    plain.write_bytes(shipped.read_bytes())
    chosen = [part for event in ("append", "call", "step_end") for part in ("--only", event)]
    options = ("--exhaustive", "0", "--examples", "40", "--steps", "10", "--vectors", str(tmp_path), *chosen)
    code, report = conform(capsys, *options, fault="D7")
    assert code == 1
    (finding,) = [f for f in report["findings"] if f["event"] == "step_end"]
    assert finding["trace"] in (["open", "end", "close", "end"], ["open", "end", "next", "end"])
    assert (finding["source"], finding["clause"]) == ("random", "D7")
    assert conform(capsys, *options, fault="D7")[1]["findings"] == report["findings"]


def test_workers_find_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--exhaustive", "3", "--examples", "0", "--only", "append", "--only", "undo", "--only", "call")
    _, one = conform(capsys, *options, fault="D1a_undo")
    _, two = conform(capsys, *options, "--workers", "2", fault="D1a_undo")
    assert one["findings"] == two["findings"]
    assert one["coverage"]["exhaustive"] == two["coverage"]["exhaustive"]


def test_skipped_events_are_never_sent(capsys: pytest.CaptureFixture[str]) -> None:
    _, report = conform(capsys, "--skip", "clear", "--skip", "restore")
    assert not {"clear", "restore"} & report["coverage"]["events"].keys()


def test_the_budget_ends_the_campaign_and_coverage_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    _, report = conform(capsys, "--exhaustive", "9", "--budget", "3")
    assert report["seconds"] < 10
    assert report["coverage"]["exhaustive"]["complete_to"] < 9


def test_every_output_tells_the_fault(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    files = [f"--junit={tmp_path}/o.xml", f"--markdown={tmp_path}/o.md", f"--save={tmp_path}/faults"]
    command = [*MODEL, "--without", "D8"]
    assert cli(["conform", *FAST, *files, "--", *command]) == 1
    out = capsys.readouterr().out
    assert "open" in out
    assert "accepted c1" in out
    assert "explained by a missing D8" in out
    assert "::error title=foldproof SYNC sync::[open restore]" in out
    suite = Xml.parse(tmp_path / "o.xml").getroot()
    assert int(suite.get("failures", "0")) == len(suite.findall("testcase/failure")) >= 2
    assert int(suite.get("tests", "0")) == len(suite.findall("testcase"))
    assert "| SYNC sync | `open restore` |" in (tmp_path / "o.md").read_text(encoding="utf-8")
    saved = tmp_path / "faults" / "01-SYNC-sync-restore.jsonl"
    assert cli(["validate", str(saved)]) == 1
    assert "--save DIR" not in out
    page = (tmp_path / "faults" / "faults.html").read_text(encoding="utf-8")
    assert "01-SYNC-sync-restore" in page
    assert "foldproof model without D8" in page
    itf = json.loads((tmp_path / "faults" / "01-SYNC-sync-restore.itf.json").read_text(encoding="utf-8"))
    assert itf["states"][2]["#meta"]["violated"]["kind"] == "sync"


@pytest.mark.parametrize("fault", ["undo-clamps", "switch-keeps-fold", "ghost-call"])
def test_validate_says_of_a_saved_fault_what_conform_said(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One checker: the recorded run of a fault has the fault, at the same step and with the same words."""
    miniature = Path(__file__).resolve().parents[1] / "miniatures" / "miniature.py"
    options = ["--exhaustive", "2", "--examples", "0", "--json", "--save", str(tmp_path)]
    assert cli(["conform", *options, "--", sys.executable, str(miniature), fault]) == 1
    told = json.loads(capsys.readouterr().out)["findings"]
    saved = sorted(tmp_path.glob("*.jsonl"))
    assert len(saved) == len(told) >= 1
    for one, path in zip(told, saved, strict=True):
        assert cli(["validate", "--json", str(path)]) == 1
        (document,) = json.loads(capsys.readouterr().out)["files"]
        again = [(f["step"], f["invariant"], f["kind"], f["ids"], f["detail"]) for f in document["findings"]]
        assert (one["step"], one["invariant"], one["kind"], one["ids"], one["detail"]) in again


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["--mode", "fast", "--", "true"], 2, "--mode is invariants or refinement"),
        (["--only", "jump", "--", "true"], 2, "no event 'jump'"),
        (["--workers", "0", "--", "true"], 2, "--workers"),
        (["--junit", "/nowhere/at/all.xml", "--", "true"], 2, "its folder does not exist"),
        (["--vectors", "/nowhere", "--", "true"], 3, "no vectors"),
        (["--", "/no/such/command"], 3, "cannot start /no/such/command"),
        (["--", "true"], 3, "start: the process"),
        (["--", "cat"], 3, "not a handshake"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], code: int, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["conform", *arguments]) == code
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1
    assert what in error[0]


def test_the_reference_passes_in_refinement_mode_over_the_wire(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "foldproof.stateful_tests.reference_adapter"]
    assert cli(["conform", *FAST, "--mode", "refinement", "--json", "--", *command]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report["invariants"].values()) == {"held"}
    assert report["coverage"]["vectors"]["skipped"] == 0


def test_a_recorded_run_is_sent_again(capsys: pytest.CaptureFixture[str]) -> None:
    """The fault shows again where it is, and does not where it was mended."""
    run = Path(__file__).resolve().parents[2] / "examples" / "runs" / "without-D8.jsonl"
    assert cli(["replay", str(run), "--against", "--json", "--", *MODEL, "--without", "D8"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["verdicts"]["SYNC"] == "violated"
    assert [f["clause"] for step in document["steps"] for f in step["findings"]] == ["D8"]
    assert cli(["replay", str(run), "--against", "--", *MODEL]) == 0
    assert cli(["replay", str(run), "--against"]) == 2
    assert cli(["replay", str(run), "--against", "--", "true"]) == 3


FAILS_ALIKE = """
import tempfile
from foldproof.conformance.adapter import Adapter, serve

class Mine(Adapter):
    implementation = {"name": "mine", "language": "python", "version": "0"}
    observes = ("view",)
    def reset(self, config):
        self.texts = []
    def append(self, message):
        self.texts.append({"role": message["role"], "text": message["text"]})
    def restore(self):
        open(tempfile.mkdtemp() + "/none")
    def observe(self):
        return {"view": self.texts}

serve(Mine())
"""


def test_failures_of_one_sort_are_one_error_with_the_shortest_script(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "adapter.py").write_text(FAILS_ALIKE)
    command = ["--", sys.executable, str(tmp_path / "adapter.py")]
    assert cli(["conform", *FAST, "--json", *command]) == 3
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert error["trace"] == ["restore"]
    assert "FileNotFoundError" in error["what"]
    assert error["times"] > 3
    assert cli(["conform", *FAST, *command]) == 3
    told = capsys.readouterr().out
    assert told.count("ERROR after") == 1
    assert f"and {error['times'] - 1} more scripts like it" in told
