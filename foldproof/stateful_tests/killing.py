"""A campaign of real kills: a child process works on a session until SIGKILL, again and again.

The child says on a pipe what it is about to do and, when the session has returned, that it is done. After
each kill the log is opened and held against that: everything acknowledged is there, once and in order,
shown or within reach of recall; of what was under way, all or nothing. POSIX only (``os.fork``).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from foldproof.model.fold import flatten
from foldproof.reference.abstraction import alpha_view
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.errors import TornLogWarning, UndoRejectedError
from foldproof.reference.messages import ChatMessage
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

SETTINGS = Settings(
    window_tokens=1_200,
    retain_tokens=200,
    chunk_tokens=150,
    stub_tokens=15,
    state_cap_tokens=50,
    fsync="never",
)
LONGEST = 80
"""Messages of one log, after which the next one begins."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """What a campaign saw. ``half_done`` counts kills with something under way; ``resumed`` passes that a
    kill interrupted while they committed; ``torn`` logs whose last line was cut."""

    rounds: int
    acknowledged: int
    half_done: int
    resumed: int
    torn: int
    passes: int


class LostError(AssertionError):
    """A kill lost, repeated or reordered something that had been acknowledged."""


def campaign(folder: Path, rounds: int, seed: int = 0) -> Campaign:
    """Kill a child ``rounds`` times. Raises `LostError`, naming the round and what differs."""
    chance = random.Random(seed)
    acknowledged = half_done = resumed = torn = passes = counted = 0
    expected: list[str] = []
    log, number = folder / "log-0", 0
    Session.create(log, SETTINGS).close()
    for turn in range(rounds):
        done, under_way = _killed(log, chance.randrange(2**32), chance.uniform(0, 0.012))
        for change in done:
            expected = _changed(expected, change)
        acknowledged += len(done)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TornLogWarning)
            session = Session.open(log, SETTINGS)
        torn += bool(caught)
        with session:
            unfinished = session.unfinished_pass
            resumed += unfinished is not None and unfinished.committed > 0
            asyncio.run(RecallableCompactor(session).resume())
            possible = [expected] if under_way is None else [expected, *_partly(expected, under_way)]
            half_done += under_way is not None
            texts = (item.message.text for item in session.history)
            actual = [text for text in texts if text not in ("", "accepted")]  # without carriers, receipts
            shown = list(flatten(alpha_view(session)))
            if actual not in possible:
                raise LostError(f"round {turn}: {_difference(actual, possible)}")
            if shown != [item.seq for item in session.history]:
                raise LostError(f"round {turn}: the view does not account for every message, once, in order")
            landed = sum(record.committed > 0 for record in session.passes)
            passes, counted = passes + landed - counted, landed
            expected = actual
            full = len(session.history) > LONGEST
        if full:
            number += 1
            log, expected, counted = folder / f"log-{number}", [], 0
            Session.create(log, SETTINGS).close()
    return Campaign(rounds, acknowledged, half_done, resumed, torn, passes)


def _killed(log: Path, seed: int, seconds: float) -> tuple[list[list[str]], list[str] | None]:
    """What one child did until it was killed, and what it was at."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(log, seed, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        pipe.readline()  # the child has opened the session
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise LostError(f"the child failed on {log}; its error is on stderr")
        lines = pipe.read().split(b"\n")[:-1]
    said = [json.loads(line) for line in lines]
    done = [said[n] for n in range(len(said) - 1) if said[n] and not said[n + 1]]
    return done, said[-1] or None if said else None


def _work(log: Path, seed: int, pipe: int) -> NoReturn:
    chance = random.Random(seed)
    try:
        warnings.simplefilter("ignore", TornLogWarning)
        session = Session.open(log, SETTINGS)
        compactor = RecallableCompactor(session)
        asyncio.run(compactor.resume())
        session.toggle(True)
        os.write(pipe, b"open\n")
        while True:
            change = _next(session, chance)
            os.write(pipe, json.dumps(change).encode() + b"\n")
            _do(session, compactor, change)
            os.write(pipe, b"[]\n")
    except Exception:  # a forked child must not return into its parent's stack: it says why and ends
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(1)


def _next(session: Session, chance: random.Random) -> list[str]:
    text = f"{session.last_seq} {chance.random()} " + "words that take room " * chance.randrange(1, 8)
    kinds = ["say"] * 12 + ["pass"] * 4 + ["undo", "open", "close", "next", "clear", "toggle"]
    return [chance.choice(kinds), text]


def _do(session: Session, compactor: RecallableCompactor, change: list[str]) -> None:
    kind, text = change
    match kind:
        case "say":
            session.append_all([ChatMessage("user", text), ChatMessage("assistant", f"re: {text}")])
        case "pass":
            asyncio.run(compactor.compact_now())
        case "undo":
            try:
                session.undo(1)
            except UndoRejectedError:
                os._exit(0)  # nothing was done: the round ends here, with this under way
        case "clear":
            if len(session.history) > LONGEST // 2:
                session.clear()
            else:
                os._exit(0)
        case "toggle":
            session.toggle(not session.fold_enabled)
            session.toggle(True)
        case "open" | "close" | "next":
            if kind == "open" or session.spine.cursor is not None:
                session.call(kind, memory=text)
                session.step_end()


def _changed(texts: list[str], change: list[str]) -> list[str]:
    """The texts of the history after a change; a carrier has none of its own."""
    kind, text = change
    if kind == "say":
        return [*texts, text, f"re: {text}"]
    if kind == "clear":
        return []
    if kind == "undo":
        prompts = [n for n, old in enumerate(texts) if old and not old.startswith("re: ")]
        return texts[: prompts[-1]] if prompts else texts
    return texts


def _partly(texts: list[str], change: list[str]) -> list[list[str]]:
    """What a change may leave behind when it is killed: its first line, or all of it."""
    whole = _changed(texts, change)
    return [whole[: len(texts) + n] for n in range(len(whole) - len(texts))] + [whole]


def _difference(actual: list[str], possible: list[list[str]]) -> str:
    expected = possible[0]
    for number, (ours, theirs) in enumerate(zip(actual, expected, strict=False)):
        if ours != theirs:
            return f"message {number} is {ours[:60]!r}, acknowledged was {theirs[:60]!r}"
    return f"{len(actual)} messages, acknowledged were {len(expected)}"
