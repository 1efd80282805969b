"""Scaffolds run and pass smoke as they are; smoke tells a wrong adapter from a wrong implementation."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from foldproof.cli.main import run as cli
from foldproof.conformance import schema_export

MINIATURE = Path(__file__).resolve().parents[1] / "miniatures" / "miniature.py"


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_scaffold_runs_as_it_is(
    language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if language == "typescript" and shutil.which("node") is None:
        pytest.skip("node is not here")
    assert cli(["scaffold", language, str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "README.md").is_file()
    monkeypatch.chdir(tmp_path / "new")
    command = [sys.executable, "adapter.py"] if language == "python" else ["node", "adapter.js"]
    assert cli(["smoke", "--", *command]) == 0
    capsys.readouterr()
    options = ["--exhaustive", "3", "--examples", "20", "--json"]
    assert cli(["conform", *options, "--", *command]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["invariants"] == {
        "IDX": "unchecked",
        "CAL": "unchecked",
        "VIEW": "held",
        "SYNC": "unchecked",
    }
    assert report["implementation"]["language"] == language
    assert set(report["coverage"]["events"]) == {"append", "clear", "compact", "undo"}


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here, so nothing checks the types")
def test_the_typescript_scaffold_is_checked_strictly(tmp_path: Path) -> None:
    """`npm run types` passes as it is, and finds a wrong argument and an event that does not exist."""
    here = tmp_path / "new"
    assert cli(["scaffold", "typescript", str(here)]) == 0
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    if subprocess.run(install, cwd=here, capture_output=True, timeout=120, check=False).returncode:
        pytest.skip("npm could not install TypeScript here (no network?), so nothing checks the types")

    def types() -> tuple[int, str]:
        done = subprocess.run(["npm", "run", "--silent", "types"], cwd=here, capture_output=True, check=False)
        return done.returncode, done.stdout.decode()

    assert types() == (0, "")
    adapter = here / "adapter.js"
    good = adapter.read_text(encoding="utf-8")
    for right, wrong, said in (
        ("session.takeBack(count)", "session.takeBack(String(count))", "'string' is not assignable"),
        ("undo({ count })", "undoo({ count })", "'undoo' does not exist"),
        ("session.messages.length }", "String(session.messages.length) }", "not assignable"),
    ):
        assert right in good
        adapter.write_text(good.replace(right, wrong), encoding="utf-8")
        code, out = types()
        assert code != 0
        assert said in out


def test_a_scaffold_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["scaffold", "python", str(tmp_path)]) == 0
    assert cli(["scaffold", "python", str(tmp_path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert cli(["scaffold", "cobol", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("fault", "question"),
    [
        ("liar-append", "messages are stored"),
        ("liar-reset", "a second reset is as empty"),
        ("less-than-declared", "reset answers"),
        ("error-on-compact", "every listed event is applied once"),
    ],
)
def test_smoke_names_the_question_that_a_wrong_adapter_fails(
    fault: str, question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["smoke", "--json", "--", sys.executable, str(MINIATURE), fault]) == 3
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert question in {check["name"] for check in checks if not check["passed"]}


@pytest.mark.parametrize("fault", ["none", "undo-clamps", "compact-forgets", "ghost-call"])
def test_smoke_lets_a_wrong_implementation_behind_a_sound_adapter_pass(fault: str) -> None:
    assert cli(["smoke", "--quiet", "--", sys.executable, str(MINIATURE), fault]) == 0


def test_the_shipped_schemas_are_what_the_models_say() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in schema_export.FOLDER.glob("*.json")}
    assert stored == schema_export.schemas()
