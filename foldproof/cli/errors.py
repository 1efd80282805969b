"""What every command does alike: exit codes, and one clear line for a user's mistake."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, the same for every command."""

    HOLDS = 0
    VIOLATED = 1
    USAGE = 2
    ERRORED = 3


class UsageError(Exception):
    """The user asked for something that does not exist. The message says what, where, and the remedy."""


class IncompleteError(Exception):
    """The job could not be finished: a broken file, a limit reached. The message says what and where."""
