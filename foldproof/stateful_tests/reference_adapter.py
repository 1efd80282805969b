"""The reference session behind the conformance protocol.

``python -m foldproof.stateful_tests.reference_adapter`` does each event to a session; what is observed is the
session's own view and trigger and, by the abstraction function, its indices. So ``foldproof conform --mode
refinement`` holds the reference against the model from outside.
"""

from __future__ import annotations

from typing import Any

from foldproof.conformance.adapter import Rejected, serve
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.model.events import Event
from foldproof.model.fold import est
from foldproof.model.state import State
from foldproof.reference.abstraction import alpha, alpha_view
from foldproof.reference.session import Session
from foldproof.stateful_tests.refinement import SETTINGS, RefusedError, apply, core_costs


class ReferenceAdapter(ModelAdapter):
    """A reference session, told from outside like any other implementation."""

    def __init__(self) -> None:
        super().__init__()
        self.implementation = {"name": "foldproof reference", "language": "python"}  # type: ignore[misc]

    def reset(self, config: dict[str, Any]) -> None:
        super().reset(config)
        self.session = Session.in_memory(SETTINGS, core_costs)
        self.state = alpha(self.session)

    def _after(self, event: Event) -> State:
        try:
            self.session = apply(self.session, event)
        except RefusedError as error:
            raise Rejected(str(error)) from error
        return alpha(self.session)

    def observe(self) -> dict[str, Any]:
        items = alpha_view(self.session)
        seen = super().observe()
        return {
            **seen,
            "view": [self._item(item) for item in items],
            "trigger": self.session.trigger,
            "view_tokens": est(items),
        }


if __name__ == "__main__":
    serve(ReferenceAdapter())
