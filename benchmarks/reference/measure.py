"""Measures the reference session; every figure is a ratio of two things measured in turn, in one run.

python benchmarks/reference/measure.py log        append and replay, 10^5 against 10^6 events
python benchmarks/reference/measure.py view       view() after an append, 10^3 to 10^6 items
python benchmarks/reference/measure.py search     100 MB of shadowed text, against grep -iF on the same bytes
python benchmarks/reference/measure.py passes     a pass on a session of 10^5 messages; its parts
python benchmarks/reference/measure.py delay      a pass, against one summarise call that takes a second
python benchmarks/reference/measure.py memory     bytes of memory an event

Each prints one JSON object. --small divides the sizes by 100, to try it out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foldproof.reference.codec import searchable
from foldproof.reference.compactor import RecallableCompactor
from foldproof.reference.messages import ChatMessage, ToolCall
from foldproof.reference.protocols import SummaryRequest
from foldproof.reference.recall import RecallTools
from foldproof.reference.session import Session
from foldproof.reference.settings import Settings

TEXT = "The quick brown fox jumps over the lazy dog while the build is running. " * 3
SETTINGS = Settings(fsync="never")


def messages(count: int, text: str = TEXT) -> list[ChatMessage]:
    """``count`` messages: a prompt, a call, its result, an answer, again and again."""
    out: list[ChatMessage] = []
    for number in range(count // 4 + 1):
        out += [
            ChatMessage("user", f"{number}: {text}"),
            ChatMessage("assistant", calls=(ToolCall(f"call_{number}", "read", '{"path": "src/main.py"}'),)),
            ChatMessage("tool", f"{number} {text}", result_of=f"call_{number}"),
            ChatMessage("assistant", text),
        ]
    return out[:count]


def timed(job: Callable[[], Any]) -> float:
    """Seconds of wall-clock time: for what waits."""
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def spent(job: Callable[[], Any]) -> float:
    """Seconds of processor time, of this process and of children that ended: for what computes.

    It does not count what other programs of the machine take meanwhile.
    """
    before = _processor()
    job()
    return _processor() - before


def _processor() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def bench_log(folder: Path, scale: int) -> dict[str, Any]:
    """One append an event, as an agent makes them, and replaying the result; per event, both sizes.

    ``append`` is the cost of the *next* events of a session that has so many: a block for the small one,
    a block for the large one, in turn, in one process, so that whatever the machine does meets both.
    """
    small, large = 100_000 // scale, 1_000_000 // scale
    block, rounds = small // 5, 7
    batch = messages(large + block * rounds)
    sessions = {}
    for size in (small, large):
        session = sessions[size] = Session.create(folder / f"log-{size}", SETTINGS)
        for message in batch[:size]:
            session.append(message)
    per: dict[str, dict[int, list[float]]] = {name: {small: [], large: []} for name in ("append", "replay")}
    for number in range(rounds):
        for size, session in sessions.items():
            more = batch[size + number * block :][:block]
            per["append"][size].append(spent(lambda s=session, b=more: [s.append(m) for m in b]) / block)
    for session in sessions.values():
        session.close()
    del session, sessions
    for _ in range(3):
        for size in (small, large):
            path = folder / f"log-{size}"
            events = size + block * rounds
            per["replay"][size].append(spent(lambda p=path: Session.read(p)) / events)
    out: dict[str, Any] = {"events": [small, large], "block": block}
    for name, by_size in per.items():
        cost = {size: statistics.median(values) for size, values in by_size.items()}
        out[name] = {
            "microseconds_per_event": [round(cost[size] * 1e6, 2) for size in (small, large)],
            "ratio": round(cost[large] / cost[small], 3),
        }
    return out


def bench_view(folder: Path, scale: int) -> dict[str, Any]:
    """view() after an append, against copying the list of items, which is what O(n) looks like."""
    out: dict[str, Any] = {"nanoseconds": {}, "copying_nanoseconds": {}}
    for size in (1_000, 10_000, 100_000, 1_000_000)[: 3 if scale > 1 else 4]:
        with Session.create(folder / f"view-{size}", SETTINGS) as session:
            session.append_all(messages(size))
            takes, copies = [], []
            for number in range(200):
                session.append(ChatMessage("user", str(number)))
                takes.append(timed(session.view))
            for _ in range(5):
                snapshot = session.view()
                copies.append(timed(lambda s=snapshot: list(s)))
            out["nanoseconds"][size] = round(statistics.median(takes) * 1e9)
            out["copying_nanoseconds"][size] = round(statistics.median(copies) * 1e9)
    sizes = list(out["nanoseconds"])
    for name in ("nanoseconds", "copying_nanoseconds"):
        out[f"{name}_largest_to_smallest"] = round(out[name][sizes[-1]] / out[name][sizes[0]], 2)
    return out


class Fixed:
    """Answers at once, or after a delay, with a text of a given size."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay, self.calls = delay, 0

    async def summarize(self, request: SummaryRequest) -> str:
        self.calls += 1
        await asyncio.sleep(self.delay)
        return "- what happened was this and that\n" * 4


def compacted(path: Path, batch: list[ChatMessage], settings: Settings) -> Session:
    session = Session.create(path, settings)
    session.append_all(batch)
    asyncio.run(RecallableCompactor(session, Fixed()).compact_now())
    return session


