"""Confirms with strands-agents alone what the field report says of it. Exits 0 when every finding is there,
1 otherwise."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent
from strands.agent.conversation_manager import (
    SlidingWindowConversationManager,
    SummarizingConversationManager,
)
from strands.hooks import BeforeModelCallEvent
from strands.models import Model
from strands.session import FileSessionManager

ASK = "Please summarize this conversation."


def texts(messages: Any) -> list[str]:
    """The texts of messages."""
    return ["".join(block.get("text", "") for block in m["content"]) for m in messages]


class Fake(Model):
    """Answers `ok` or a summary; ten tokens a message; keeps the texts of the last request."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.summaries = 0

    def update_config(self, **config: Any) -> None:
        """Nothing to configure."""

    def get_config(self) -> Any:
        """A window of 100 tokens."""
        return {"context_window_limit": 100}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    async def count_tokens(self, messages: Any, *args: Any, **kwargs: Any) -> int:
        """Ten a message."""
        return 10 * len(messages)

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """One answer."""
        said = texts(messages)
        if said[-1] == ASK:
            self.summaries += 1
            text = "SUMMARY OF " + " | ".join(said[:-1])
        else:
            self.sent, text = copy.deepcopy(said), "ok"
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}
        usage = {"inputTokens": 10 * len(said), "outputTokens": 10, "totalTokens": 10 * len(said) + 10}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


def agent(folder: str | None, manager: Any) -> tuple[Agent, Fake]:
    """An agent, with a session on disk if there is a folder for it."""
    model = Fake()
    session = FileSessionManager(session_id="s", storage_dir=folder) if folder else None
    made = Agent(
        model=model,
        agent_id="a",
        callback_handler=None,
        session_manager=session,
        conversation_manager=manager,
    )
    return made, model


def pinned() -> bool:
    """A pinned first message is not there after a reload, and a summarised one is sent in full beside its
    summary."""

    def manager() -> Any:
        return SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=1, pin_first=1)

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        first("pinned instructions")
        first("second prompt")
        first.conversation_manager.reduce_context(first)
        first("third prompt")
        live = texts(first.messages)
        second, _ = agent(folder, manager())
        print("pinned: live    ", live)
        print("pinned: reloaded", texts(second.messages))
        return live[0] == "pinned instructions" and "pinned instructions" not in texts(second.messages)


def pinned_again() -> bool:
    """After such a reload the summary stands first and is pinned itself: the next summary tells a prompt
    that the pinned one tells already."""

    def manager() -> Any:
        return SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=1, pin_first=1)

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        first("pinned instructions")
        first("second prompt")
        first.conversation_manager.reduce_context(first)
        first("third prompt")
        second, _ = agent(folder, manager())
        second.conversation_manager.reduce_context(second)
        summaries = [text for text in texts(second.messages) if text.startswith("SUMMARY OF")]
        print("pinned_again:", texts(second.messages))
        return sum("second prompt" in text for text in summaries) > 1


def loaded_projection() -> bool:
    """`load_snapshot` takes a turn back, a reload brings it back: the projection does not know of it."""
    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, SummarizingConversationManager())
        before = first.take_snapshot(preset="session")
        first("taken back")
        first.load_snapshot(before)
        first("new prompt")
        second, model = agent(folder, SummarizingConversationManager())
        projected: list[Any] = []
        second.hooks.add_callback(
            BeforeModelCallEvent, lambda event: projected.append(event.projected_input_tokens)
        )
        second("next prompt")
        print(f"loaded_projection: view {10 * len(model.sent)} tokens, projected {projected[0]}")
        return projected[0] < 10 * len(model.sent)


def pinned_window() -> bool:
    """The same with the sliding window: after a reload the pinned message is gone."""

    def manager() -> Any:
        return SlidingWindowConversationManager(window_size=2, pin_first=1)

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        for text in ("pinned instructions", "second prompt", "third prompt"):
            first(text)
        live = texts(first.messages)
        second, _ = agent(folder, manager())
        print("pinned_window: live    ", live)
        print("pinned_window: reloaded", texts(second.messages))
        return live[0] == "pinned instructions" and "pinned instructions" not in texts(second.messages)


def snapshot() -> bool:
    """`load_snapshot` takes a turn back; after a reload from the file session the turn is there again."""

    def manager() -> Any:
        return SummarizingConversationManager()

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        first("first prompt")
        before = first.take_snapshot(preset="session")
        first("taken back")
        first.load_snapshot(before)
        first("new prompt")
        live = texts(first.messages)
        second, _ = agent(folder, manager())
        print("snapshot: live    ", live)
        print("snapshot: reloaded", texts(second.messages))
        return "taken back" not in live and "taken back" in texts(second.messages)


