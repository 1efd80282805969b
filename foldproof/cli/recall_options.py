"""What the commands around the reference session share: opening logs, choosing summarizer and estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from foldproof.cli.errors import IncompleteError, UsageError
from foldproof.conformance.importers import FORMATS, ImportedSession, SessionFormatError, load_session
from foldproof.reference.errors import FoldproofError, SettingsError
from foldproof.reference.protocols import CharacterEstimator, Summarizer, TokenEstimator
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings


def imported(path: Path, form: str) -> ImportedSession:
    """Read a session file, or raise one line that says what is wrong with it."""
    if form not in FORMATS:
        raise UsageError(f"there is no format {form!r}; choose from {', '.join(FORMATS)}")
    try:
        return load_session(path, form)
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except SessionFormatError as error:
        raise IncompleteError(str(error)) from error
    except OSError as error:
        raise IncompleteError(f"{path}: {error.strerror or error}") from error


def read_session(log: Path) -> Session:
    """Open a log for reading."""
    try:
        return Session.read(log)
    except FileNotFoundError:
        raise UsageError(
            f"{log}: there is no such log; foldproof compact SESSION --out LOG writes one"
        ) from None
    except (FoldproofError, OSError) as error:
        raise IncompleteError(str(error)) from error


def window_settings(window: int, **values: Any) -> Settings:
    """Settings in proportion to the window."""
    try:
        return Settings.for_window(window, **values)
    except SettingsError as error:
        raise UsageError(f"--window {window}: {error}") from error


def chosen_estimate(name: str) -> TokenEstimator:
    """The estimate by characters, or a tokenizer by its name."""
    if name == "characters":
        return CharacterEstimator()
    from foldproof.reference.tokens import TiktokenEstimator, TokenizerUnavailableError  # noqa: PLC0415

    try:
        return TiktokenEstimator.named(name)
    except TokenizerUnavailableError as error:
        raise UsageError(f"--tokens {name}: {error}") from error


def chosen_summarizer(
    name: str, model: str | None, base_url: str | None, timeout: float, estimate: TokenEstimator
) -> Summarizer:
    """The extractive summarizer, or a model behind an OpenAI-compatible endpoint."""
    from foldproof.reference.summarizers import (  # noqa: PLC0415
        ChatEndpoint,
        ChatSummarizer,
        ExtractiveSummarizer,
    )

    if name == "extractive":
        return ExtractiveSummarizer(estimate)
    if name != "chat":
        raise UsageError(f"there is no summarizer {name!r}; choose from extractive, chat")
    if not model:
        raise UsageError("--summarizer chat needs --model, and --base-url where the endpoint is not OpenAI's")
    try:
        return ChatSummarizer(ChatEndpoint(model, base_url=base_url, timeout=timeout))
    except ValueError as error:
        raise UsageError(f"--summarizer chat: {error}") from error


def note(text: str) -> None:
    """A remark for people, beside the result: on stderr."""
    typer.echo(f"note: {text}", err=True)
