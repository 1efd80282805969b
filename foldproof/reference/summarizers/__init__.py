"""Summarizers: extractive (the default) and chat (extra ``openai``)."""

from foldproof.reference.summarizers.chat import ChatSummarizer
from foldproof.reference.summarizers.completion import ChatEndpoint, CompletionError
from foldproof.reference.summarizers.extractive import ExtractiveSummarizer

__all__ = ["ChatEndpoint", "ChatSummarizer", "CompletionError", "ExtractiveSummarizer"]