def cleared() -> bool:
    """The messages are emptied after a summary; after a reload the summary and the old messages are sent
    again."""

    def manager() -> Any:
        return SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=1)

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        first("first prompt")
        first("second prompt")
        first.conversation_manager.reduce_context(first)
        first.messages.clear()
        first("new prompt")
        live = texts(first.messages)
        second, _ = agent(folder, manager())
        print("cleared: live    ", live)
        print("cleared: reloaded", texts(second.messages))
        return len(live) == 2 and any("first prompt" in text for text in texts(second.messages))


def cleared_offset() -> bool:
    """The same with a summary after it: the log is read from too early on, and a summarised prompt is sent
    beside its summary, which stays when the prompt is taken back."""

    def manager() -> Any:
        return SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=1)

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        first("cleared prompt")
        first.messages.clear()
        first("second prompt")
        first("third prompt")
        first.conversation_manager.reduce_context(first)
        first("fourth prompt")
        live = texts(first.messages)
        second, _ = agent(folder, manager())
        print("cleared_offset: live    ", live)
        print("cleared_offset: reloaded", texts(second.messages))
        return "third prompt" not in live and {"third prompt", live[0]} <= set(texts(second.messages))


def reloaded_projection() -> bool:
    """What a reload brings back is sent, but the projection starts from a reply that was given without it."""

    def manager() -> Any:
        return SummarizingConversationManager()

    with tempfile.TemporaryDirectory() as folder:
        first, _ = agent(folder, manager())
        first("first prompt")
        first.messages.clear()
        first("new prompt")
        second, model = agent(folder, manager())
        projected: list[Any] = []
        second.hooks.add_callback(
            BeforeModelCallEvent, lambda event: projected.append(event.projected_input_tokens)
        )
        second("next prompt")
        print(f"reloaded_projection: view {10 * len(model.sent)} tokens, projected {projected[0]}")
        return projected[0] < 10 * len(model.sent)


def projection() -> bool:
    """After a summary between turns the projected size is that of the request before it; so it is summarised
    again."""
    manager = SummarizingConversationManager(
        summary_ratio=0.8, preserve_recent_messages=2, proactive_compression={"compression_threshold": 0.7}
    )
    made, model = agent(None, manager)
    projected: list[Any] = []
    made.hooks.add_callback(
        BeforeModelCallEvent, lambda event: projected.append(event.projected_input_tokens)
    )
    for text in ("one", "two", "three"):
        made(text)  # the last request was of 50 tokens, its reply of 10: below 70 of 100
    manager.reduce_context(made)
    size, before = 10 * len(made.messages), model.summaries
    made("four")
    print(
        f"projection: view {size + 10} tokens, projected {projected[-1]}; "
        f"{model.summaries - before} more summary (threshold 70)"
    )
    return model.summaries == before + 1 and size + 10 < 70 <= projected[-1]


def undone_projection() -> bool:
    """The same after an undo: the last reply that is left measured a request of before the summary."""
    manager = SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=2)
    made, _ = agent(None, manager)
    projected: list[Any] = []
    made.hooks.add_callback(
        BeforeModelCallEvent, lambda event: projected.append(event.projected_input_tokens)
    )
    for text in ("one", "two", "three"):
        made(text)
    manager.reduce_context(made)  # the last turn is kept, and its reply
    kept = len(made.messages)
    made("taken back")
    del made.messages[kept:]
    size = 10 * len(made.messages) + 10
    made("next")
    print(f"undone_projection: view {size} tokens, projected {projected[-1]}")
    return projected[-1] > size


def window_projection() -> bool:
    """The sliding window trims after each turn; the projection does not see it."""
    manager = SlidingWindowConversationManager(window_size=2)
    made, _ = agent(None, manager)
    projected: list[Any] = []
    made.hooks.add_callback(
        BeforeModelCallEvent, lambda event: projected.append(event.projected_input_tokens)
    )
    sizes = []
    made.hooks.add_callback(BeforeModelCallEvent, lambda event: sizes.append(10 * len(event.agent.messages)))
    for text in ("one", "two", "three", "four"):
        made(text)
    print("window_projection: views", sizes, "projected", projected)
    return projected[-1] > sizes[-1]


if __name__ == "__main__":
    checks = (
        pinned,
        pinned_again,
        pinned_window,
        snapshot,
        cleared,
        cleared_offset,
        reloaded_projection,
        loaded_projection,
        projection,
        undone_projection,
        window_projection,
    )
    found = [check() for check in checks]
    raise SystemExit(0 if all(found) else 1)
