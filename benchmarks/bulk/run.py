"""foldproof's bulk engine against SPIN and a plain C explorer: the same states, interleaved, medians.

    python benchmarks/bulk/run.py --bounds 6 7 8 --rounds 3

Each program runs as a process of its own, start-up included, one after the other in every round. All must
report the same number of states and of transitions (SPIN's own first step left out), or nothing is
published. SPIN runs with -O2 -DSAFETY -DNOREDUCE, its hash table sized for the bound, and enough depth;
a compiler and Debian's ``spin`` are needed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import spin_twin  # noqa: E402  (a sibling, not a package)

SPIN = "SPIN"
SPIN_2 = "SPIN, 2 cores"
C = "plain C"
BULK = "foldproof"
BULK_2 = "foldproof, 2 workers"


LARGE = 8
"""From this bound on a round takes minutes."""


@dataclass(frozen=True)
class Measure:
    """One run: what it counted, and what it took."""

    states: int
    transitions: int
    seconds: float
    cpu: float
    bytes: int

    @property
    def told(self) -> tuple[str, str]:
        """States and transitions to the eight digits that SPIN prints, its step into the loop among them."""
        return f"{self.states:.8g}", f"{self.transitions + 1:.8g}"


def timed(command: list[str], folder: Path) -> tuple[str, float, float, int]:
    """Run to the end: output, wall and processor seconds, and the most bytes that a process of it held."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{text[-2000:]}")
    return text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Contest:
    """All programs, built for one bound."""

    def __init__(self, bound: int, folder: Path) -> None:
        self.bound, self.folder = bound, folder
        folder.mkdir()
        explorer = [
            "gcc",
            "-O2",
            f"-DBOUND={bound}",
            "-o",
            str(folder / "explorer"),
            str(HERE / "explorer.c"),
        ]
        subprocess.run(explorer, check=True)
        self.spin = self._build("one")
        self.spin_2 = self._build("two", "-DNCORE=2", "-DMEMLIM=12000")

    def _build(self, name: str, *flags: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return spin_twin.build(self.bound, folder, *flags)

    def run(self, program: str) -> Measure:
        """One run of one program."""
        if program in (BULK, BULK_2):
            workers = 2 if program == BULK_2 else 1
            command = [sys.executable, str(HERE / "bulk_once.py"), str(self.bound), str(workers)]
            text, seconds, cpu, most = timed(command, self.folder)
        elif program == C:
            text, seconds, cpu, most = timed([str(self.folder / "explorer")], self.folder)
        else:
            pan = self.spin if program == SPIN else self.spin_2
            table = {6: 21, 7: 24, 8: 26, 9: 28}.get(self.bound, 20)
            depth = 1_000_000 if self.bound <= 7 else 20_000_000
            text, seconds, cpu, _ = timed([str(pan), f"-m{depth}", f"-w{table}"], pan.parent)
            found = spin_twin.figures(text)
            first = 1  # SPIN counts its step into the loop
            megabytes = int(found["megabytes"] * 2**20)
            counts = int(found["states"]), int(found["transitions"]) - first
            return Measure(*counts, seconds, cpu, megabytes)
        found = json.loads(text)
        return Measure(found["states"], found["transitions"], seconds, cpu, found.get("bytes", most))


def show_table(bounds: list[int], programs: list[str], rounds: int, large_rounds: int) -> None:
    """Measure, and print the published table, the rows of each bound as soon as they are known."""
    head = [
        "| L | program | states | transitions | seconds | processor | states/s | transitions/s | bytes/state "
        "| foldproof is, by the clock | by processor time |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(head), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for bound in bounds:
            contest = Contest(bound, Path(folder) / str(bound))
            runs: dict[str, list[Measure]] = {program: [] for program in programs}
            for _ in range(rounds if bound < LARGE else large_rounds):
                for program in programs:
                    measure = contest.run(program)
                    runs[program].append(measure)
                    print(
                        bound,
                        program,
                        f"{measure.seconds:.2f} s, {measure.cpu:.2f} s of processor",
                        file=sys.stderr,
                        flush=True,
                    )
            counts = {m.told for found in runs.values() for m in found}
            if len(counts) != 1:
                raise SystemExit(f"the programs disagree at L={bound}: {sorted(counts)}")
            print("\n".join(_rows(bound, runs)), flush=True)


def _rows(bound: int, runs: dict[str, list[Measure]]) -> list[str]:
    seconds = {program: statistics.median(m.seconds for m in found) for program, found in runs.items()}
    cpus = {program: statistics.median(m.cpu for m in found) for program, found in runs.items()}
    rows = []
    for program, found in runs.items():
        states, transitions = found[0].states, found[0].transitions
        size = statistics.median(m.bytes for m in found) / states
        mine = BULK_2 if program == SPIN_2 and BULK_2 in runs else BULK
        ratio = cpu_ratio = ""
        if program not in (BULK, BULK_2):
            ratio = f"{seconds[program] / seconds[mine]:.1f}x as fast"
            cpu_ratio = f"{cpus[program] / cpus[mine]:.1f}x"
        took = f"{seconds[program]:.2f} | {cpus[program]:.2f}"
        rates = f"{states / seconds[program]:,.0f} | {transitions / seconds[program]:,.0f}"
        rows.append(
            f"| {bound} | {program} | {states:,} | {transitions:,} | {took} "
            f"| {rates} | {size:.0f} | {ratio} | {cpu_ratio} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bounds", type=int, nargs="+", default=[6, 7, 8])
    parser.add_argument("--rounds", type=int, default=3, help="rounds at bounds below 8 (default 3)")
    parser.add_argument("--large-rounds", type=int, default=2, help="rounds from bound 8 on (default 2)")
    parser.add_argument("--programs", nargs="+", default=[BULK, BULK_2, C, SPIN, SPIN_2])
    options = parser.parse_args()
    missing = [tool for tool in ("gcc", "spin") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"needed and not found: {', '.join(missing)} (Debian: apt-get install gcc spin)")
    show_table(options.bounds, options.programs, options.rounds, options.large_rounds)


if __name__ == "__main__":
    main()
