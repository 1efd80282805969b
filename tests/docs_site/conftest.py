"""The documentation, built once for all tests of it, and the explorer's browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs_site.building import ROOT, built

sys.path.insert(0, str(ROOT / "tests" / "explorer"))

from browser import browser


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    pytest.importorskip("furo", reason="the docs need the extra: docs")
    target = tmp_path_factory.mktemp("site")
    done = built(ROOT / "docs", target)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return target


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running
