"""Tables for notebooks: what a state, a trace or a matrix shows of itself as the value of a cell.

Plain HTML with a little inline style and no script, in the notebook's own colours, light or dark. The
explorer (`foldproof.report.explorer.notebook.show`) is for looking closer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

BLUE, ORANGE = "0,114,178", "213,94,0"
"""Two colours that colour-blind readers tell apart (Okabe and Ito), as red, green, blue."""


@dataclass(frozen=True)
class Cell:
    """A cell: its text, and a tint from 0 to 1 of `BLUE`, or of `ORANGE` where it is an ``alarm``."""

    text: str
    tint: float = 0.0
    alarm: bool = False


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str | Cell]]) -> str:
    """A table; the first cell of each row is the row's own heading. Without ``head``, it has none."""
    top = f"<thead><tr>{''.join(map(_heading, head))}</tr></thead>" if head else ""
    body = "".join(f"<tr>{_heading(row[0], 'row')}{''.join(map(_data, row[1:]))}</tr>" for row in rows)
    title = f'<caption style="text-align:left">{escape(caption)}</caption>'
    return f"<table>{title}{top}<tbody>{body}</tbody></table>"


def _heading(cell: str | Cell, scope: str = "col") -> str:
    text = cell.text if isinstance(cell, Cell) else cell
    return f'<th scope="{scope}" style="text-align:left">{escape(text)}</th>'


def _data(cell: str | Cell) -> str:
    shown = cell if isinstance(cell, Cell) else Cell(cell)
    hue = ORANGE if shown.alarm else BLUE
    colour = f";background:rgba({hue},{shown.tint:.2f})" if shown.tint else ""
    return f'<td style="text-align:left{colour}">{escape(shown.text)}</td>'
