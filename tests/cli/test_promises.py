"""What the commands print with ``--json`` is what their shipped schemas promise."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from foldproof.cli.main import run
from foldproof.cli.promises import FOLDER, PROMISES, schemas

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = [sys.executable, "-m", "foldproof.conformance.model_adapter", "--without", "D7"]
SAMPLE = str(ROOT / "examples" / "sessions" / "pi.jsonl")

COMMANDS: dict[str, list[str]] = {
    "check": ["check", "-L", "3", "--fault", "P1", "--json"],
    "simulate": ["simulate", "--fault", "P8", "--runs", "20", "--json"],
    "matrix": ["matrix", "-L", "2", "--json"],
    "replay": ["replay", "{traces}/IDX.json", "--json"],
    "validate": ["validate", str(ROOT / "examples" / "runs" / "without-D7.jsonl"), "--json"],
    "conform": ["conform", "--exhaustive", "1", "--examples", "1", "--json", "--", *MODEL],
    "smoke": ["smoke", "--json", "--", *MODEL],
    "scaffold": ["scaffold", "python", "{traces}/adapter", "--json"],
    "prove": ["prove", "--obligation", "initial", "--json"],
    "compact": ["compact", SAMPLE, "--window", "2000", "--out", "{traces}/s.log", "--json"],
    "recall-search": ["recall", "search", "{traces}/s.log", "state 3420", "--json"],
    "recall-read": ["recall", "read", "{traces}/s.log", "c29", "--json"],
    "explore": ["explore", "--fault", "P3", "--bound", "2", "-o", "{traces}/p3.html", "--json"],
    "gallery": ["gallery", "--machine", "memories", "--bound", "2", "-o", "{traces}/gallery", "--json"],
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    run(["check", "-L", "3", "--fault", "P1", "--trace-dir", str(folder), "--quiet"])
    run(["compact", SAMPLE, "--window", "2000", "--out", str(folder / "s.log"), "--quiet"])
    return folder


@pytest.mark.parametrize("name", PROMISES)
def test_the_output_keeps_its_promise(
    name: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path if name == "compact" else traces
    capsys.readouterr()
    code = run([argument.replace("{traces}", str(folder)) for argument in COMMANDS[name]])
    captured = capsys.readouterr()
    assert code in (0, 1), captured.err
    printed = json.loads(captured.out)
    schema = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(printed)
    for field in schema["required"]:
        broken = {key: value for key, value in printed.items() if key != field}
        assert not Draft202012Validator(schema).is_valid(broken), f"{field} may be missing"


def test_the_shipped_schemas_are_up_to_date() -> None:
    shipped = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert shipped == schemas(), "run `python -m foldproof.cli.promises`"
