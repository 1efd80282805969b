"""Literal anchors: the exact strings of a text that a later search could hit, rarest first.

An index stub has one keyword line. It must hold what a search would be typed for (an error string, a
value, a configuration key, a path, an identifier), and of those what sets this slice apart: a literal
that nearly every message carries says nothing about where to look. So literals are ranked by inverse
document frequency over the messages of the slice, and what earlier keyword lines already list is
left out.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Final

MAX_LITERAL_CHARS: Final = 80
MIN_LITERAL_CHARS: Final = 3


class Kind(StrEnum):
    """What a literal is; the keyword line groups by it, in this order."""

    ERROR = "errors"
    VALUE = "values"
    CONFIG = "config"
    PATH = "paths"
    IDENTIFIER = "identifiers"


@dataclass(frozen=True, slots=True)
class Literal:
    """One literal, with the messages (indices into the texts given) that hold it, and its first place."""

    text: str
    kind: Kind
    messages: frozenset[int]
    first: tuple[int, int]


# Alternatives are tried left to right at each place, so the more specific kinds come first: a path is
# not also its file name, and the value after an "=" goes with its key.
_PATTERN: Final = re.compile(
    r"""
      (?P<error>
          # An exception's name with its text, if it has one.
          [A-Za-z_.]*(?:Error|Exception|Failure|Panic)\b(?::\ [^\n"'`<>,;]{1,48}[^\s"'`<>:;,.])?
        | \b(?:error|fatal|panic|failed|failure):\ [^\n"'`<>,;]{2,48}[^\s"'`<>:;,.]
        | \bE[A-Z]{3,}\b | \b[A-Z]{2,}\d{3,}\b      # ENOENT, TS2345
        | \bexit\ (?:code|status)\ \d+\b | \bHTTP\ \d{3}\b
      )
    | (?P<url> \bhttps?://[^\s"'`<>()\[\]{},]+[^\s"'`<>()\[\]{},.;:] )
    | (?P<config>  # --flag=value, ENV_NAME=value, key=value
          (?<![\w-])--[a-z][\w-]+(?:=[^\s"'`,;)]+)?
        | \b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:=[^\s"'`,;)]+)?
        | \b[a-zA-Z_][\w.-]*=[^\s"'`,;(){}=<>]+
      )
    | (?P<path>
          (?:~|\.{1,2})?(?:/[\w.@+-]*\w){2,} | \b[\w.@+-]+(?:/[\w.@+-]*\w)+
        | \b[\w-]+\.(?:[a-z]{2,4}|c|h)\b(?![\w(])
      )
    | (?P<value>  # UUIDs, digests, versions, colours, quantities, plain numbers
          \b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b
        | \b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b | \b0x[0-9a-fA-F]+\b
        | \bv?\d+(?:\.\d+){1,3}(?:-[\w.]+)?\b | \#[0-9a-fA-F]{6}\b
        | \b\d[\d_,]*(?:\.\d+)?\ ?(?:ms|s|min|h|d|[kKMGT]i?B|px|[kMG]?Hz|%|tokens|bytes)(?!\w)
        | \b\d{3,}\b
      )
    | (?P<identifier>  # camelCase, snake_case, dotted.names, KX-9412-delta
          \b[a-z]+(?:[A-Z][a-z0-9]+)+\b | \b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b
        | \b[A-Za-z]\w*_\w+\b | \b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b
        | \b(?=[A-Za-z-]*\d)[A-Za-z]+\w*(?:-\w+)+\b | \b[A-Z]{2,}-\w+\b
      )
    """,
    re.VERBOSE,
)
# Arguments of calls are JSON text: an escaped line break in it is no letter of the next word.
_ESCAPE: Final = re.compile(r"""(?<!\\)\\[nrt"]""")
_KINDS: Final = {
    "error": Kind.ERROR,
    "url": Kind.PATH,
    "config": Kind.CONFIG,
    "path": Kind.PATH,
    "value": Kind.VALUE,
    "identifier": Kind.IDENTIFIER,
}


def literals(texts: Sequence[str]) -> list[Literal]:
    """Find all literals of ``texts`` (one text a message), in order of first appearance.

    Two spellings that differ in case are two literals: they are quoted exactly.
    """
    kinds: dict[str, tuple[Kind, tuple[int, int]]] = {}
    holders: defaultdict[str, set[int]] = defaultdict(set)
    for number, text in enumerate(texts):
        for match in _PATTERN.finditer(_ESCAPE.sub("\n\n", text)):
            found = match.group().strip()
            if match.lastgroup is not None and MIN_LITERAL_CHARS <= len(found) <= MAX_LITERAL_CHARS:
                kinds.setdefault(found, (_KINDS[match.lastgroup], (number, match.start())))
                holders[found].add(number)
    return [Literal(text, kind, frozenset(holders[text]), first) for text, (kind, first) in kinds.items()]


def rank(found: Iterable[Literal], messages: int, spoken: Collection[int]) -> list[Literal]:
    """Sort literals by inverse document frequency over ``messages`` texts, the rarest first.

    Ties, and in a long slice there are many: what a person or the model wrote (``spoken``, indices of
    messages) goes before what a tool printed, longer before shorter, earlier before later.
    """

    def key(literal: Literal) -> tuple[float, bool, int, tuple[int, int]]:
        rarity = math.log((1 + messages) / len(literal.messages))
        return (-rarity, not any(n in spoken for n in literal.messages), -len(literal.text), literal.first)

    return sorted(found, key=key)


def keyword_line(ranked: Sequence[Literal], cap: int, estimate: Callable[[str], int], known: str = "") -> str:
    """Compose the keyword line: ``errors: a | b; paths: c``, at most ``cap`` tokens, empty if nothing fits.

    Kinds take turns, so that a slice full of paths still shows its one error. What occurs in ``known``
    (the keyword lines committed before) is left out.
    """
    by_kind = [[item for item in ranked if item.kind is kind and item.text not in known] for kind in Kind]
    chosen: list[Literal] = []
    misses = 0
    for turn in zip_longest(*by_kind):
        for literal in turn:
            if literal is None or any(literal.text in other.text for other in chosen):
                continue
            if estimate(_line([*chosen, literal])) <= cap:
                chosen.append(literal)
            else:
                misses += 1
        if misses > len(Kind):  # nothing much fits any more; a short literal far down is not worth the scan
            break
    return _line(chosen)


def _line(chosen: Sequence[Literal]) -> str:
    groups = {kind: [item.text for item in chosen if item.kind is kind] for kind in Kind}
    return "; ".join(f"{kind.value}: {' | '.join(texts)}" for kind, texts in groups.items() if texts)
