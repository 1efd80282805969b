"""The adapters for published harnesses: complete and pinned, and their recordings are as reported.

What needs the packages themselves (installs, several minutes) is nightly.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foldproof.cli.main import run as cli
from foldproof.conformance.runfile import validate_file
from foldproof.conformance.vectors import Vector

ROOT = Path(__file__).resolve().parents[2]
ADAPTERS = ROOT / "examples/adapters"
REPORT = (ROOT / "docs/field-report.md").read_text(encoding="utf-8")
PINS = {
    "deepagents": "deepagents==0.7.32",
    "strands-agents": "strands-agents==1.62.0",
    "google-adk": "google-adk==2.13.0",
    "openai-agents": "openai-agents==0.24.0",
    "agno": "agno==3.1.10",
}
VERSIONS = ("0.74.2", "1.6.0")
FOLDERS = (*PINS, "pi-coding-agent")


def findings(folder: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (ADAPTERS / folder / "findings.json").read_text(encoding="utf-8")
    )
    return found


CASES = [pytest.param(f, entry, id=f"{f}-{entry['name']}") for f in FOLDERS for entry in findings(f)]


def broken(recording: Path) -> set[tuple[str, str]]:
    _, checker = validate_file(recording)
    return {(finding.invariant, finding.kind) for finding in checker.findings}


def player() -> Any:
    spec = importlib.util.spec_from_file_location("play", ADAPTERS / "play.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_folder_is_covered() -> None:
    assert sorted(path.parent.name for path in ADAPTERS.glob("*/README.md")) == sorted(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_complete(folder: str) -> None:
    here = ADAPTERS / folder
    run = here / "run"
    assert os.access(run, os.X_OK)
    assert subprocess.run(["sh", "-n", str(run)], check=False).returncode == 0
    names = {"adapter.mjs", "confirm.mjs"} if folder == "pi-coding-agent" else {"adapter.py", "confirm.py"}
    assert all((here / name).is_file() for name in names)
    recorded = {path.stem for path in (here / "runs").glob("*.jsonl")}
    assert recorded == {entry["name"] for entry in findings(folder)}
    assert folder in (ADAPTERS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", PINS)
def test_python_adapters_are_pinned_and_parse(folder: str) -> None:
    here = ADAPTERS / folder
    lines = (here / "requirements.txt").read_text(encoding="utf-8").split()
    assert PINS[folder] in lines
    assert all(re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?==[0-9.]+", line) for line in lines), lines
    for script in here.glob("*.py"):
        ast.parse(script.read_text(encoding="utf-8"), str(script))
    # The packages are looked at alone: nothing of foldproof where a finding is confirmed.
    imported = (here / "confirm.py").read_text(encoding="utf-8")
    assert not re.search(r"^\s*(?:import|from) (?:foldproof|wire)\b", imported, re.MULTILINE)


@pytest.mark.parametrize("version", VERSIONS)
def test_node_adapter_is_pinned(version: str) -> None:
    package = json.loads(
        (ADAPTERS / "pi-coding-agent" / version / "package.json").read_text(encoding="utf-8")
    )
    assert package["dependencies"] == {"@earendil-works/pi-coding-agent": version}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_adapter_parses() -> None:
    for script in (ADAPTERS / "pi-coding-agent").glob("*.mjs"):
        checked = subprocess.run(
            ["node", "--check", str(script)], capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(("folder", "entry"), CASES)
def test_a_recording_breaks_what_is_reported(folder: str, entry: dict[str, Any]) -> None:
    got = broken(ADAPTERS / folder / "runs" / f"{entry['name']}.jsonl")
    if entry["breaks"] is None:
        assert got == set()
    else:
        assert tuple(entry["breaks"]) in got


@pytest.mark.parametrize(("folder", "entry"), CASES)
def test_a_recording_is_its_script(folder: str, entry: dict[str, Any]) -> None:
    lines = (ADAPTERS / folder / "runs" / f"{entry['name']}.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line) for line in lines if "cmd" in json.loads(line)]
    assert asked == player().requests(entry["script"])


@pytest.mark.parametrize(("folder", "entry"), CASES)
def test_the_shortest_script_is_shortest(folder: str, entry: dict[str, Any]) -> None:
    """What is reported breaks at the last event, not before it."""
    if entry["breaks"] is None:
        return
    _, checker = validate_file(ADAPTERS / folder / "runs" / f"{entry['name']}.jsonl")
    steps = [f.step for f in checker.findings if [f.invariant, f.kind] == entry["breaks"]]
    assert steps[0] == 1 + len(entry["script"].split())


@pytest.mark.parametrize(("folder", "entry"), CASES)
def test_the_field_report_tells_it(folder: str, entry: dict[str, Any]) -> None:
    assert f"`{entry['name']}`" in REPORT
    assert f"`{entry['script']}`" in REPORT


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_field_report_names_every_confirmation(folder: str) -> None:
    """The functions of confirm.py, or the methods of the table in confirm.mjs, that are run at its end."""
    if folder == "pi-coding-agent":
        text = (ADAPTERS / folder / "confirm.mjs").read_text(encoding="utf-8")
        names = re.findall(r"^  (\w+)\(\) \{$", text, re.MULTILINE)
    else:
        text = (ADAPTERS / folder / "confirm.py").read_text(encoding="utf-8")
        names = re.findall(r"^(?:async )?def (\w+)\(\) -> bool:", text, re.MULTILINE)
    assert names
    assert [name for name in names if f"`{name}`" not in REPORT] == []


def campaigns() -> list[Any]:
    """Every configuration that a finding or a run that holds was recorded in."""
    wanted = {(folder, *entry["arguments"]) for folder in FOLDERS for entry in findings(folder)}
    return [pytest.param(one[0], list(one[1:]), id=" ".join(one)) for one in sorted(wanted)]


def installed(folder: str, arguments: list[str]) -> None:
    """Skips the test where the package's environment was not made yet."""
    here = ADAPTERS / folder
    marks = [here / ".venv/.installed"]
    if folder == "pi-coding-agent":
        marks = [here / arguments[0] / "node_modules/.package-lock.json"]
    if not all(mark.exists() for mark in marks):
        pytest.skip(f"{folder} is not installed; {here.name}/run makes its environment")


