"""The explorer in a notebook: the same page, in a frame of its own."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

from foldproof.explore.trace import Trace
from foldproof.report.explorer.exhibits import Exhibit, trace_exhibit
from foldproof.report.explorer.page import explorer_page


@dataclass(frozen=True)
class Shown:
    """Exhibits that a notebook draws as a page, ``height`` pixels high."""

    exhibits: tuple[Exhibit, ...] = field(repr=False)
    title: str
    height: int = 760

    def _repr_html_(self) -> str:
        page = html.escape(explorer_page(self.exhibits, self.title), quote=True)
        title = html.escape(self.title, quote=True)
        return (
            f'<iframe title="{title}" sandbox="allow-scripts" srcdoc="{page}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8888"></iframe>'
        )


def show(*traces: Trace, title: str = "A trace", max_states: int = 40) -> Shown:
    """Traces as the value of a notebook's cell.

    Raises `foldproof.explore.tracefile.TraceError` when one does not follow.
    """
    return Shown(_named(traces, max_states), title)


def _named(traces: Sequence[Trace], max_states: int) -> tuple[Exhibit, ...]:
    return tuple(trace_exhibit(trace, f"trace-{i}", max_states) for i, trace in enumerate(traces, 1))