def bench_search(folder: Path, scale: int) -> dict[str, Any]:
    """Shadowed text searched for a rare, a common and an absent text; grep reads the same bytes."""
    text = TEXT * 9  # about 2 kB a message
    size = 100_000_000 // scale
    batch = messages(4 * size // (3 * len(text)), text)
    batch[len(batch) // 8 * 4] = ChatMessage("user", f"here is the RARE-literal-7 {text}")
    session = compacted(folder / "log", batch, SETTINGS)
    shadowed = folder / "shadowed.txt"
    tools = RecallTools(session)
    owners = list(session.checkpoints.values())
    with shadowed.open("w", encoding="utf-8") as file:
        file.writelines(searchable(item.message) + "\n" for _, item in tools._shadowed(owners))
    out: dict[str, Any] = {"bytes": shadowed.stat().st_size, "locale": os.environ.get("LC_ALL", "C.UTF-8")}
    environment = os.environ | {"LC_ALL": out["locale"]}
    for name, query in (("rare", "rare-LITERAL-7"), ("absent", "no such text"), ("common", "quick BROWN")):
        ours, greps = [], []
        for _ in range(5):
            ours.append(spent(lambda q=query: asyncio.run(tools.history_search(q))))
            command = ["grep", "-c", "-i", "-F", query, str(shadowed)]
            greps.append(
                spent(lambda c=command: subprocess.run(c, capture_output=True, check=False, env=environment))
            )
        page = asyncio.run(tools.history_search(query))
        out[name] = {
            "matched": page.matched,
            "cpu_seconds": round(min(ours), 3),
            "grep_cpu_seconds": round(min(greps), 3),
            "ratio": round(min(ours) / min(greps), 2),
        }
    session.close()
    return out


def bench_passes(folder: Path, scale: int) -> dict[str, Any]:
    """The first pass of a long session (all of it stale), and the next one (a chunk's worth stale)."""
    count = 100_000 // scale
    with Session.create(folder / "log", SETTINGS) as session:
        append = spent(lambda: session.append_all(messages(count)))
        compactor = RecallableCompactor(session, Fixed())
        first = spent(lambda: asyncio.run(compactor.compact_now()))
        stubs = sum(item.kind == "index" for item in session.view())
        more = [
            ChatMessage(m.role, m.text, tuple(ToolCall(f"b{c.id}", c.name, c.arguments) for c in m.calls),
                        f"b{m.result_of}" if m.result_of else None)
            for m in messages(count // 100)
        ]  # fmt: skip
        session.append_all(more)
        second = spent(lambda: asyncio.run(compactor.compact_now()))
        return {
            "messages": count,
            "stubs": stubs,
            "first_pass_cpu_seconds": round(first, 3),
            "append_cpu_seconds": round(append, 3),
            "first_pass_to_append": round(first / append, 3),
            "second_pass_cpu_seconds": round(second, 3),
            "second_stale_messages": count // 100,
        }


def bench_delay(folder: Path, scale: int) -> dict[str, Any]:
    """With every call taking a second, a pass of several calls against one call."""
    delay = 1.0 / (10 if scale > 1 else 1)
    out: dict[str, Any] = {"delay_seconds": delay, "passes": []}
    for concurrency in (1, 8, 32):
        settings = Settings(fsync="never", max_concurrency=concurrency)
        with Session.create(folder / f"log-{concurrency}", settings) as session:
            session.append_all(messages(3_000 if concurrency > 1 else 800))
            summarizer = Fixed(delay)
            seconds = timed(
                lambda s=session, f=summarizer: asyncio.run(RecallableCompactor(s, f).compact_now())
            )
            single = timed(lambda f=summarizer: asyncio.run(f.summarize(SummaryRequest("stub", (), 1))))
            out["passes"].append(
                {
                    "max_concurrency": concurrency,
                    "calls": summarizer.calls - 1,
                    "seconds": round(seconds, 3),
                    "to_one_call": round(seconds / single, 2),
                }
            )
    return out


def bench_memory(folder: Path, scale: int) -> dict[str, Any]:
    """Resident memory of a process that has replayed a log, less that of one that replayed a short one."""
    sizes = [1_000, max(2_000, 200_000 // scale)]
    resident = []
    for size in sizes:
        path = folder / f"log-{size}"
        with Session.create(path, SETTINGS) as session:
            session.append_all(messages(size))
        program = (
            "import sys; from foldproof.reference.session import Session; s = Session.read(sys.argv[1]); "
            "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmRSS')))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
        )
        resident.append((int(done.stdout) * 1024, path.stat().st_size))
    events = sizes[1] - sizes[0]
    memory, stored = (resident[1][n] - resident[0][n] for n in (0, 1))
    return {
        "events": events,
        "bytes_per_event": round(memory / events),
        "bytes_per_event_in_the_log": round(stored / events),
        "ratio": round(memory / stored, 2),
    }


BENCHES = {
    "log": bench_log,
    "view": bench_view,
    "search": bench_search,
    "passes": bench_passes,
    "delay": bench_delay,
    "memory": bench_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bench", choices=[*BENCHES, "all"])
    parser.add_argument("--small", action="store_true", help="divide the sizes by 100")
    chosen = parser.parse_args()
    for name in BENCHES if chosen.bench == "all" else [chosen.bench]:
        with tempfile.TemporaryDirectory() as folder:
            result = BENCHES[name](Path(folder), 100 if chosen.small else 1)
        print(json.dumps({"bench": name, **result}))


if __name__ == "__main__":
    main()
