"""The documentation builds without a warning, loads nothing, and every link in it leads somewhere."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from browser import page_of
from typer.main import get_command

from docs_site.building import ROOT, built
from foldproof.cli.main import app

ROOMS = ("model", "explore", "proofs", "reference", "conformance", "stateful_tests")
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


class Seen(HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if "id" in found:
            self.ids.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loads.append(found["href"])
        if "src" in found:
            self.loads.append(found["src"])


def dead_links(site: Path) -> list[str]:
    """Links between pages of a site, or to a place in one, that lead nowhere."""
    pages = {path: Seen(path) for path in site.rglob("*.html")}
    dead = []
    for path, seen in pages.items():
        for link in seen.links:
            if re.match(r"[a-z]+:", link):
                continue
            name, _, place = link.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            if not target.exists() or (place and target in pages and unquote(place) not in pages[target].ids):
                dead.append(f"{path.relative_to(site)}: {link}")
    return dead


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    assert not dead_links(site)
    assert len(list(site.rglob("*.html"))) > 20


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p id=x><a href='#x'>1</a><a href='#y'>2</a><a href='b.html'>3</a>")
    assert dead_links(tmp_path) == ["a.html: #y", "a.html: b.html"]


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="the docs need the extra: docs")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "index.md").write_text("# A page\n\nA [link](nowhere.md#at-all).\n")
    done = built(tmp_path / "in", tmp_path / "out")
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert not [load for load in Seen(path).loads if re.match(r"[a-z]+:|//", load)], path.name
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_site_in_a_browser(chromium: Any, site: Path, scheme: str) -> None:
    for name in ("index.html", "api/model.html"):
        with page_of(chromium, site / name, color_scheme=scheme) as (page, seen):
            assert page.locator("h1").count() == 1
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (background == "rgb(255, 255, 255)") == (scheme == "light")
            assert not seen.errors
            assert all(url.startswith(("file:", "data:")) for url in seen.requests)


def test_the_search_finds_without_a_server(chromium: Any, site: Path) -> None:
    with page_of(chromium, site / "search.html", "?q=recallable") as (page, seen):
        page.wait_for_selector("ul.search li a")
        assert page.locator("ul.search li").count() > 3
        assert not seen.errors


def test_every_public_module_is_in_the_reference(site: Path) -> None:
    for room in ROOMS:
        ids = Seen(site / "api" / f"{room}.html").ids
        for path in (ROOT / "foldproof" / room).rglob("*.py"):
            if "templates" in path.parts or (path.name == "__init__.py" and path.parent.name == room):
                continue
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            assert f"module-{name}" in ids, f"docs/api/{room}.md leaves out {name}"


def test_every_command_is_in_the_reference(site: Path) -> None:
    text = (site / "cli.html").read_text(encoding="utf-8")
    commands: Any = get_command(app)
    for name, command in commands.commands.items():
        assert f'id="foldproof-{name}"' in text
        for one in getattr(command, "params", ()):
            if one.name != "help":
                assert f'<span class="pre">{one.opts[0]}</span>' in text, f"{name} {one.opts[0]}"


def slugs(text: str) -> set[str]:
    """The anchors that a Markdown reader makes of a page's headings: lower case, hyphens, no punctuation."""
    count: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#{1,6} (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(f"{plain}-{count[plain]}" if count[plain] else plain)
        count[plain] += 1
    return found


def dead_anchors(page: Path) -> list[str]:
    """Links from a Markdown page to places in Markdown pages that do not exist."""
    dead = []
    for name, place in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8")):
        target = page.parent / name if name else page
        if "://" not in name and (
            not target.exists() or place not in slugs(target.read_text(encoding="utf-8"))
        ):
            dead.append(f"{name}#{place}")
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_anchor_that_a_page_names_exists(page: Path) -> None:
    assert not dead_anchors(page)


def test_a_dead_anchor_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One thing: `x`\n[ok](#one-thing-x) [no](#two) [no](b.md#three)\n")
    assert dead_anchors(tmp_path / "a.md") == ["#two", "b.md#three"]
