"""A real tokenizer as the token estimate (extra ``tiktoken``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken


class TokenizerUnavailableError(RuntimeError):
    """The tokenizer cannot be used: no extra, an unknown name, or no vocabulary on this machine."""


@dataclass(frozen=True, slots=True)
class TiktokenEstimator:
    """Counts tokens exactly as ``encoding`` does; text that looks like a special token is ordinary text."""

    encoding: tiktoken.Encoding

    @classmethod
    def named(cls, name: str) -> TiktokenEstimator:
        """Load an encoding by its name (``o200k_base``) or by a model's (``gpt-4o``).

        The library ships no vocabularies: it downloads one at first use. Without a network, and
        without a copy in ``TIKTOKEN_CACHE_DIR``, this raises `TokenizerUnavailableError`; it never
        falls back to another estimate in silence.
        """
        try:
            import tiktoken  # noqa: PLC0415 - an extra
        except ImportError:
            raise TokenizerUnavailableError(
                "token counts by tiktoken need the extra: pip install 'foldproof[tiktoken]'"
            ) from None
        try:
            if name not in tiktoken.list_encoding_names():
                name = tiktoken.encoding_name_for_model(name)
        except KeyError:
            known = ", ".join(tiktoken.list_encoding_names())
            raise TokenizerUnavailableError(
                f"{name!r} is neither a model nor an encoding; encodings: {known}"
            ) from None
        try:
            return cls(tiktoken.get_encoding(name))
        except OSError as error:  # what the HTTP library raises, and a cache folder that cannot be written
            raise TokenizerUnavailableError(
                f"the vocabulary of {name!r} is not on this machine and could not be downloaded "
                f"({type(error).__name__}); set TIKTOKEN_CACHE_DIR to a folder that holds it, or use the "
                "estimate by characters"
            ) from error

    def __call__(self, text: str) -> int:
        return len(self.encoding.encode_ordinary(text))
