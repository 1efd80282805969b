"""Pages and a browser, made once for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browser

from foldproof.model.core import CORE
from foldproof.report.explorer.exhibits import exhibit
from foldproof.report.explorer.page import explorer_page

REPRO_F = "Call(open); StepEnd; AppendUser; Call(close); StepEnd; Undo(2)"
REPRO_D7 = "Call(open); StepEnd; Call(close); StepEnd"


def core_exhibit(run: str, *without: str, bound: int = 5, key: str = "run", **options: Any) -> dict[str, Any]:
    events = [CORE.event_from_name(name) for name in run.split("; ")]
    return exhibit(CORE, events, without, bound, key=key, **options)


@pytest.fixture(scope="module")  # its event loop must end before other tests run theirs
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture(scope="session")
def repro_f(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repro F, and a second trace to choose, as one page."""
    path = tmp_path_factory.mktemp("explorer") / "f.html"
    exhibits = [
        core_exhibit(REPRO_F, "D1a_undo", key="VIEW"),
        core_exhibit(REPRO_D7, "D7", key="CAL"),
    ]
    path.write_text(explorer_page(exhibits, "Repro F"), encoding="utf-8")
    return path
