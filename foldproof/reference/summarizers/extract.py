"""Sentences picked, never written: what the extractive summarizer puts into a stub and into the state.

All of it is a pure function of the messages given. Sentences are quoted whole or cut at a word, with
an ellipsis; nothing is rephrased.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

Estimate = Callable[[str], int]

# A sentence ends at ., ! or ? before white space, or at the end of a line: agents write lists and code.
_SENTENCE: Final = re.compile(r"[^\n]+?(?:[.!?](?=\s)|(?=\n)|$)")
_NOISE: Final = re.compile(r"^[\s`#*>|=_-]*$")
_BULLET: Final = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message as the summarizer sees it: who (user, assistant, tool), the text, names of tools called."""

    role: str
    text: str
    tools: tuple[str, ...] = ()


def sentences(text: str) -> list[str]:
    """Split into sentences, without list markers, headings' marks, rules and fences."""
    found = (_BULLET.sub("", match.group()).strip() for match in _SENTENCE.finditer(text))
    return [sentence for sentence in found if not _NOISE.match(sentence)]


def shorten(text: str, cap: int, estimate: Estimate) -> str:
    """Cut ``text`` at a word so that it takes at most ``cap`` tokens, with an ellipsis where it was cut."""
    text = " ".join(text.split())
    if estimate(text) <= cap:
        return text
    low, high = 0, len(text)  # the longest prefix that fits: estimates grow with the text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle] + "…") <= cap else (low, middle - 1)
    cut = text[:low]
    if " " in cut and low < len(text) and text[low] != " ":
        cut = cut[: cut.rindex(" ")]
    return f"{cut.rstrip()}…" if cut.strip() else ""


def stub_lines(messages: Sequence[Utterance], cap: int, estimate: Estimate) -> list[str]:
    """Pick two or three lines: how the slice begins, how it ends, and what was called in it.

    At most ``cap`` tokens together. The first sentence of the first prompt says what was wanted; the
    last sentence that the assistant said, what came of it.
    """
    asked = _edge(messages, "user", 0)
    said = _edge(messages, "assistant", -1)
    tools = Counter(name for message in messages for name in message.tools)
    lines = [("User: ", asked), ("Assistant: ", said)]
    called = ", ".join(f"{name} {count}x" for name, count in tools.most_common(6))
    if called:
        lines.append(("Calls: ", called))
    wanted = [(label, text) for label, text in lines if text]
    out: list[str] = []
    for number, (label, text) in enumerate(wanted):
        share = (cap - estimate("\n".join(out))) // (len(wanted) - number)
        line = shorten(label + text, share, estimate)
        if len(line) > len(label) and estimate("\n".join([*out, line])) <= cap:
            out.append(line)
    return out


def _edge(messages: Sequence[Utterance], role: str, place: int) -> str:
    ordered = messages if place == 0 else messages[::-1]
    for message in ordered:
        found = sentences(message.text) if message.role == role else []
        if found:
            return found[place]
    return ""


class Section(StrEnum):
    """The parts of a state checkpoint, in the order in which they are written."""

    DECISIONS = "Decisions"
    STATE = "Current state"
    CONSTRAINTS = "Constraints"
    NEXT = "Next steps"


_CUES: Final = (
    (
        Section.CONSTRAINTS,
        re.compile(
            r"\b(?:must|never|always|do not|don't|cannot|constraint|requirement|not allowed|make sure|without"
            r" changing|only use|at most|at least)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Section.DECISIONS,
        re.compile(
            r"\b(?:decided?|decision|chose|choose|agreed|settled on|going with|instead of|switch(?:ed)? to"
            r"|we(?:'ll| will)? use|approved?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        Section.NEXT,
        re.compile(
            r"\b(?:next|to-?do|remaining|still (?:to|needs?)|follow[- ]up|afterwards|later)\b", re.IGNORECASE
        ),
    ),
)
# Filled in turn, so that a flood of one kind does not push out the others.
_PRIORITY: Final = (Section.CONSTRAINTS, Section.DECISIONS, Section.STATE, Section.NEXT)
# Where things stand, and what comes next, is said anew every pass; older lines are stale, not precious.
_FLEETING: Final = {Section.STATE: 4, Section.NEXT: 4}
_SENTENCE_TOKENS: Final = 60


def merge_state(previous: str, messages: Sequence[Utterance], cap: int, estimate: Estimate) -> str:
    """Merge the previous state with what went stale: the sentences worth carrying, newest kept first.

    The result has the four sections of `Section` (empty ones left out) and takes at most ``cap``
    tokens. A previous state that was not written here is sorted into the sections by the same cues.
    """
    lines = _parse(previous)
    for message in messages:
        if message.role != "tool":
            _sort_in(lines, message.text)
    for role in ("user", "assistant"):
        last = next((m for m in reversed(messages) if m.role == role and sentences(m.text)), None)
        if last is not None:
            label = "Asked last: " if role == "user" else "Said last: "
            lines[Section.STATE].append(label + (sentences(last.text)[0 if role == "user" else -1]))
    for section in Section:
        short = (shorten(line, _SENTENCE_TOKENS, estimate) for line in reversed(lines[section]))
        newest_first = list(dict.fromkeys(line for line in short if line))
        lines[section] = newest_first[: _FLEETING.get(section)]
    return _fit(lines, cap, estimate)


def _fit(newest_first: dict[Section, list[str]], cap: int, estimate: Estimate) -> str:
    kept: dict[Section, list[str]] = {section: [] for section in Section}
    # A running sum, not the whole text again for every line; the exact check comes at the end.
    spent = 0
    for rank in range(max(map(len, newest_first.values()), default=0)):
        for section in _PRIORITY:
            if rank < len(newest_first[section]):
                line = newest_first[section][rank]
                cost = estimate(f"- {line}\n") + (0 if kept[section] else estimate(f"## {section.value}\n"))
                if spent + cost <= cap:
                    spent += cost
                    kept[section].append(line)
    text = _write(kept)
    while estimate(text) > cap and any(kept.values()):
        max(kept.values(), key=len).pop()
        text = _write(kept)
    return text


def _write(newest_first: dict[Section, list[str]]) -> str:
    parts = [
        f"## {section.value}\n" + "\n".join(f"- {line}" for line in reversed(lines))
        for section, lines in newest_first.items()
        if lines
    ]
    return "\n".join(parts)


def _parse(state: str) -> dict[Section, list[str]]:
    lines: dict[Section, list[str]] = {section: [] for section in Section}
    section: Section | None = None
    headings = {f"## {item.value}": item for item in Section}
    foreign: list[str] = []
    for line in state.splitlines():
        if line in headings:
            section = headings[line]
        elif section is not None and line.startswith("- "):
            lines[section].append(line[2:])
        else:
            foreign.append(line)
    _sort_in(lines, "\n".join(foreign), default=Section.STATE)
    return lines


def _sort_in(lines: dict[Section, list[str]], text: str, default: Section | None = None) -> None:
    for sentence in sentences(text):
        section = next((section for section, cue in _CUES if cue.search(sentence)), default)
        if section is not None:
            lines[section].append(sentence)
