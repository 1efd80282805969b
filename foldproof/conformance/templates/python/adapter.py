"""The adapter: it translates the protocol's events into calls of your implementation.

    foldproof smoke -- python adapter.py
    foldproof conform -- python adapter.py

`Session` stands for your implementation: replace it by an import. It runs as it is, so that you can see both
commands pass before you change anything.
"""

from __future__ import annotations

from foldproof_adapter import Adapter, Rejected, serve


class Session:
    """A toy session: it stores messages, takes prompts back, and replaces the past by a summary."""

    def __init__(self) -> None:
        self.messages: list[dict[str, str]] = []

    def sent_to_the_model(self) -> list[dict[str, str]]:
        return self.messages

    def take_back(self, prompts: int) -> None:
        places = [i for i, message in enumerate(self.messages) if message["origin"] == "user"]
        if prompts > len(places):
            raise ValueError("there are not so many prompts")
        del self.messages[places[-prompts] :]

    def summarize(self, summary: str) -> None:
        self.messages = [{"role": "user", "origin": "summary", "text": summary}]


class MyAdapter(Adapter):
    """One method an event; leave out what your implementation does not do."""

    implementation = {"name": "toy", "language": "python", "version": "0"}
    observes = ("view", "history_length")

    def reset(self, config):
        self.session = Session()

    def append(self, message):
        self.session.messages.append({k: message[k] for k in ("role", "origin", "text")})

    def undo(self, count):
        try:
            self.session.take_back(count)
        except ValueError as error:  # your implementation refuses: say so, its state is as before
            raise Rejected(str(error)) from error

    def clear(self):
        self.session = Session()

    def compact(self, summary):
        if not self.session.messages:
            raise Rejected("nothing to compact")
        self.session.summarize(summary)

    def observe(self):
        """What would be sent to the model now, asked of the implementation itself: never kept beside it."""
        view = [{"role": m["role"], "text": m["text"]} for m in self.session.sent_to_the_model()]
        return {"view": view, "history_length": len(self.session.messages)}


if __name__ == "__main__":
    serve(MyAdapter())
