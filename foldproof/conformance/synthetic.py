"""Synthetic sessions: a coding agent's long conversation, from a seed, of any length.

They stand in for real logs where those may not be shipped, and where a length is wanted that no real
log has. What varies is what compaction depends on: turns of uneven length, calls with short and long
results, literals that are common in the whole session and literals that occur once.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from foldproof.conformance.importers.imported import ImportedMessage, ImportedSession
from foldproof.reference.messages import ToolCall

_NOUNS = (
    "parser",
    "cache",
    "socket",
    "ledger",
    "index",
    "worker",
    "schema",
    "router",
    "session",
    "queue",
    "token",
    "cursor",
)
_VERBS = (
    "refactor",
    "inspect",
    "extend",
    "profile",
    "simplify",
    "document",
    "verify",
    "port",
    "rename",
    "isolate",
)
_AREAS = (
    "storage",
    "transport",
    "billing",
    "search",
    "rendering",
    "scheduling",
    "import",
    "export",
    "auth",
    "metrics",
)
_FILLER = (
    "The call returns early when nothing has changed.",
    "It keeps the previous value until the next flush.",
    "Most of the time goes into copying the buffer.",
    "The tests for this part pass without a change.",
    "Callers hold the lock for the whole operation.",
    "This branch is only taken after a restart.",
)


PlantKind = Literal["decision", "constraint", "literal"]


@dataclass(frozen=True, slots=True)
class Plant:
    """A fact put into a session on purpose: ``literal`` occurs in message ``index`` and nowhere else."""

    kind: PlantKind
    literal: str
    sentence: str
    index: int


def synthetic_session(turns: int, seed: int = 0) -> ImportedSession:
    """Make a session of ``turns`` user prompts (about eight messages a turn); equal seeds, equal sessions."""
    messages = tuple(
        replace(message, line=number)
        for number, message in enumerate(_messages(turns, random.Random(seed)), 1)
    )
    return ImportedSession("synthetic", "synthetic", "You are a coding agent.", messages)


def _messages(turns: int, chance: random.Random) -> Iterator[ImportedMessage]:
    calls = 0
    for turn in range(turns):
        area, noun, verb = chance.choice(_AREAS), chance.choice(_NOUNS), chance.choice(_VERBS)
        path = f"src/{area}/{noun}_{chance.randrange(100)}.py"
        yield ImportedMessage("user", f"Please {verb} the {noun} in {path}. {chance.choice(_FILLER)}", 0)
        for _ in range(chance.randint(1, 5)):
            calls += 1
            call = ToolCall(f"call_{_letters(chance)}_{calls}", *_call(chance, path))
            yield ImportedMessage("assistant", chance.choice(("", f"Looking at {noun}.")), 0, calls=(call,))
            yield ImportedMessage("tool", _result(chance, area, noun, turn), 0, result_of=call.id)
        text = " ".join(chance.choice(_FILLER) for _ in range(chance.randint(2, 6)))
        yield ImportedMessage("assistant", f"Done: {noun} in {path}. {text}", 0)


def _letters(chance: random.Random) -> str:
    """Four letters, so that ids of different calls do not share a prefix with their number alone."""
    return "".join(chance.choice("bcdfghjkmnpqrstvwxz") for _ in range(4))


def _call(chance: random.Random, path: str) -> tuple[str, str]:
    name, arguments = chance.choice(
        (
            ("read", {"path": path, "offset": chance.randrange(0, 400, 20)}),
            ("bash", {"command": f"pytest -x {path}"}),
            ("grep", {"pattern": chance.choice(_NOUNS), "path": "src"}),
        )
    )
    return name, json.dumps(arguments)


def _result(chance: random.Random, area: str, noun: str, turn: int) -> str:
    lines = [
        f"{number:4d}  def {chance.choice(_VERBS)}_{noun}({chance.choice(_NOUNS)}: int) -> None:  # {area}"
        for number in range(1, chance.choice((3, 8, 20, 40)))
    ]
    if chance.random() < 0.2:
        lines.append(f"{noun.title()}Error: unexpected state {chance.randrange(10_000)} in turn {turn}")
    return "\n".join(lines)


_KINDS: tuple[PlantKind, ...] = ("decision", "constraint", "literal")
_SENTENCES = {
    "decision": "We decided to use {} for the {} from here on.",
    "constraint": "Constraint: {} must never be changed while the {} is open.",
    "literal": "By the way, the {} shows up once in the log of the {}.",
}


def plant(session: ImportedSession, count: int, seed: int = 0) -> tuple[ImportedSession, tuple[Plant, ...]]:
    """Put ``count`` facts into user and assistant texts, spread evenly, kinds in turn.

    Each is one sentence with a literal of its own, appended to an existing message; the session keeps
    its messages and their pairing. ValueError when the session has fewer messages to take them.
    """
    chance = random.Random(seed)
    hosts = [
        number for number, message in enumerate(session.messages) if message.role != "tool" and message.text
    ]
    if count > len(hosts):
        raise ValueError(
            f"{count} facts do not fit: the session has {len(hosts)} messages with text of their own"
        )
    messages = list(session.messages)
    plants = []
    everything = "\n".join(message.text for message in messages).lower()
    for number in range(count):
        index = hosts[number * len(hosts) // count]
        kind = _KINDS[number % len(_KINDS)]
        literal = _fresh(chance, everything)
        everything += literal.lower()
        sentence = _SENTENCES[kind].format(literal, chance.choice(_NOUNS))
        messages[index] = replace(messages[index], text=f"{messages[index].text} {sentence}")
        plants.append(Plant(kind, literal, sentence, index))
    return replace(session, messages=tuple(messages)), tuple(plants)


def _fresh(chance: random.Random, taken: str) -> str:
    while True:
        literal = f"{_letters(chance).upper()}-{chance.randrange(1000, 10000)}-{_letters(chance)}"
        if literal.lower() not in taken:
            return literal
