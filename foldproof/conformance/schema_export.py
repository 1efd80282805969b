"""Export the protocol as JSON Schemas: ``python -m foldproof.conformance.schema_export [DIR]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

from foldproof.conformance.protocol import Handshake, Reply, Request
from foldproof.conformance.vectors import Vector

FOLDER = Path(__file__).parent / "schemas"


def schemas() -> dict[str, str]:
    """Each schema's text by file name: requests, the handshake, replies, vectors."""
    found = {
        "request": TypeAdapter(Request).json_schema(),
        "handshake": Handshake.model_json_schema(),
        "reply": Reply.model_json_schema(),
        "vector": Vector.model_json_schema(),
    }
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {f"{name}.json": json.dumps(dialect | schema, indent=1) + "\n" for name, schema in found.items()}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in schemas().items():
        (folder / file).write_text(text, encoding="utf-8")
