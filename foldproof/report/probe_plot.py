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

_BLUE, _ORANGE, _GREEN, _VERMILION, _GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#555555"


def plot_probe(report: dict[str, Any], path: Path) -> None:
    """Draw the report of ``foldproof probe``; the suffix of ``path`` gives the format (png, svg, pdf)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - half a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(10.5, 7.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 2)
    recallable = report["compactors"]["recallable"]["passes"]
    basic = report["compactors"]["basic"]["passes"]
    _reach(axes[0][0], recallable, "Recallable: facts that left the tail", recall=True)
    _reach(axes[0][1], basic, "Basic: facts that left the tail", recall=False)
    _cost(axes[1][0], recallable, basic)
    _recall(axes[1][1], recallable)
    figure.suptitle(
        f"Handoff probe: {report['facts']} facts planted in {report['session']}, "
        f"window {report['window_tokens']:,} tokens",
        fontsize=11,
    )
    figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)


def _line(axes: Axes, passes: Sequence[dict[str, Any]], values: Sequence[float], **style: Any) -> None:
    numbers = [item["pass"] for item in passes]
    every = max(1, len(numbers) // 12)
    axes.plot(numbers, values, markevery=every, linewidth=1.6, markersize=5, **style)


def _reach(axes: Axes, passes: Sequence[dict[str, Any]], title: str, *, recall: bool) -> None:
    stale = [item["stale"] for item in passes]
    axes.fill_between(
        [item["pass"] for item in passes], stale, color="#DDDDDD", label="compacted so far", linewidth=0
    )
    if recall:
        _line(
            axes,
            passes,
            [p["readable"] for p in passes],
            color=_BLUE,
            marker="o",
            label="readable in two hops or fewer",
        )
        _line(
            axes,
            passes,
            [p["found"] for p in passes],
            color=_GREEN,
            marker="^",
            linestyle="--",
            label="found by search",
        )
    _line(
        axes,
        passes,
        [p["in_view"] for p in passes],
        color=_VERMILION,
        marker="s",
        linestyle=":",
        label="in the view",
    )
    axes.set(title=title, xlabel="pass", ylabel="facts")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _cost(axes: Axes, recallable: Sequence[dict[str, Any]], basic: Sequence[dict[str, Any]]) -> None:
    for passes, name, colour, marker in (
        (recallable, "recallable", _BLUE, "o"),
        (basic, "basic", _ORANGE, "s"),
    ):
        missed = [item["cache_missed_tokens"] for item in passes]
        read = [item["summarizer_input_tokens"] for item in passes]
        _line(axes, passes, missed, color=colour, marker=marker, label=f"{name}: missed the prompt cache")
        _line(
            axes, passes, read, color=colour, marker=marker, linestyle="--", fillstyle="none",
            label=f"{name}: read by the summarizer",
        )  # fmt: skip
    axes.set(title="Tokens a pass costs", xlabel="pass", ylabel="tokens")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _recall(axes: Axes, recallable: Sequence[dict[str, Any]]) -> None:
    shown = [item for item in recallable if item["recalled"]]
    for key, label, colour, marker, dash in (
        ("search_tokens", "one search", _GREEN, "^", "--"),
        ("read_tokens", "search and read", _BLUE, "o", "-"),
    ):
        _line(axes, shown, [p[key] for p in shown], color=colour, marker=marker, linestyle=dash, label=label)
    axes.set(title="Tokens to get one fact back (mean)", xlabel="pass", ylabel="tokens")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
