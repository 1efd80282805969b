"""Plays the findings of an adapter's folder against the installed package and records them.

    python play.py FOLDER [FINDING...]

Each entry of FOLDER/findings.json has a script of events: `U` a prompt, `R` a reply, `k` a compaction, `u2`
an undo of two prompts, `c` a clear, `r` a crash and a restore; `b` goes on in a new line of the session, `b1`
in one without the last prompt, `s` in the line left last; `x` takes out the first exchange, `g` replaces the
last answer and `g1` the first one. The lines of the protocol, requests and replies interleaved, are written
to FOLDER/runs/NAME.jsonl, which `foldproof validate` judges. Standard library only.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


class Player:
    """What a script speaks of: the messages that are live, and the lines of the session."""

    def __init__(self) -> None:
        self.messages = 0
        self.live: list[tuple[str, bool]] = []
        self.line, self.lines = "main", dict[str, list[tuple[str, bool]]]()

    def event(self, word: str) -> dict[str, Any]:
        """The event that a word becomes, as if everything were applied."""
        if word in ("U", "R"):
            message = self._message(word)
            self.live.append((message["id"], word == "U"))
            return {"type": "append", "message": message}
        prompts = [place for place, (_, asked) in enumerate(self.live) if asked]
        if word.startswith("u"):
            del self.live[prompts[-int(word[1:])] :]
            return {"type": "undo", "count": int(word[1:])}
        if word.startswith("b"):
            count = int(word[1:] or 0)
            self._leave(name := f"line{len(self.lines) + 1}")
            if count:
                del self.live[prompts[-count] :]
            return {"type": "branch", "name": name, "count": count}
        if word == "s":
            name = list(self.lines)[-1]
            live = self.lines.pop(name)
            self._leave(name)
            self.live = live
            return {"type": "switch", "name": name}
        if word in ("x", "g", "g1"):
            start = prompts[-1 if word == "g" else 0]
            end = next((place for place in prompts if place > start), len(self.live))
            prompt = self.live[start][0]
            if word == "x":
                del self.live[start:end]
                return {"type": "remove", "prompt": prompt}
            message = self._message("R")
            self.live[start + 1 : end] = [(message["id"], False)]
            return {"type": "regenerate", "prompt": prompt, "message": message}
        if word == "c":
            self.live, self.lines = [], {}
        return {
            "k": {"type": "compact", "summary": "summary"},
            "c": {"type": "clear"},
            "r": {"type": "restore"},
        }[word]

    def _message(self, word: str) -> dict[str, str]:
        self.messages += 1
        name, role = f"m{self.messages}", "user" if word == "U" else "assistant"
        text = f"[[{name}]] {'prompt' if word == 'U' else 'reply'} number {self.messages}"
        return {"id": name, "role": role, "origin": role, "text": text}

    def _leave(self, name: str) -> None:
        self.lines[self.line], self.line, self.live = self.live, name, list(self.live)


def requests(script: str) -> list[dict[str, Any]]:
    """The protocol's requests for a script, from start to stop."""
    player = Player()
    lines: list[dict[str, Any]] = [{"cmd": "start", "version": 1}, {"cmd": "reset", "seq": 1, "config": {}}]
    for seq, word in enumerate(script.split(), start=2):
        lines.append({"cmd": "event", "seq": seq, "event": player.event(word)})
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
