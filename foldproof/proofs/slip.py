"""Off-by-one mutants: for obligations that no missing clause breaks, a mistake that would."""

from __future__ import annotations

from enum import StrEnum


class Slip(StrEnum):
    """A mistake made by an event, or in a rule: its value is its name in reports."""

    SPAN_TOO_LONG = "closed_at one too far"
    GAUGE_TOO_LONG = "gauge.length one too far"
    EPOCH_TOO_FAR = "epoch_start_at one past the end"
