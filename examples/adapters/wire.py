"""What the Python adapters in these folders share: the helper, loaded by file, and three small functions.

The packages under test run in environments of their own, without foldproof. The helper needs nothing but the
standard library, so its file is loaded from the repository as it is.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType


def _load() -> ModuleType:
    file = Path(__file__).resolve().parents[2] / "foldproof/conformance/adapter.py"
    spec = importlib.util.spec_from_file_location("foldproof_adapter", file)
    if spec is None or spec.loader is None or not file.exists():
        raise SystemExit(f"{file} is not there; run the adapter from a checkout of the repository")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_helper = _load()
Rejected, Skipped, markers = _helper.Rejected, _helper.Skipped, _helper.markers


class Harness(_helper.Adapter):  # type: ignore[misc, name-defined]
    """One package under test, driven by its own public interface."""

    def close(self) -> None:
        """Release files before the process ends."""


def serve(harness: Harness) -> None:
    """Answer requests until `stop` or the end of stdin.

    The packages print and log, some of them to the file descriptor itself; so replies get a copy of it, and
    everything else that is written to it goes to stderr.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _helper.serve(harness, replies=replies)
    finally:
        harness.close()


def item(role: str, text: str, **more: object) -> dict[str, object]:
    """One entry of an observed view."""
    return {"role": role, "text": text, **more}


def said_by(message: dict[str, str]) -> str:
    """`user` or `assistant`: who says an appended message. Other messages are skipped.

    The packages count every message of the user as a prompt, so an injection in the user's name would shift
    an undo.
    """
    if message["role"] == "assistant" or (message["role"] == "user" and message["origin"] == "user"):
        return message["role"]
    raise Skipped(f"a {message['role']} message of origin {message['origin']} has no form of its own here")


def tail_from_user(roles: list[str], count: int) -> int:
    """The index of the `count`-th user prompt from the end, where an undo of that many cuts."""
    prompts = [index for index, role in enumerate(roles) if role == "user"]
    if count < 1 or count > len(prompts):
        raise Rejected(f"undo of {count} prompts, but the session holds {len(prompts)}")
    return prompts[-count]
