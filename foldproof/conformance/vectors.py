"""The shipped vectors: every scenario as language-neutral JSON, with what the design answers at each step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foldproof.conformance import blackbox
from foldproof.conformance.checker import view_text
from foldproof.conformance.protocol import EventRequest, first_error
from foldproof.conformance.recording import record_script
from foldproof.conformance.runfile import request_json
from foldproof.conformance.scenarios import SCENARIOS, Scenario
from foldproof.conformance.script import words
from foldproof.explore.strict_json import StrictJsonError, read_file
from foldproof.model.design import DESIGN, Clause, without


class Step(BaseModel):
    """One event and what the design makes of it.

    ``view`` names each message shown, a result as ``c1'``, a memory in brackets by what it covers;
    ``live`` are the messages and calls that were not taken back.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    event: dict[str, Any]
    status: Literal["applied", "rejected"]
    live: list[str]
    view: str
    history_length: int
    committed: list[str]
    pending: str | None


class Vector(BaseModel):
    """A named scenario: why it is there, its events and their effects, the clauses that it exposes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["foldproof-vector"] = "foldproof-vector"
    version: Literal[1] = 1
    name: str = Field(pattern=r"^[a-z0-9-]{1,60}$")
    reason: str
    script: str
    exposes: list[str]
    steps: list[Step]


class VectorError(ValueError):
    """A file is not a vector."""


def vector_of(scenario: Scenario) -> Vector:
    """The vector of a scenario: the design's own run, and the clauses without which the checker complains."""
    _, exchanges, checker = record_script(DESIGN, scenario.script)
    steps: list[Step] = []
    prefix = words(scenario.script)
    for number, exchange in enumerate(exchanges[1:], 1):
        assert isinstance(exchange.request, EventRequest)
        _, _, at = record_script(DESIGN, " ".join(prefix[:number]))
        seen = exchange.reply.observation
        assert seen.view is not None
        assert seen.history_length is not None
        assert exchange.reply.status in ("applied", "rejected")
        steps.append(
            Step(
                event=request_json(exchange.request)["event"],
                status=exchange.reply.status,
                live=[entry.id for entry in at.ledger.live],
                view=view_text(blackbox.read_view(seen.view, at.ledger.texts), len(seen.view)),
                history_length=seen.history_length,
                committed=list(seen.committed or ()),
                pending=seen.pending,
            )
        )
    assert not checker.findings
    exposes = [str(c) for c in Clause if record_script(without(c), scenario.script)[2].findings]
    return Vector(
        name=scenario.name, reason=scenario.reason, script=scenario.script, exposes=exposes, steps=steps
    )


def texts() -> dict[str, str]:
    """Every vector's file, by name."""
    vectors = (vector_of(scenario) for scenario in SCENARIOS)
    return {
        f"{v.name}.json": json.dumps(v.model_dump(), ensure_ascii=False, indent=1) + "\n" for v in vectors
    }


def read_vectors(directory: Path) -> list[Vector]:
    """The vectors in a folder, by name. Raises `VectorError`, naming the file and what is wrong with it."""
    paths = sorted(path for path in directory.glob("*.json") if path.name != "schema.json")
    if not paths:
        raise VectorError(f"{directory}: there are no vectors (*.json) here")
    vectors = []
    for path in paths:
        try:
            vector = Vector.model_validate(read_file(path))
            words(vector.script)
        except StrictJsonError as error:
            raise VectorError(f"{path}: {error}") from error
        except ValidationError as error:
            raise VectorError(f"{path}: line 1: {first_error(error)}") from error
        except (OSError, ValueError) as error:
            raise VectorError(f"{path}: {error}") from error
        vectors.append(vector)
    return vectors


def main() -> None:
    """Write the vectors and their schema: ``python -m foldproof.conformance.vectors DIR``."""
    import sys  # noqa: PLC0415 - the command line of this module only

    directory = Path(sys.argv[1] if len(sys.argv) > 1 else "vectors")
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (directory / name).write_text(text, encoding="utf-8")
    schema = json.dumps(Vector.model_json_schema(), indent=1) + "\n"
    (directory / "schema.json").write_text(schema, encoding="utf-8")


if __name__ == "__main__":
    main()
