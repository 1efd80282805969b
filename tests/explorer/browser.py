"""A headless Chromium for the tests of the page; skipped, saying so, where none can be had."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CANDIDATES = ("chromium", "chromium-browser", "google-chrome")


def executable() -> str:
    """The installed browser; skips the test where there is none."""
    found = os.environ.get("FOLDPROOF_CHROMIUM") or next(filter(None, map(shutil.which, CANDIDATES)), None)
    if found is None:
        pytest.skip(f"no Chromium here: install one of {', '.join(CANDIDATES)}, or set FOLDPROOF_CHROMIUM")
    return found


@dataclass
class Seen:
    """What a page did that it must not do: errors on its console, and requests beyond its own file."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def browser() -> Iterator[Any]:
    """A running browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra: dev)")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def page_of(chromium: Any, path: Path, fragment: str = "", **options: Any) -> Iterator[tuple[Any, Seen]]:
    """A page opened from its file, ready, with what it was seen to do."""
    seen = Seen()
    context = chromium.new_context(**{"viewport": {"width": 1400, "height": 1000}, **options})
    page = context.new_page()
    page.on("console", lambda m: seen.errors.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(path.resolve().as_uri() + fragment)
    if page.locator("script#data").count():
        page.wait_for_selector("html[data-ready]", state="attached")
    try:
        yield page, seen
    finally:
        context.close()
