"""The recall tools: what a pass took off the surface, read and searched where it always was, in the log.

Both are pure functions of the log. Their schemas and the one section for the system prompt are static
strings; the ids of checkpoints reach the model through footers alone. What they return is an ordinary
tool result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from foldproof.reference.checkpoints import Checkpoint, parse_id
from foldproof.reference.codec import searchable
from foldproof.reference.errors import (
    NotAnAgentError,
    OffsetError,
    OrphanedStartError,
    RecallError,
    UnknownCheckpointError,
)
from foldproof.reference.passes import PRIOR_STATE
from foldproof.reference.session import Session
from foldproof.reference.surface import Item, ItemClass

PROMPT_SECTION: Final = """\
Parts of this conversation may have been replaced by checkpoints: short summaries that end with \
"[checkpoint c<id>: …]". Nothing is lost. To see the original words of a span, call history_read with the \
checkpoint's id. When you know a name, a value or an error text but not where it was, call history_search. \
Look there before you ask the user to repeat something, and before you guess."""

SCHEMAS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "history_read",
        "description": (
            "Read the original conversation span that a checkpoint replaced, as a transcript. "
            "Long spans come in pages: pass next_offset as offset to go on."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "checkpoint": {
                    "type": "string",
                    "description": "The id from a checkpoint's footer, such as c42.",
                },
                "offset": {"type": "integer", "minimum": 0, "description": "Where to go on, in characters."},
            },
            "required": ["checkpoint"],
            "additionalProperties": False,
        },
    },
    {
        "name": "history_search",
        "description": (
            "Search everything that checkpoints replaced for a literal text, ignoring case. "
            "Returns snippets with the ids of the checkpoints that history_read takes."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "description": "The exact text to look for."},
                "checkpoint": {"type": "string", "description": "Search this checkpoint's span only."},
                "limit": {"type": "integer", "minimum": 1, "description": "How many snippets at most."},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
)

