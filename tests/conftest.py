"""Shared by all tests: Hypothesis profiles, and the folder of real inputs where it exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"

settings.register_profile(
    "ci", deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", parent=settings.get_profile("ci"), derandomize=False, max_examples=2_000)
settings.load_profile("ci")


@pytest.fixture
def shared_data() -> Path:
    """The folder of recorded runs and real sessions, which is no part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of real inputs (../shared/data) is not here")
    return SHARED_DATA
