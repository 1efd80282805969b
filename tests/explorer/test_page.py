"""The page in a real browser: read, walked by keyboard and mouse, linked into, gone on from, copied."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from browser import Seen, page_of
from conftest import REPRO_F, core_exhibit

from foldproof.explore.itf import to_itf
from foldproof.explore.trace import Trace, record
from foldproof.explore.tracefile import read_trace, replay
from foldproof.model.core import CORE
from foldproof.report.explorer.notebook import show
from foldproof.report.explorer.page import explorer_page

DARK: dict[str, Any] = {"color_scheme": "dark"}
PHONE: dict[str, Any] = {"viewport": {"width": 375, "height": 812}, "is_mobile": True, "has_touch": True}


def is_quiet(seen: Seen) -> bool:
    """Nothing on the console, and no request but for the file itself and what it holds."""
    return not seen.errors and all(url.startswith(("file:", "data:")) for url in seen.requests)


def headline(page: Any) -> str:
    return str(page.locator(".headline").inner_text())


def test_opens_at_the_violation_and_says_what_is_wrong(chromium: Any, repro_f: Path) -> None:
    with page_of(chromium, repro_f) as (page, seen):
        assert headline(page) == (
            "Step 6 of 6: Undo(2) ✗ VIEW is violated. "
            "The view still speaks for #2, which is no longer stored."
        )
        fault, design = page.locator("article.run").all()
        assert "IDX, VIEW, SYNC violated" in fault.inner_text().replace("✗ ", "")
        assert "every invariant holds" in design.inner_text()
        assert "#2 gone" in fault.locator("svg").text_content()
        assert "Wrong: #2." in fault.locator("svg").get_attribute("aria-label")
        view = page.locator("details[data-invariant=VIEW]")
        assert view.get_attribute("open") is not None
        offending = view.locator("td.offends")
        assert [cell.inner_text() for cell in offending.all()] == ["2 ✗", "nothing ✗"]
        assert page.locator("details[data-invariant=CAL]").get_attribute("open") is None
        assert "parts from the design" in page.locator("button[data-step='6']").inner_text()
        assert is_quiet(seen)
        assert [Path(url).name for url in seen.requests if url.startswith("file:")] == [repro_f.name]


def test_every_step_shows_every_invariant(chromium: Any, repro_f: Path) -> None:
    with page_of(chromium, repro_f) as (page, _):
        rows = page.locator("ol.steps .marks").all()
        told = [row.inner_text().split() for row in rows]
    assert told[:6] == [["✓IDX", "✓CAL", "✓VIEW", "✓SYNC"]] * 6
    assert told[6:] == [["✗IDX", "✓CAL", "✗VIEW", "✗SYNC"]]


def test_keyboard_walk(chromium: Any, repro_f: Path) -> None:
    with page_of(chromium, repro_f, "#trace=VIEW&step=0") as (page, seen):
        visited = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft"):
            page.keyboard.press(key)
            visited.append(int(page.locator("[aria-current=step]").get_attribute("data-step")))
        assert visited == [1, 2, 1, 6, 6, 0, 0]
        page.locator("button[data-step='4']").focus()
        page.keyboard.press("Enter")
        assert "Call(close)" in headline(page)
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName"))
        assert {"BUTTON", "SELECT", "SUMMARY", "TEXTAREA"} <= reached
        assert is_quiet(seen)


@pytest.mark.parametrize(
    ("fragment", "where"),
    [
        ("#trace=VIEW&step=4", "Step 4 of 6: Call(close)"),
        ("#trace=CAL&step=4", "Step 4 of 4: StepEnd"),
        ("#trace=CAL", "Step 4 of 4: StepEnd"),
        ("#step=99", "Step 6 of 6: Undo(2)"),
        ("#trace=nonsense&step=-3", "Step 6 of 6: Undo(2)"),
        ("#trace=%E0%A4%A&step=1", "Step 1 of 6: Call(open)"),
        ("#trace=VIEW&step=7&from=6&then=AppendUser", "Step 7 of 7: AppendUser"),
        ("#trace=VIEW&step=7&from=6&then=Nonsense", "Step 6 of 6: Undo(2)"),
    ],
)
def test_deep_link(chromium: Any, repro_f: Path, fragment: str, where: str) -> None:
    with page_of(chromium, repro_f, fragment) as (page, seen):
        assert headline(page).startswith(where)
        page.keyboard.press("Home")
        assert "step=0" in page.url
        assert is_quiet(seen)


def test_goes_on_where_the_reader_wants_and_says_where_that_ends(chromium: Any, repro_f: Path) -> None:
    with page_of(chromium, repro_f) as (page, seen):
        page.locator("button.event:has-text('AppendUser')").click()
        assert "leaves out #5, which is live" in headline(page)
        assert "hidden" in page.locator("article.run svg").first.text_content()
        assert "then=AppendUser" in page.url
        address = page.url
        for _ in range(20):  # along a way that always leads on: the embedded graph is finite, so it ends
            if page.locator(".end").count():
                break
            page.locator("button.event:not(:has-text('Clear'))").first.click()
        assert "It ends at this state" in page.locator(".end").inner_text()
        assert "foldproof explore" in page.locator("#on pre").inner_text()
        page.get_by_role("button", name="Back to the trace").click()
        assert headline(page).startswith("Step 6 of 6")
        assert is_quiet(seen)
    with page_of(chromium, repro_f, "#" + address.split("#")[1]) as (page, _):
        assert headline(page).startswith("Step 7 of 7: AppendUser")


def test_offered_events_are_the_enabled_ones(chromium: Any, repro_f: Path) -> None:
    design = CORE.without("D1a_undo")
    states = [CORE.initial]
    for name in REPRO_F.split("; "):
        states.append(CORE.effect(states[-1], CORE.event_from_name(name), design))
    with page_of(chromium, repro_f) as (page, _):
        for step, state in enumerate(states):
            page.locator(f"button[data-step='{step}']").click()
            offered = [button.inner_text().split()[0] for button in page.locator("button.event").all()]
            assert offered == [str(event) for event in CORE.enabled(state, 5, design)]


def copied(page: Any, form: str) -> str:
    page.locator("#form").select_option(form)
    return str(page.locator("#taken").input_value())


@pytest.mark.parametrize("then", ["", "AppendUser"])
def test_copies_are_what_foldproof_writes(chromium: Any, repro_f: Path, tmp_path: Path, then: str) -> None:
    run = REPRO_F + (f"; {then}" if then else "")
    events = [CORE.event_from_name(name) for name in run.split("; ")]
    trace = record(CORE, events, CORE.without("D1a_undo"), 5)
    fragment = f"#trace=VIEW&step=7&from=6&then={then}" if then else ""
    with page_of(chromium, repro_f, fragment) as (page, _):
        assert Trace.model_validate_json(copied(page, "json")) == trace
        itf = copied(page, "itf")
        command = copied(page, "command")
        program = copied(page, "program")
    assert json.loads(itf) == to_itf(trace)
    (tmp_path / "run.itf.json").write_text(itf, encoding="utf-8")
    replay(read_trace(tmp_path / "run.itf.json"))
    assert command == (
        f'foldproof explore --machine core --bound 5 --without D1a_undo --events "{run}" -o run.html'
    )
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert "AssertionError: after step 6: " in done.stderr


@pytest.mark.parametrize("options", [{}, DARK, PHONE], ids=["light", "dark", "phone"])
def test_accessible(chromium: Any, repro_f: Path, options: dict[str, Any]) -> None:
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed (extra: dev)")
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    with page_of(chromium, repro_f, **options) as (page, seen):
        for fragment in ("#trace=VIEW&step=6", "#trace=VIEW&step=2", "#trace=CAL&step=4"):
            page.evaluate(f"location.hash = {fragment!r}")
            page.evaluate(axe)
            result = page.evaluate("axe.run()")
            serious = [
                (found["id"], [node["target"] for node in found["nodes"]][:4])
                for found in result["violations"]
                if found["impact"] in ("serious", "critical")
            ]
            assert not serious, fragment
            assert len(result["passes"]) > 10
        assert is_quiet(seen)


def test_axe_would_complain(chromium: Any, tmp_path: Path) -> None:
    """The check above can fail: a page with grey text on grey is found out."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed (extra: dev)")
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    (tmp_path / "bad.html").write_text(
        "<html lang=en><title>x</title><p style='color:#999;background:#aaa'>hard to read</p>"
    )
    with page_of(chromium, tmp_path / "bad.html") as (page, _):
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
    assert "color-contrast" in {one["id"] for one in found}


