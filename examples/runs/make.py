"""Write the recorded runs of this folder: faulty designs of the model, driven through the protocol.

python examples/runs/make.py
"""

from __future__ import annotations

from pathlib import Path

from foldproof.conformance.recording import record_script
from foldproof.conformance.runfile import run_lines
from foldproof.conformance.scenarios import SCENARIOS
from foldproof.model.design import DESIGN, Clause, without

RUNS: dict[str, tuple[Clause | None, str]] = {
    "design": (None, "undo-into-closed-span"),
    "without-D1a_undo": (Clause.D1A_UNDO, "undo-into-closed-span"),
    "without-D1a_clear": (Clause.D1A_CLEAR, "clear-after-epoch"),
    "without-D1a_compact": (Clause.D1A_COMPACT, "physical-compaction-over-closed-span"),
    "without-D1b": (Clause.D1B, "gauge-after-undo"),
    "without-D1c": (Clause.D1C, "transition-after-undo"),
    "without-D2_resume": (Clause.D2_RESUME, "resume-with-closed-span"),
    "without-D5": (Clause.D5, "compact-while-pending"),
    "without-D6_rebase": (Clause.D6_REBASE, "switch-with-closed-span"),
    "without-D6_repair": (Clause.D6_REPAIR, "clear-while-off"),
    "without-D7": (Clause.D7, "gauge-after-close"),
    "without-D8": (Clause.D8, "resume-while-pending"),
    "without-D9": (Clause.D9, "undo-into-closed-span"),
}
"""Each file: the clause that its design lacks, and the scenario that shows it."""


def texts() -> dict[str, str]:
    """What each file holds, by name."""
    scripts = {scenario.name: scenario.script for scenario in SCENARIOS}
    files = {}
    for name, (clause, scenario) in RUNS.items():
        design = DESIGN if clause is None else without(clause)
        handshake, exchanges, _ = record_script(design, scripts[scenario])
        files[f"{name}.jsonl"] = "".join(f"{line}\n" for line in run_lines(handshake, exchanges))
    return files


if __name__ == "__main__":
    for file, text in texts().items():
        (Path(__file__).parent / file).write_text(text, encoding="utf-8")
