"""The gallery: every link leads to the trace that it names; the index says what is known and what is not."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from browser import page_of

from foldproof.cli.main import run as cli
from foldproof.conformance import mutation
from foldproof.explore.trace import run, verdicts
from foldproof.model.core import CORE
from foldproof.model.machines import MACHINES
from foldproof.report.explorer.gallery import FEATURED, FEATURED_PAGE, FEATURED_WITHOUT, REPROS, SUBJECTS
from foldproof.report.explorer.results import ResultError, read_results
from foldproof.stateful_tests.exhaustive import as_json


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("gallery")
    told = directory / "prove.json"
    told.write_text(json.dumps({"obligations": [OBLIGATION]}), encoding="utf-8")
    machines = ["--machine", "core", "--machine", "memories"]
    options = ["--bound", "2", "--states", "5", "--quiet", "--results", str(told)]
    assert cli(["gallery", "-o", str(directory / "out"), *machines, *options]) == 0
    return directory / "out"


OBLIGATION = {
    "name": "Undo/IDX",
    "statement": "an undo keeps INV-IDX",
    "event": "Undo",
    "invariant": "IDX",
    "z3": "proved",
    "cvc5": "proved",
    "mutant": "off by one",
    "failures": [],
}


def links(page: Path) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'href="([^"]*)"', page.read_text(encoding="utf-8"))]


def exhibits(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    return {exhibit["key"]: exhibit for exhibit in json.loads(data[1])["exhibits"]}


def test_every_link_leads_to_the_trace_that_it_names(gallery: Path) -> None:
    followed = 0
    for link in links(gallery / "index.html"):
        if link == "data:,":
            continue
        name, _, fragment = link.partition("#")
        assert (gallery / name).is_file(), link
        if fragment:
            asked = dict(part.split("=") for part in fragment.split("&"))
            shown = exhibits(gallery / name)[asked["trace"]]
            if name != FEATURED_PAGE and "step" in asked:
                assert shown["first"] == {"step": int(asked["step"]), "invariant": asked["trace"]}, link
            followed += 1
    assert followed > 30
    linked = {link.partition("#")[0] for link in links(gallery / "index.html")}
    assert {page.name for page in gallery.glob("*.html")} - linked == {"index.html"}


def test_the_featured_run_is_what_the_index_says() -> None:
    events = [CORE.event_from_name(name) for name in FEATURED.split("; ")]
    fault = run(CORE, events, CORE.without(FEATURED_WITHOUT))
    broken = [[n for n, v in verdicts(CORE, s).items() if v.verdict == "violated"] for s in fault]
    assert not any(broken[:6])
    assert "VIEW" in broken[6]
    assert "VIEW" in broken[7]
    assert fault[7].history[2].id == 5
    assert not any(CORE.violations(s) for s in run(CORE, events, CORE.design))


def test_every_machine_and_every_repro_has_its_words() -> None:
    assert set(SUBJECTS) == set(MACHINES)
    assert sorted(REPROS.values()) == list("ABCDEFG")
    assert set(REPROS) <= {fault for machine in MACHINES.values() for fault in machine.faults}


def test_what_no_file_tells_is_not_included(gallery: Path) -> None:
    text = (gallery / "index.html").read_text(encoding="utf-8")
    assert "1 of 1 obligations proved" in text
    assert "Implementations are not included" in text
    assert "Proofs are not included" not in text
    assert "searched only" in text


def test_the_index_in_a_browser(chromium: Any, gallery: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed (extra: dev)")
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    for options in ({}, {"color_scheme": "dark"}, {"viewport": {"width": 375, "height": 812}}):
        with page_of(chromium, gallery / "index.html", **options) as (page, seen):
            assert page.locator(".strip svg").count() == 4
            assert "hidden" in page.locator(".strip svg").nth(2).text_content()
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            assert not [one["id"] for one in found if one["impact"] in ("serious", "critical")]
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= options.get("viewport", {"width": 1400})["width"]
            page.get_by_role("link", name="Step through this run").click()
            page.wait_for_selector("html[data-ready]", state="attached")
            assert "leaves out #5, which is live" in page.locator(".headline").inner_text()
            assert not seen.errors
            assert all(url.startswith(("file:", "data:")) for url in seen.requests)


def test_results_of_implementations_are_joined_by_the_worst(tmp_path: Path) -> None:
    def file(verdict: str, **invariants: str) -> dict[str, Any]:
        who = {"name": "mine", "language": "python", "version": "1"}
        findings = [{"invariant": "VIEW", "kind": "hidden", "detail": "m1 is live", "clause": None}]
        return {
            "file": "a.jsonl",
            "implementation": who,
            "verdict": verdict,
            "invariants": invariants,
            "findings": findings if verdict == "violated" else [],
        }

    path = tmp_path / "runs.json"
    runs = [file("held", VIEW="held", IDX="unchecked"), file("violated", VIEW="violated", IDX="unchecked")]
    path.write_text(json.dumps({"files": [*runs, {"file": "b", "verdict": "errored"}]}), encoding="utf-8")
    results = read_results([path])
    assert results.verdicts_of("VIEW") == {"violated": ["mine 1"]}
    assert results.verdicts_of("IDX") == {"unchecked": ["mine 1"]}
    assert results.verdicts_of("CAL") == {"unchecked": ["mine 1"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "not the JSON of"),
        ("{}", "not the JSON of"),
        ("{", "line 1"),
        (None, "cannot be read"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ResultError, match=message):
        read_results([path])
    assert cli(["gallery", "-o", str(tmp_path / "out"), "--results", str(path)]) == 3
    assert not (tmp_path / "out").exists()


def test_proofs_are_joined_by_machine_and_invariant(tmp_path: Path) -> None:
    def obligation(name: str, invariant: str | None = None, z3: str = "proved") -> dict[str, Any]:
        told = {"name": name, "statement": "x", "z3": z3, "cvc5": "proved", "mutant": "m", "failures": []}
        return told if invariant is None else told | {"invariant": invariant}

    path = tmp_path / "prove.json"
    told = [
        obligation("Undo/VIEW", "VIEW"),
        obligation("Clear/VIEW", "VIEW", z3="unknown"),
        obligation("literal/IDX"),
        obligation("Undo-below/VIEW"),
        obligation("budget/Undo"),
        obligation("pass/Undo"),
    ]
    path.write_text(json.dumps({"obligations": told}), encoding="utf-8")
    results = read_results([path])
    assert results.proofs_of("core", "VIEW") == {"all": 2, "proved": 1}
    assert results.proofs_of("core", "IDX") == {"all": 1, "proved": 1}
    assert results.proofs_of("core", "CAL") is None
    assert results.proofs_of("budget", "QUIET") == {"all": 1, "proved": 1}
    assert results.proofs_of("pass", "LAYOUT") == {"all": 1, "proved": 1}
    assert results.proofs_of("pass", "VIEW") is None
    assert results.proofs_of("async", "VIEW") is None


def test_scores_and_refinements_are_joined_to_the_invariants(tmp_path: Path) -> None:
    clauses = [str(clause) for clause in CORE.clauses]
    unseen = {"D4", "D6_settle"}
    scores = [
        {"without": c, "vectors": None if c in unseen else 2, "short": None, "random": 7, "refinement": 1234}
        for c in clauses
    ]
    (tmp_path / "mutation.json").write_text(json.dumps({"mutation": scores}), encoding="utf-8")
    (tmp_path / "refinement.json").write_text(as_json(1), encoding="utf-8")
    told = ["--results", str(tmp_path / "mutation.json"), "--results", str(tmp_path / "refinement.json")]
    options = ["--machine", "core", "--machine", "memories", "--bound", "1", "--states", "2", "--quiet"]
    assert cli(["gallery", "-o", str(tmp_path / "out"), *options, *told]) == 0
    text = re.sub(r"<[^>]*>", " ", (tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    extent = json.loads(as_json(1))["refinement"]
    assert text.count(f"foldproof reference, {extent['transitions']:,} transitions") == len(CORE.invariants)
    assert "not compared" in text
    assert "12 of 14" in text
    assert "1,234" in text
    assert re.search(r"vectors (\d+) of \1, short scripts 0, random \1", text)
    assert "Refinement is not included" not in text


def test_the_mutation_json_is_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "rows", lambda: iter([("D1b", "3", "480", "-", "7")]))
    [row] = json.loads(mutation.as_json())["mutation"]
    assert row == {"without": "D1b", "vectors": 3, "short": 480, "random": None, "refinement": 7}
    assert "| D1b | 3 | 480 | - | 7 |" in mutation.table()