def test_dark_mode_is_dark(chromium: Any, repro_f: Path) -> None:
    script = "getComputedStyle(document.body).backgroundColor"
    with page_of(chromium, repro_f, **DARK) as (page, _):
        assert page.evaluate(script) == "rgb(20, 23, 28)"
    with page_of(chromium, repro_f) as (page, _):
        assert page.evaluate(script) == "rgb(255, 255, 255)"


def test_phone_needs_no_sideways_scrolling(chromium: Any, repro_f: Path) -> None:
    with page_of(chromium, repro_f, **PHONE) as (page, seen):
        for fragment in ("#trace=VIEW&step=6", "#trace=VIEW&step=5", "#trace=CAL&step=4"):
            page.evaluate(f"location.hash = {fragment!r}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 375, fragment
        page.locator("button[aria-label='Step back']").tap()
        assert headline(page).startswith("Step 3 of 4")
        assert is_quiet(seen)


def test_what_a_trace_says_is_text(chromium: Any, tmp_path: Path) -> None:
    shown = core_exhibit("AppendUser", key="</script><img src=x onerror=alert(1)>")
    path = tmp_path / "x.html"
    path.write_text(explorer_page([shown, shown], "<b>x</b>"), encoding="utf-8")
    with page_of(chromium, path) as (page, seen):
        assert page.locator("img").count() == 0
        assert page.locator("h1").inner_text() == "<b>x</b>"
        assert "</script>" in page.locator("#exhibit").inner_text()
        assert is_quiet(seen)


def test_a_long_trace_is_drawn(chromium: Any, tmp_path: Path) -> None:
    cycle = "AppendUser; Call(open); StepEnd; AppendReply; Call(close); StepEnd; Measure; Clear"
    run = "; ".join([cycle] * 62 + cycle.split("; ")[:4])
    assert len(run.split("; ")) == 500
    path = tmp_path / "long.html"
    path.write_text(explorer_page([core_exhibit(run, bound=8)], "Long"), encoding="utf-8")
    with page_of(chromium, path, "#step=500") as (page, seen):
        assert headline(page).startswith("Step 500 of 500")
        assert page.locator("ol.steps li").count() == 501
        in_sight = """step => document.querySelector(`button[data-step='${step}'] .event`)
            .checkVisibility({contentVisibilityAuto: true})"""
        page.wait_for_function(f"({in_sight})(500)")
        assert not page.evaluate(in_sight, 3)  # a long way off: not laid out until it is scrolled to
        page.keyboard.press("ArrowLeft")
        assert headline(page).startswith("Step 499 of 500")
        assert is_quiet(seen)


def test_a_notebook_shows_the_same_page(chromium: Any, tmp_path: Path) -> None:
    events = [CORE.event_from_name(name) for name in REPRO_F.split("; ")]
    shown = show(record(CORE, events, CORE.without("D1a_undo"), 5), title='Repro "F"')
    path = tmp_path / "notebook.html"
    path.write_text(f"<html lang=en><title>n</title>{shown._repr_html_()}", encoding="utf-8")
    with page_of(chromium, path) as (page, seen):
        frame = page.frame_locator("iframe")
        assert "VIEW is violated" in frame.locator(".headline").inner_text()
        frame.locator("button[data-step='3']").click()
        assert "Step 3 of 6" in frame.locator(".headline").inner_text()
        assert not seen.errors
        assert all(url.startswith(("file:", "data:", "about:")) for url in seen.requests)
