"""Plays the findings of an adapter's folder against the installed package and records them.

    python play.py FOLDER [FINDING...]

Each entry of FOLDER/findings.json has a script of events: `U` a prompt, `R` a reply, `k` a compaction, `u2`
an undo of two prompts, `c` a clear, `r` a crash and a restore. The lines of the protocol, requests and
replies interleaved, are written to FOLDER/runs/NAME.jsonl, which `foldproof validate` judges. Standard
library only.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def requests(script: str) -> list[dict[str, Any]]:
    """The protocol's requests for a script, from start to stop."""
    lines: list[dict[str, Any]] = [{"cmd": "start", "version": 1}, {"cmd": "reset", "seq": 1, "config": {}}]
    messages = 0
    for seq, word in enumerate(script.split(), start=2):
        if word in ("U", "R"):
            messages += 1
            role = "user" if word == "U" else "assistant"
            text = f"[[m{messages}]] {'prompt' if word == 'U' else 'reply'} number {messages}"
            event: dict[str, Any] = {
                "type": "append",
                "message": {"id": f"m{messages}", "role": role, "origin": role, "text": text},
            }
        elif word.startswith("u"):
            event = {"type": "undo", "count": int(word[1:])}
        else:
            event = {
                "k": {"type": "compact", "summary": "summary"},
                "c": {"type": "clear"},
                "r": {"type": "restore"},
            }[word]
        lines.append({"cmd": "event", "seq": seq, "event": event})
    return [*lines, {"cmd": "stop"}]


def record(command: list[str], script: str) -> str:
    """The run of a script, as it is recorded."""
    lines: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = "".join(json.dumps(request) + "\n" for request in requests(script))
        answered, complaint = process.communicate(asked, timeout=300)
    replies = iter(answered.splitlines())
    for request in asked.splitlines():
        lines.append(request)
        if json.loads(request)["cmd"] != "stop":
            reply = next(replies, None)
            if reply is None:
                raise SystemExit(f"{' '.join(command)} gave no reply to {request}:\n{complaint[-2000:]}")
            lines.append(reply)
    return "\n".join(lines) + "\n"


def main(folder: Path, names: list[str]) -> None:
    """Record the named findings, or all of them."""
    for finding in json.loads((folder / "findings.json").read_text(encoding="utf-8")):
        if names and finding["name"] not in names:
            continue
        command = [str((folder / "run").resolve()), *finding["arguments"]]
        target = folder / "runs" / f"{finding['name']}.jsonl"
        target.parent.mkdir(exist_ok=True)
        target.write_text(record(command, finding["script"]), encoding="utf-8")
        print(f"{target}: {finding['script']}")


if __name__ == "__main__":
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "findings.json").exists():
        raise SystemExit("usage: python play.py FOLDER [FINDING...], with a FOLDER that has findings.json")
    main(Path(sys.argv[1]), sys.argv[2:])
