"""The page: exhibits, style and script inlined into one file that asks nothing of a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from foldproof import __version__
from foldproof.report.explorer.exhibits import Exhibit
from foldproof.report.explorer.pool import pooled

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("dom.js", "walk.js", "lane.js", "panels.js", "timeline.js", "copy.js", "main.js")
"""In the order in which they stand in the page; each uses only what stands before it."""


def environment() -> jinja2.Environment:
    """Templates of the package, escaping what they are given; a name that is missing is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def explorer_page(exhibits: Sequence[Exhibit], title: str, home: str | None = None) -> str:
    """The HTML of an explorer page; ``home`` is the address of the gallery that it belongs to."""
    return (
        environment()
        .get_template("explorer.html.j2")
        .render(
            title=title,
            home=home,
            version=__version__,
            style=asset("page.css"),
            scripts=[asset(name) for name in SCRIPTS],
            data=embedded({"exhibits": [{**e, "runs": [*map(pooled, e["runs"])]} for e in exhibits]}),
            exhibits=exhibits,
        )
    )


def asset(name: str) -> Markup:
    """A style sheet or a script of the package, as it stands in the page."""
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


def embedded(value: Any) -> Markup:
    """JSON that can stand in a script element: no text in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=False)
    return Markup(text.replace("<", "\\u003c"))
