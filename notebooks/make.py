"""Makes the notebooks from their sources: ``python notebooks/make.py [--check] [NAME…]``.

A notebook is written as a Python file, ``sources/NAME.py``, in cells: ``# %% [markdown]`` begins one of
prose (its lines are comments), ``# %%`` one of code, ``# %% [solver]`` one of code whose output is a solver's
choice. Here it is run in a fresh kernel and stored with its outputs.

With ``--check`` nothing is written: the notebooks that are there must be those of the sources, and a new run
must print the same. Pictures are compared by their being there: their bytes depend on the version of the
plotting library, while every figure also prints the numbers that it draws. So is what a solver chose, for
another version may choose otherwise. Of an explorer's page the data is compared, not the page around it.
"""

from __future__ import annotations

import difflib
import html
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
CELL = re.compile(r"^# %%(?: \[(markdown|solver)\])?\n", re.M)
PAGE_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)


def source_names() -> list[str]:
    """The notebooks that there are sources of, in order."""
    return sorted(path.stem for path in (HERE / "sources").glob("*.py"))


def from_source(name: str) -> Any:
    """The notebook of a source, without outputs."""
    source = (HERE / "sources" / f"{name}.py").read_text(encoding="utf-8")
    book = nbformat.v4.new_notebook()
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book.metadata["language_info"] = {"name": "python"}
    _, *parts = CELL.split(source)
    for number, (kind, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        body = text.strip("\n")
        if kind == "markdown":
            lines = (line.removeprefix("#").removeprefix(" ") for line in body.splitlines())
            cell = nbformat.v4.new_markdown_cell("\n".join(lines))
        else:
            cell = nbformat.v4.new_code_cell(body, metadata={"tags": [kind]} if kind else {})
        cell["id"] = f"cell-{number}"
        book.cells.append(cell)
    return book


def executed(name: str) -> Any:
    """The notebook of a source, run from top to bottom in a folder of its own."""
    book = from_source(name)
    environment = {"PYTHONHASHSEED": "0", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            book,
            timeout=300,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            extra_arguments=["--IPKernelApp.log_level=40"],  # it warns that a local port is not encrypted
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=os.environ | environment)
    book.metadata["language_info"] = {"name": "python"}  # the kernel adds its version
    return book


def comparable(book: Any) -> Iterator[str]:
    """A notebook as lines: sources and outputs, as far as they must be the same in every run."""
    for cell in book.cells:
        yield f"--- {cell.cell_type}"
        yield from cell.source.splitlines()
        for output in cell.get("outputs", ()):
            texts = {output.name: output.text} if output.output_type == "stream" else output.get("data", {})
            for kind, text in sorted(texts.items()):
                yield f"[{kind}]"
                if "solver" not in cell.metadata.get("tags", ()) and not kind.startswith("image/"):
                    yield from _shown(text).splitlines()
            yield from output.get("traceback", ())


def _shown(text: str) -> str:
    """An output's text; of a page in a frame its data."""
    if not text.startswith("<iframe"):
        return text
    data = PAGE_DATA.search(html.unescape(text))
    return "a frame" if data is None else data[1]


def difference(name: str) -> list[str]:
    """How the stored notebook differs from a new run of its source; empty where it does not."""
    stored = nbformat.read(HERE / f"{name}.ipynb", as_version=4)
    old, new = list(comparable(stored)), list(comparable(executed(name)))
    lines = difflib.unified_diff(old, new, f"{name}.ipynb", "a new run", lineterm="", n=1)
    return [line if len(line) < 300 else f"{line[:300]}…" for line in lines]


def main(arguments: list[str]) -> int:
    """Make or check the named notebooks, or all."""
    check = "--check" in arguments
    different = False
    for name in [one for one in arguments if one != "--check"] or source_names():
        if check:
            found = difference(name)
            different |= bool(found)
            print("\n".join(found) or f"{name}: the same")
        else:
            nbformat.write(executed(name), HERE / f"{name}.ipynb")
            print(f"{name}: written")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
