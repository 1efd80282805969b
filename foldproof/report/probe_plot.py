"""The handoff probe as a figure: what stays within reach after every pass, and what it costs.

Colours are Okabe and Ito's, told apart by all common kinds of colour blindness; every line also has a
marker and a dash pattern of its own, so that the figure survives a grey print.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREEN = "#0072B2", "#E69F00", "#009E73"
_VERMILION, _PURPLE = "#D55E00", "#CC79A7"


def plot_probe(report: dict[str, Any], path: Path) -> None:
    """Draw the report of ``foldproof probe``; the suffix of ``path`` gives the format (png, svg, pdf)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - half a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(11, 7.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2, sharex=True)
    parts = {name: part["passes"] for name, part in report["compactors"].items()}
    _recallable(axes[0][0], parts["recallable"])
    _basic(axes[0][1], parts["basic"], parts["basic_matched"])
    _cost(axes[1][0], parts["recallable"], parts["basic"])
    _recall(axes[1][1], parts["recallable"])
    for row in axes:
        for one in row:
            _finish(one)
    for one in axes[1]:
        one.set_xlabel("messages so far (a mark is a pass)")
    figure.suptitle(
        f"Handoff probe: {report['facts']} facts planted in {Path(report['session']).name}, "
        f"window {report['window_tokens']:,} tokens",
        fontsize=12,
    )
    figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)


def _line(
    axes: Axes, passes: Sequence[dict[str, Any]], key: str, colour: str, marker: str, **style: Any
) -> None:
    axes.plot(
        [item["messages"] for item in passes],
        [item[key] for item in passes],
        color=colour,
        marker=marker,
        markevery=max(1, len(passes) // 12),
        linewidth=1.6,
        markersize=5,
        **style,
    )


def _stale(axes: Axes, passes: Sequence[dict[str, Any]]) -> None:
    axes.fill_between(
        [item["messages"] for item in passes],
        [item["stale"] for item in passes],
        color="#DDDDDD",
        label="compacted so far",
        linewidth=0,
    )


def _recallable(axes: Axes, passes: Sequence[dict[str, Any]]) -> None:
    _stale(axes, passes)
    _line(axes, passes, "readable", _BLUE, "o", label="readable in two hops or fewer")
    _line(axes, passes, "found", _GREEN, "^", linestyle="--", label="found by search")
    _line(axes, passes, "in_view", _VERMILION, "s", linestyle=":", label="in the view")
    axes.set(title="Recallable: facts that left the tail", ylabel="facts")


def _basic(axes: Axes, basic: Sequence[dict[str, Any]], matched: Sequence[dict[str, Any]]) -> None:
    _stale(axes, basic)
    _line(
        axes,
        matched,
        "in_view",
        _PURPLE,
        "D",
        linestyle="--",
        label="in the view, summary as large as all checkpoints",
    )
    _line(axes, basic, "in_view", _VERMILION, "s", linestyle=":", label="in the view, same settings")
    axes.set(title="Basic: facts that left the tail", ylabel="facts")


def _cost(axes: Axes, recallable: Sequence[dict[str, Any]], basic: Sequence[dict[str, Any]]) -> None:
    for passes, name, colour, marker in (
        (recallable, "recallable", _BLUE, "o"),
        (basic, "basic", _ORANGE, "s"),
    ):
        _line(axes, passes, "summarizer_input_tokens", colour, marker, linestyle="--", fillstyle="none",
              label=f"{name}: read by the summarizer")  # fmt: skip
        _line(axes, passes, "cache_missed_tokens", colour, marker, label=f"{name}: missed the prompt cache")
    axes.set(title="What a pass costs", ylabel="tokens")


def _recall(axes: Axes, recallable: Sequence[dict[str, Any]]) -> None:
    shown = [item for item in recallable if item["recalled"]]
    _line(axes, shown, "read_tokens", _BLUE, "o", label="search and read")
    _line(axes, shown, "search_tokens", _GREEN, "^", linestyle="--", label="one search")
    axes.set(title="What one fact costs to get back (mean)", ylabel="tokens")


def _finish(axes: Axes) -> None:
    # Room above the data, so that the legend covers none of it.
    axes.set_ylim(0, axes.get_ylim()[1] * 1.4)
    axes.legend(loc="upper left", frameon=False, fontsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_major_formatter("{x:,.0f}")
