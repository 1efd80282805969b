"""What a state, a trace and a matrix show of themselves in a notebook."""

from __future__ import annotations

import re
from html import unescape

from conftest import REPRO_F

from foldproof.explore.matrix import necessity
from foldproof.explore.trace import record, run
from foldproof.model.core import CORE
from foldproof.model.labels import core_parts, history_label, view_label
from foldproof.model.markup import Cell, table
from foldproof.model.memories import MEMORIES

EVENTS = [CORE.event_from_name(name) for name in REPRO_F.split("; ")]
FAULT = CORE.without("D1a_undo")


def rows(html: str) -> list[list[str]]:
    """The texts of a table, row by row."""
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", html)]
    return [[unescape(cell) for cell in row] for row in found]


def test_a_state_shows_history_view_and_every_part() -> None:
    state = run(CORE, EVENTS, FAULT)[-1]
    shown = dict(rows(state._repr_html_()))
    assert shown["history"] == history_label(state) == "C#0(open) T#1"
    assert shown["view"] == view_label(state) == "[#0 #1 #2]"
    assert shown["gauge"] == core_parts(state)["gauge"]
    assert {"nodes", "pending", "last observed", "fold"} <= set(shown)


def test_a_trace_shows_each_step_and_why_it_is_violated() -> None:
    trace = record(CORE, EVENTS, FAULT, 5)
    head, *steps = rows(trace._repr_html_())
    assert head == ["step", "IDX", "CAL", "VIEW", "SYNC", "why"]
    assert [step[0].split("  ")[1] for step in steps] == ["start", *REPRO_F.split("; ")]
    assert all(step[1:] == ["held"] * 4 + [""] for step in steps[:-1])
    assert steps[-1][3] == "violated"
    assert "VIEW: flatten(view(s)) == ids(history)" in steps[-1][-1]
    assert "background:rgba(213,94,0" in trace._repr_html_()


def test_a_matrix_is_a_heat_map() -> None:
    matrix = necessity(MEMORIES, 3)
    head, *body = rows(matrix._repr_html_())
    assert head == ["without", "CITE", "VOICE"]
    shown = {row[0]: row[1:] for row in body}
    assert shown["M1_ordinals"] == ["3 @ L=2", "-"]
    assert shown["M3_roll_back"][1].endswith("4 @ L=3")
    tints = [float(tint) for tint in re.findall(r"rgba\(0,114,178,([\d.]+)\)", matrix._repr_html_())]
    assert len(tints) == sum(cell != "-" for row in body for cell in row[1:])
    assert max(tints) > min(tints)


def test_what_a_cell_says_is_text() -> None:
    shown = table("<b>", ("<i>",), [("&", Cell("<script>", 0.5))])
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert rows(shown) == [["<i>"], ["&", "<script>"]]
