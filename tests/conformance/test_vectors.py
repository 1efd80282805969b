"""The shipped vectors: up to date, and together they expose every clause."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foldproof.conformance import mutation, vectors
from foldproof.conformance.recording import record_script
from foldproof.conformance.scenarios import SCENARIOS, Scenario
from foldproof.model.design import DESIGN, Clause

FOLDER = Path(__file__).resolve().parents[2] / "vectors"


def test_the_vectors_are_what_the_generator_writes() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    schema = stored.pop("schema.json")
    assert stored == vectors.texts()
    assert json.loads(schema) == vectors.Vector.model_json_schema()


def test_the_vectors_expose_every_clause_that_a_black_box_can_miss() -> None:
    exposed = {clause for vector in vectors.read_vectors(FOLDER) for clause in vector.exposes}
    assert exposed == {str(c) for c in Clause} - {"D4", "D6_settle"}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_the_design_keeps_every_invariant_in_a_scenario(scenario: Scenario) -> None:
    _, exchanges, checker = record_script(DESIGN, scenario.script)
    assert not checker.findings
    assert not checker.notes
    assert any(exchange.reply.status == "applied" for exchange in exchanges[1:])


def test_a_broken_vector_is_one_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(vectors.VectorError, match="no vectors"):
        vectors.read_vectors(tmp_path)
    (tmp_path / "a.json").write_text('{"format": "foldproof-vector"}')
    with pytest.raises(vectors.VectorError, match=r"a\.json: line 1: name"):
        vectors.read_vectors(tmp_path)
    text = (FOLDER / "plain.json").read_text(encoding="utf-8")
    (tmp_path / "a.json").write_text(text.replace('"user reply', '"user jump'))
    with pytest.raises(vectors.VectorError, match="unknown word 'jump'"):
        vectors.read_vectors(tmp_path)


@pytest.mark.nightly
def test_the_mutation_scores_in_the_docs_are_what_the_runs_give() -> None:
    text = (FOLDER.parent / "docs" / "conformance.md").read_text(encoding="utf-8")
    assert mutation.table() in text


def test_a_row_of_the_mutation_table() -> None:
    vectors_of = [tuple(scenario.script.split()) for scenario in SCENARIOS]
    text = (FOLDER.parent / "docs" / "conformance.md").read_text(encoding="utf-8")
    for clause in Clause:
        hits = sum(str(clause) in vector.exposes for vector in vectors.read_vectors(FOLDER)) or "-"
        first = mutation.first(clause, vectors_of, refine=True)
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {clause} |")]
        assert row.split(" | ")[1] == str(hits)
        assert row.rstrip(" |").split(" | ")[-1] == first