HINT: Final = (
    "No match. The search is literal (no wildcards, no synonyms): try a shorter or another exact text, or "
    "read a plausible checkpoint directly with history_read."
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a transcript. Offsets count characters; ``next_offset`` is none on the last page."""

    checkpoint: str
    text: str
    offset: int
    next_offset: int | None
    total: int


@dataclass(frozen=True, slots=True)
class Match:
    """One match: the checkpoint whose span holds it, seq and role of the message, the text around it."""

    checkpoint: str
    seq: int
    role: str
    snippet: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Matches in order of the conversation. ``scanned`` and ``matched`` count messages; ``truncated``
    says that there are more matches than ``limit`` allowed; ``hint`` is set when there are none."""

    query: str
    matches: tuple[Match, ...]
    scanned: int
    matched: int
    truncated: bool
    hint: str | None


class RecallTools:
    """The two tools over one session. ``caller`` says on whose behalf: only an ``agent`` may recall."""

    schemas = SCHEMAS
    prompt_section = PROMPT_SECTION

    def __init__(self, session: Session, caller: str = "agent") -> None:
        self.session, self.caller = session, caller

    async def history_read(self, checkpoint: str, offset: int = 0) -> Page:
        """Read the span of any checkpoint of the log, superseded ones too, one page from ``offset``.

        Raises `UnknownCheckpointError`, `OrphanedStartError`, `OffsetError`, `NotAnAgentError`.
        """
        found = self._find(checkpoint)
        text = "\n\n".join(self._rendered(found))
        if (
            not isinstance(offset, int)
            or isinstance(offset, bool)
            or not 0 <= offset <= max(0, len(text) - 1)
        ):
            raise OffsetError(f"offset {offset!r}: {found.id} has characters 0 to {max(0, len(text) - 1)}")
        end = min(len(text), offset + self.session.settings.page_chars)
        return Page(found.id, text[offset:end], offset, end if end < len(text) else None, len(text))

    async def history_search(
        self, query: str, checkpoint: str | None = None, limit: int | None = None
    ) -> SearchPage:
        """Find ``query`` literally, ignoring case, in every message that a checkpoint shadows.

        Raises as `history_read` does; RecallError for an empty query, `OffsetError` for a limit below 1.
        """
        self._allow()
        if not isinstance(query, str) or not query.strip():
            raise RecallError("query: a text to look for is needed")
        most = self.session.settings.search_limit if limit is None else limit
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise OffsetError(f"limit {limit!r}: at least 1")
        chosen = (
            [self._find(checkpoint)] if checkpoint is not None else list(self.session.checkpoints.values())
        )
        find = _finder(query)
        matches: list[Match] = []
        scanned = matched = 0
        for owner, item in self._shadowed(chosen):
            scanned += 1
            text = searchable(item.message)
            places = find(text)
            first = next(places, None)
            if first is None:
                continue
            matched += 1
            if len(matches) < most:
                snippet = _snippet(text, first, self.session.settings.snippet_chars)
                matches.append(Match(owner.id, item.seq, item.message.role, snippet))
        return SearchPage(
            query, tuple(matches), scanned, matched, matched > len(matches), None if matched else HINT
        )

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool by name with the model's arguments and return the text of its result.

        Raises RecallError for a bad name or bad arguments; a host puts the message into an error result.
        """
        if not isinstance(arguments, dict):
            raise RecallError(f"{name}: the arguments are an object, not {type(arguments).__name__}")
        schema = next((item for item in self.schemas if item["name"] == name), None)
        if schema is None:
            raise RecallError(f"no tool {name!r}: history_read and history_search")
        known = schema["parameters"]["properties"]
        for key in arguments:
            if key not in known:
                raise RecallError(f"{name}: no argument {key!r}; it takes {', '.join(known)}")
        for key in schema["parameters"]["required"]:
            if not isinstance(arguments.get(key), str):
                raise RecallError(f"{name}: {key} is needed, as text")
        if name == "history_read":
            return read_text(await self.history_read(**arguments))
        return search_text(await self.history_search(**arguments))

    # --- helpers -------------------------------------------------------------------------------

    def _allow(self) -> None:
        if self.caller != "agent":
            raise NotAnAgentError(f"caller {self.caller!r}: recall is for the agent of this session")

    def _find(self, checkpoint: str) -> Checkpoint:
        self._allow()
        seq = parse_id(checkpoint) if isinstance(checkpoint, str) else None
        found = self.session.checkpoints.get(seq) if seq is not None else None
        if found is not None:
            return found
        if any(record.seq == seq and not record.committed for record in self.session.passes):
            raise OrphanedStartError(f"checkpoint {checkpoint!r}: that pass never committed anything")
        raise UnknownCheckpointError(
            f"checkpoint {checkpoint!r}: not in this log, or gone with a clear; ids (c42) stand in footers"
        )

    def _rendered(self, checkpoint: Checkpoint) -> Iterator[str]:
        for seq in checkpoint.shadowed:
            item = self.session.items[seq]
            if item.kind is ItemClass.MESSAGE:
                yield item.message.transcript()
            elif item.kind is ItemClass.STATE:
                yield f"{PRIOR_STATE}\n{item.message.text}"
            else:
                yield f"[prior checkpoint c{item.checkpoint}]\n{item.message.text}"

    def _shadowed(self, checkpoints: list[Checkpoint]) -> Iterator[tuple[Checkpoint, Item]]:
        """Every message that a checkpoint replaced. Each was replaced once, so none comes twice."""
        for checkpoint in checkpoints:
            for seq in checkpoint.shadowed:
                item = self.session.items[seq]
                if item.kind is ItemClass.MESSAGE:
                    yield checkpoint, item


def _finder(query: str) -> Callable[[str], Iterator[tuple[int, int]]]:
    """A function from a text to the spans of the matches in it, ignoring case.

    ``str.find`` over a lowered text is many times faster than a regular expression that ignores case,
    and its places are the text's own as long as lowering keeps the length. Two letters need the
    regular expression: a capital I with a dot, which does not keep it, and the Greek sigma, whose
    lower form depends on whether a word ends there.
    """
    pattern = re.compile(re.escape(query), re.IGNORECASE)
    lowered = query.lower()
    sigma = any(letter in lowered for letter in "σς")

    def find(text: str) -> Iterator[tuple[int, int]]:
        low = text.lower()
        if len(low) != len(text) or sigma:
            for match in pattern.finditer(text):
                yield match.span()
            return
        start = low.find(lowered)
        while start >= 0:
            yield start, start + len(lowered)
            start = low.find(lowered, start + len(lowered))

    return find


def _snippet(text: str, place: tuple[int, int], chars: int) -> str:
    """At most ``chars`` characters around a match (more only where the match itself is longer)."""
    room = max(0, chars - (place[1] - place[0])) // 2
    start, end = max(0, place[0] - room), min(len(text), place[1] + room)
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def read_text(page: Page) -> str:
    """A page as the model reads it."""
    head = f"[{page.checkpoint}: characters {page.offset} to {page.offset + len(page.text)} of {page.total}]"
    more = f"\n\n[next_offset: {page.next_offset}]" if page.next_offset is not None else ""
    return f"{head}\n\n{page.text}{more}"


def search_text(page: SearchPage) -> str:
    """Matches as the model reads them, with what was covered."""
    lines = [f"{match.checkpoint} #{match.seq} {match.role}: {match.snippet}" for match in page.matches]
    cover = (
        f"[scanned {page.scanned} messages, matched {page.matched}{', truncated' if page.truncated else ''}]"
    )
    return "\n\n".join([*lines, *([page.hint] if page.hint else []), cover])


def as_json(page: Page | SearchPage) -> dict[str, Any]:
    """A page as JSON-ready data."""
    return asdict(page)
