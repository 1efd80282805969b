"""The documentation as a site: ``make docs`` builds it into build/site, with warnings as errors.

Nothing is fetched, neither while building nor by a reader: the theme (furo) uses the reader's own fonts,
and its search runs in the page.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import foldproof.cli.promises  # noqa: F401 - before autodoc does, which feigns TYPE_CHECKING to pydantic
from foldproof import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "foldproof"
author = "the authors of foldproof"
version = release = __version__
language = "en"
smartquotes = False  # --json is two hyphens

extensions = ["myst_parser", "sphinx.ext.autodoc", "generated"]
exclude_patterns = ["_*"]
nitpicky = False
default_role = "py:obj"
suppress_warnings = [
    "misc.highlighting_failure",  # JSON with an ellipsis in it
    "ref.python",  # two modules may each have a Gauge: the annotation names one of them, which is right
]

myst_enable_extensions = ["attrs_inline", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "foldproof"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it fetches pages, which a browser forbids to files
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5394", "color-brand-content": "#0b5394"},
    "dark_css_variables": {"color-brand-primary": "#8ec5f4", "color-brand-content": "#8ec5f4"},
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_type_comments = False
autodoc_preserve_defaults = True
toc_object_entries = False  # a thousand names beside the page help nobody; the search finds them


def _skip(app: Any, what: str, name: str, found: Any, skip: bool, options: Any) -> bool:
    """Leave out what libraries add to our classes: nothing that we wrote says anything of it."""
    return skip or name in {"model_config", "model_computed_fields", "model_fields"}


def _plain(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Named tuples document their fields as "Alias for field number 0": say nothing instead."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def _no_constructor(app: Any, what: str, name: str, found: Any, *rest: Any) -> tuple[str, None] | None:
    """A pydantic model's constructor repeats its fields, which follow anyway."""
    return ("", None) if isinstance(found, type) and issubclass(found, BaseModel) else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", _no_constructor)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _plain)