def signatures(folder: str, arguments: list[str]) -> set[str]:
    """How the listed findings may show in a campaign of this configuration.

    Those of a configuration with less options may, and those that say that they show in this one ``also``.
    """
    return {
        shown
        for entry in findings(folder)
        if entry["breaks"] is not None
        for shown in entry["shows"]
        if set(entry["arguments"]) <= set(arguments) or arguments in entry.get("also", [])
    }


def test_every_finding_says_what_confirms_it_and_how_it_shows() -> None:
    for folder in FOLDERS:
        script = "confirm.mjs" if folder == "pi-coding-agent" else "confirm.py"
        text = (ADAPTERS / folder / script).read_text(encoding="utf-8")
        for entry in findings(folder):
            if entry["breaks"] is None:
                continue
            event = {"U": "append", "R": "append", "u": "undo", "k": "compact", "c": "clear", "r": "restore"}
            event |= {"b": "branch", "s": "switch", "x": "remove", "g": "regenerate"}
            last = event[entry["script"].split()[-1][0]]
            assert " ".join((*entry["breaks"], last)) in entry["shows"], entry["name"]
            assert entry["confirmed"]
            for name in entry["confirmed"]:
                assert re.search(rf"^(async )?(def |  ){name}\(\)", text, re.MULTILINE), (folder, name)


def as_words(script: str) -> str:
    """A script in the words of the suite's own scripts."""
    names = {"U": "user", "R": "reply", "k": "compact", "c": "clear", "r": "restore", "b": "branch"}
    names |= {"b1": "branch1", "s": "switch", "x": "remove", "g": "regenerate", "g1": "regenerate1"}
    names |= {"u1": "undo1", "u2": "undo2"}
    return " ".join(names.get(word, f"?{word}") for word in script.split())


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_saved_fault_of_an_adapter_is_judged_alike_by_validate(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the package is installed: a finding's script as a vector, its fault saved, and judged again."""
    entry = next(e for e in findings(folder) if e["breaks"] and "?" not in as_words(e["script"]))
    installed(folder, entry["arguments"])
    vector = Vector(
        name=entry["name"].replace(".", "-"),
        reason="A finding of the field report.",
        script=as_words(entry["script"]),
        exposes=[],
        steps=[],
    )
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors/one.json").write_text(vector.model_dump_json(), encoding="utf-8")
    options = [f"--vectors={tmp_path}/vectors", f"--save={tmp_path}/saved", "--exhaustive=0", "--examples=0"]
    command = [str(ADAPTERS / folder / "run"), *entry["arguments"]]
    assert cli(["conform", *options, "--timeout=60", "--json", "--", *command]) == 1
    told = json.loads(capsys.readouterr().out)["findings"]
    assert entry["breaks"] in [[one["invariant"], one["kind"]] for one in told]
    saved = sorted((tmp_path / "saved").glob("*.jsonl"))
    for one, path in zip(told, saved, strict=True):
        _, checker = validate_file(path)
        again = [(f.step, f.invariant, f.kind, list(f.ids)) for f in checker.findings]
        assert (one["step"], one["invariant"], one["kind"], one["ids"]) in again


@pytest.mark.nightly
@pytest.mark.parametrize(("folder", "arguments"), campaigns())
def test_a_campaign_ends_in_time_and_reports_only_what_is_confirmed(
    folder: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Default budgets, all vectors: no false alarm, as every fault has its function in confirm."""
    subprocess.run(
        [ADAPTERS / folder / "run", *arguments], input=b'{"cmd": "stop"}\n', check=True, timeout=900
    )
    code = cli(["conform", "--json", "--timeout", "60", "--", str(ADAPTERS / folder / "run"), *arguments])
    report = json.loads(capsys.readouterr().out)
    assert report["errors"] == []
    assert report["seconds"] < 300
    assert code == (1 if report["findings"] else 0)
    assert (
        report["coverage"]["vectors"]["run"] + report["coverage"]["vectors"]["skipped"]
        == (report["coverage"]["vectors"]["of"])
    )
    seen = {f"{f['invariant']} {f['kind']} {f['event']}" for f in report["findings"]}
    assert seen <= signatures(folder, arguments), seen - signatures(folder, arguments)


@pytest.mark.nightly
@pytest.mark.parametrize("folder", PINS)
def test_findings_are_confirmed_by_the_package_alone(folder: str) -> None:
    done = subprocess.run(
        [ADAPTERS / folder / "run", "confirm.py"], capture_output=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout.decode()[-2000:]


@pytest.mark.nightly
@pytest.mark.parametrize("version", VERSIONS)
def test_findings_are_confirmed_by_the_npm_package_alone(version: str) -> None:
    command = [ADAPTERS / "pi-coding-agent/run", version, "confirm.mjs"]
    done = subprocess.run(command, capture_output=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout.decode()[-2000:]


@pytest.mark.nightly
@pytest.mark.parametrize(("folder", "entry"), CASES)
def test_the_package_still_does_what_is_recorded(folder: str, entry: dict[str, Any], tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    command = [str(ADAPTERS / folder / "run"), *entry["arguments"]]
    again.write_text(player().record(command, entry["script"]), encoding="utf-8")
    assert broken(again) == broken(ADAPTERS / folder / "runs" / f"{entry['name']}.jsonl")
