"""Refinement: an implementation that claims the design must answer as the model does, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field

from foldproof.conformance import blackbox
from foldproof.conformance.checker import Exchange, Finding, view_text
from foldproof.conformance.explain import answer
from foldproof.conformance.model_adapter import ModelAdapter
from foldproof.conformance.protocol import EventRequest, Reply, ResetRequest


@dataclass
class Refinement:
    """The model beside a run. After the first difference nothing more is compared until the next reset."""

    model: ModelAdapter = field(default_factory=ModelAdapter)
    texts: dict[str, str] = field(default_factory=dict)
    lost: bool = False

    def compare(self, exchange: Exchange) -> Finding | None:
        """What differs at this step, or None."""
        request, told, _ = exchange
        if isinstance(request, ResetRequest):
            self.texts, self.lost = {}, False
        elif self.lost or told.status in ("skipped", "errored"):
            return None
        else:
            event = request.event
            if event.type in ("append", "regenerate"):
                self.texts[event.message.id] = event.message.text
            elif event.type == "call":
                self.texts[event.call] = ""
        expected = answer(self.model, request)
        for name, left, right in self._sides(told, expected):
            if left != right:
                self.lost = True
                what = request.event.type if isinstance(request, EventRequest) else "reset"
                detail = f"{name} is {left}, the model's is {right}"
                return Finding(
                    request.seq, what, "REFINEMENT", "refinement", (name,), detail, str(left), str(right)
                )
        return None

    def _sides(self, told: Reply, expected: Reply) -> list[tuple[str, object, object]]:
        """The parts that must be equal: only what the implementation observes, in the tester's own terms."""
        mine, model = told.observation, expected.observation
        sides: list[tuple[str, object, object]] = [("status", told.status, expected.status)]
        if mine.view is not None and model.view is not None:
            sides.append(
                (
                    "view",
                    view_text(blackbox.read_view(mine.view, self.texts), len(mine.view)),
                    view_text(blackbox.read_view(model.view, self.texts), len(model.view)),
                )
            )
        if mine.history_length is not None:
            sides.append(("history_length", mine.history_length, model.history_length))
        if mine.committed is not None:
            sides.append(("committed", sorted(mine.committed), sorted(model.committed or ())))
        if "pending" in mine.model_fields_set:
            sides.append(("pending", mine.pending, model.pending))
        return sides
