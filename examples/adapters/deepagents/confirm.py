"""Confirms with deepagents alone what the field report says of it. Exits 0 when every finding is there, 1
otherwise."""

from __future__ import annotations

from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

LONG = "a paragraph of some length " * 60
summaries = 0


class Fake(BaseChatModel):
    """Answers `reply`, counts four characters a token, and keeps the texts of the last request."""

    sent: list[str] = []
    reply: str = "ok"

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _get_ls_params(self, stop: Any = None, **kwargs: Any) -> Any:
        return {"ls_provider": "fake"}

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.sent = [str(m.content) for m in messages if m.type != "system"]
        total = sum(map(len, self.sent)) // 4
        usage = {
            "input_tokens": total,
            "output_tokens": len(self.reply) // 4,
            "total_tokens": total + len(self.reply) // 4,
        }
        return ChatResult(
            generations=[
                ChatGeneration(
                    message=AIMessage(
                        self.reply, usage_metadata=usage, response_metadata={"model_provider": "fake"}
                    )
                )
            ]
        )


def count(messages: Any) -> int:
    """Four characters a token, like the fake provider; no system prompt."""
    return sum(len(str(m.content)) for m in messages if m.type != "system") // 4


def agent(trigger: Any, keep: Any) -> tuple[Any, Fake, dict[str, Any]]:
    """A deep agent on one thread in memory."""
    model, backend = Fake(), StateBackend()

    def summarise(messages: Any) -> str:
        global summaries
        summaries += 1
        return "SUMMARY OF " + " | ".join(str(m.content)[:12] for m in messages)

    middleware = SummarizationMiddleware(
        model=model, backend=backend, trigger=trigger, keep=keep, summarizer=summarise, token_counter=count
    )
    made = create_deep_agent(
        model=model, backend=backend, middleware=[middleware], checkpointer=InMemorySaver()
    )
    return made, model, {"configurable": {"thread_id": "t"}}


def say(made: Any, config: Any, text: str) -> None:
    """One turn."""
    made.invoke({"messages": [HumanMessage(text)]}, config)


def undo() -> bool:
    """Messages removed below the cutoff: their summary stays, and the next prompt is not sent."""
    made, model, config = agent(("messages", 5), ("messages", 1))
    for text in ("first prompt", "second prompt", "third prompt"):
        say(made, config, text)
    messages = made.get_state(config).values["messages"]
    made.update_state(
        config, {"messages": [RemoveMessage(id=m.id) for m in messages[2:]]}
    )  # keeps the first turn
    say(made, config, "new prompt after undo")
    print("undo: the model was sent", model.sent)
    return "second" in model.sent[0] and not any("new prompt" in text for text in model.sent)


def clear() -> bool:
    """All messages removed: the summary of them stays, and the first prompts of the new conversation are not
    sent."""
    made, model, config = agent(("messages", 5), ("messages", 1))
    for text in ("first prompt", "second prompt", "third prompt"):
        say(made, config, text)
    made.update_state(config, {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]})
    say(made, config, "new prompt after clear")
    print("clear: the model was sent", model.sent)
    return "first" in model.sent[0] and not any("new prompt" in text for text in model.sent)


def removed() -> bool:
    """One old message removed: the cutoff is one too far, and a prompt that was kept verbatim is not sent."""
    made, model, config = agent(("messages", 6), ("messages", 3))
    for text in ("first prompt", "second prompt", "third prompt", "fourth prompt"):
        say(made, config, text)
    messages = made.get_state(config).values["messages"]
    before = list(model.sent)
    made.update_state(config, {"messages": [RemoveMessage(id=messages[0].id)]})
    say(made, config, "new prompt after removal")
    print("removed: the model was sent", before, "; after the removal", model.sent)
    # Removed was "first prompt", which the summary still tells; hidden is the first message that was kept.
    return before[1] == "third prompt" and "third prompt" not in model.sent and "first" in model.sent[0]


def removed_usage() -> bool:
    """A long prompt is removed: the last reply still reports it, and what is left is summarised though it is
    below the threshold."""
    made, model, config = agent(("tokens", 900), ("messages", 1))
    say(made, config, LONG)
    model.reply = LONG
    say(made, config, LONG)  # about 810 tokens sent, a reply of 405: it reports 1,215
    model.reply = "ok"
    messages = made.get_state(config).values["messages"]
    made.update_state(config, {"messages": [RemoveMessage(id=messages[0].id)]})
    before, due = summaries, 2 * len(LONG) // 4 + 10
    say(made, config, "short")
    print(f"removed_usage: {summaries - before} summary, though {due} tokens are left; the threshold is 900")
    return summaries == before + 1 and due < 900


def trigger() -> bool:
    """After a removal the last reply left reports the size of a request from before the summary: it is
    summarised again."""
    made, model, config = agent(("tokens", 1500), ("messages", 2))
    say(made, config, LONG)
    say(made, config, LONG)
    model.reply = LONG * 2
    say(made, config, LONG)  # 1,200 tokens sent, a reply of 800: the reply reports 2,000
    model.reply = "ok"
    say(made, config, "short")  # past the threshold, rightly: this turn summarises and keeps the long reply
    before = summaries
    messages = made.get_state(config).values["messages"]
    made.update_state(config, {"messages": [RemoveMessage(id=m.id) for m in messages[-2:]]})
    say(made, config, "short again")
    size = sum(map(len, model.sent)) // 4
    # What would have been sent without another summary: the old summary, the long reply and the new prompt.
    due = 100 + len(LONG * 2) // 4 + 3
    print(
        f"trigger: {summaries - before} more summary, though the view was of about {due} tokens "
        f"(then {size}); the threshold is 1500"
    )
    return summaries == before + 1 and due < 1500


if __name__ == "__main__":
    raise SystemExit(0 if all([undo(), clear(), removed(), removed_usage(), trigger()]) else 1)
