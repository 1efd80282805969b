"""The SPIN twin: a Promela model of the core kernel, generated, its state and steps the C kernel's.

The whole session is one tracked C object; each event, with each argument, is one option of one loop and
takes one d_step. So SPIN stores exactly the canonical states. The invariants are asserted once for each
state, at the loop's first option.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def promela(bound: int) -> str:
    """The model for histories of at most ``bound`` messages."""
    options = ["c_expr { (!holds(&live)) } -> assert(false)"]

    def event(can: str, effect: str) -> None:  # SPIN takes a bare call for a side effect, hence the brackets
        options.append(f"d_step {{ c_expr {{ ({can}) }} ; c_code {{ {effect} }} }}")

    event("can_append(&live)", "do_append(&live, PROMPT);")
    event("can_append(&live)", "do_append(&live, REPLY);")
    for kind in ("OPEN", "CLOSE", "NEXT"):
        event(f"can_call(&live, {kind})", f"do_call(&live, {kind});")
    event("can_step_end(&live)", "do_step_end(&live);")
    event("1", "do_measure(&live);")
    for cut in range(bound):
        event(f"can_undo(&live, {cut})", f"do_undo(&live, {cut});")
    event("can_clear(&live)", "do_clear(&live);")
    for name in ("commit_state", "commit_index", "apply"):
        for k in range(1, bound + 1):
            event(f"can_{name}(&live, {k})", f"do_{name}(&live, {k});")
    event("1", "do_restore(&live);")
    event("1", "do_flag_flip(&live);")
    choices = "\n".join(f"    :: {option}" for option in options)
    return f"""c_decl {{
    \\#define BOUND {bound}
    \\#include "kernel.h"
    session live = {{.enabled = 1}};
}}
c_track "&live" "sizeof(session)" "Matched"

init {{
    do
{choices}
    od
}}
"""


def build(bound: int, folder: Path, *flags: str) -> Path:
    """Generate, translate and compile the twin in a folder; the path of the verifier."""
    (folder / "kernel.h").write_text((HERE / "kernel.h").read_text())
    (folder / "session.pml").write_text(promela(bound))
    subprocess.run(["spin", "-a", "session.pml"], cwd=folder, check=True, capture_output=True, text=True)
    command = ["gcc", "-O2", "-w", "-DSAFETY", "-DNOREDUCE", *flags, "-o", "pan", "pan.c"]
    if any(flag.startswith("-DNCORE") for flag in flags):
        command.append("-lrt")
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return folder / "pan"


def figures(output: str) -> dict[str, float]:
    """Stored states, transitions, errors, seconds and megabytes, from a verifier's report."""

    def number(pattern: str) -> float:
        found = re.search(pattern, output)
        if found is None:
            raise ValueError(f"SPIN's report has no {pattern!r}:\n{output[-2000:]}")
        return float(found[1])

    if "max search depth too small" in output:
        raise ValueError("SPIN's depth was too small: it lost states; raise -m")
    return {
        "states": number(r"([\d.e+]+) states, stored"),
        "transitions": number(r"([\d.e+]+) transitions"),
        "errors": number(r"errors: (\d+)"),
        "megabytes": number(r"([\d.]+)\s+total actual memory usage"),
    }
