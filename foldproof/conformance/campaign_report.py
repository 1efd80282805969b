"""A campaign's report in every form: text, JSON, Markdown, GitHub annotations, ITF, JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from foldproof.conformance.campaign_record import Located, Report
from foldproof.conformance.checker import Exchange
from foldproof.conformance.events import Append, Regenerate
from foldproof.conformance.protocol import EventRequest
from foldproof.conformance.run_report import finding_lines
from foldproof.conformance.runfile import request_json, run_lines
from foldproof.conformance.session import Failure

UNPRINTABLE = {code: None for code in range(32) if chr(code) not in "\t\n\r"}


def in_order(report: Report) -> list[Located]:
    """The faults, shortest script first."""
    return sorted(report.located.values(), key=lambda one: (len(one.script), one.finding.kind))


def report_json(report: Report) -> dict[str, Any]:
    """The JSON that ``conform`` promises."""
    return {
        "implementation": report.handshake.implementation.model_dump(mode="json", exclude_none=True),
        "mode": "refinement" if report.settings.refine else "invariants",
        "verdict": report.verdict,
        "invariants": report.invariants,
        "findings": [
            one.finding.to_json()
            | {"trace": list(one.script), "source": one.source}
            | {"requests": [request_json(exchange.request) for exchange in one.exchanges]}
            for one in in_order(report)
        ],
        "errors": [
            {
                "trace": list(f.script),
                "what": f.what,
                "stderr": f.stderr,
                "repeats": f.repeats,
                "times": f.times,
            }
            for f in report.failures
        ],
        "unsteady": [list(script) for script in report.unsteady],
        "coverage": report.coverage,
        "seconds": round(report.seconds, 2),
    }


def report_lines(report: Report) -> Iterator[str]:
    """The report for reading."""
    who = report.handshake.implementation
    yield f"{who.name} {who.version or ''}".rstrip() + f" ({who.language}): {report.verdict}"
    yield "  " + ", ".join(f"{name} {verdict}" for name, verdict in report.invariants.items())
    yield f"  {coverage_line(report)}"
    for failure in report.failures:
        yield ""
        yield f"ERROR after [{' '.join(failure.script)}]: {failure.what}"
        if failure.times > 1:
            yield f"  and {failure.times - 1} more scripts like it"
        yield from (f"  stderr: {line}" for line in failure.stderr.splitlines()[-5:])
    for one in in_order(report):
        yield ""
        yield from located_lines(one)
    for script in report.unsteady:
        yield ""
        yield f"note: a fault that showed once did not show again after [{' '.join(script)}]"
    if report.redundant:
        yield ""
        yield "note: messages were shown and also claimed by a memory (redundant, no violation)"


def located_lines(one: Located) -> Iterator[str]:
    """A fault: its shortest script step by step, then why it is one."""
    finding = one.finding
    yield f"{finding.invariant} {finding.kind}, {len(one.script)} steps (found by {one.source}):"
    before: dict[str, str] = {}
    texts = dict(stored(one.exchanges))
    for number, exchange in enumerate(one.exchanges):
        word = one.script[number - 1] if number else "reset"
        now = seen(exchange.reply.observation.model_dump(mode="json", exclude_unset=True), texts)
        changes = [f"{name} {value}" for name, value in now.items() if before.get(name) != value]
        status = exchange.reply.status
        reason = f" ({exchange.reply.reason})" if exchange.reply.reason else ""
        mark = "" if status == "applied" else f"{status.upper()}{reason}  "
        yield f"  {number:>3}  {word:<8} {mark}{'; '.join(changes) or '(nothing changed)'}"
        before = now
    yield from (f"  {line}" for line in finding_lines(finding))


def stored(exchanges: Sequence[Exchange]) -> Iterator[tuple[str, str]]:
    """The texts that were given to be stored, by id."""
    for exchange in exchanges:
        if isinstance(exchange.request, EventRequest):
            event = exchange.request.event
            if isinstance(event, Append | Regenerate):
                yield event.message.id, event.message.text


def seen(observation: dict[str, Any], texts: Mapping[str, str]) -> dict[str, str]:
    """An observation in short: what only speaks of a message, without its text, stands in brackets."""
    from foldproof.conformance.protocol import MARKER  # noqa: PLC0415 - one use

    parts: dict[str, str] = {}
    for name, value in observation.items():
        if name == "view":
            items = []
            for item in value:
                marks = [*MARKER.findall(item["text"]), *item.get("calls", ())]
                marks += [f"{item['result_of']}'"] if item.get("result_of") else []
                text = " ".join(dict.fromkeys(marks)) or item["text"][:16] or "-"
                spoken = any(texts.get(mark, "") not in item["text"] for mark in marks)
                items.append(f"[{text}]" if spoken or len(marks) > 1 or item.get("synthetic") else text)
            parts["view"] = " ".join(items) or "(empty)"
        elif name == "anchors":
            parts["anchors"] = " ".join(f"{a['name']}={a['value']}" for a in value) or "none"
        elif isinstance(value, list):
            parts[name] = " ".join(map(str, value)) or "none"
        else:
            parts[name] = "none" if value is None else str(value)
    return parts


def coverage_line(report: Report) -> str:
    """What was run, in one line."""
    parts = []
    coverage = report.coverage
    if "exhaustive" in coverage:
        part = coverage["exhaustive"]
        parts.append(f"all scripts of up to {part['complete_to']} events ({part['scripts']:,} run)")
    if "random" in coverage:
        parts.append(f"{coverage['random']['examples']} random examples")
    if "vectors" in coverage:
        part = coverage["vectors"]
        parts.append(f"{part['run']} of {part['of']} vectors")
    return "; ".join(parts) + f"; {report.seconds:.1f} s; seed {report.settings.seed}"


def markdown(report: Report) -> str:
    """A summary for a pull request."""
    who = report.handshake.implementation
    rows = [
        f"## {who.name} {who.version or ''}".rstrip() + f": {report.verdict}",
        "",
        "| invariant | verdict |",
        "|---|---|",
        *(f"| {name} | {verdict} |" for name, verdict in report.invariants.items()),
        "",
        coverage_line(report) + ".",
    ]
    for failure in report.failures:
        more = f" (and {failure.times - 1} more scripts like it)" if failure.times > 1 else ""
        rows += ["", f"**Error** after `{' '.join(failure.script)}`: {_cell(failure.what)}{more}"]
    if report.located:
        rows += ["", "| fault | shortest script | detail | clause |", "|---|---|---|---|"]
        for one in in_order(report):
            f = one.finding
            script = " ".join(one.script)
            rows.append(f"| {f.invariant} {f.kind} | `{script}` | {_cell(f.detail)} | {f.clause or ''} |")
    return "\n".join(rows) + "\n"


def github_annotations(report: Report) -> Iterator[str]:
    """One GitHub workflow command a fault."""
    for failure in report.failures:
        yield f"::error title=foldproof errored::{_escape(failure.what)}"
    for one in in_order(report):
        f = one.finding
        text = _escape(f"[{' '.join(one.script)}] {f.detail}")
        yield f"::error title=foldproof {f.invariant} {f.kind}::{text}"


def junit(report: Report) -> bytes:
    """JUnit XML: a case an invariant, and a case a vector."""
    suite = Xml.Element("testsuite", name="foldproof conform")
    suite.set("time", f"{report.seconds:.3f}")
    name = report.handshake.implementation.name
    for invariant, verdict in report.invariants.items():
        case = Xml.SubElement(suite, "testcase", classname=f"{name}.invariants", name=invariant)
        if verdict == "unchecked":
            Xml.SubElement(case, "skipped", message="not observed")
        for one in in_order(report):
            if one.finding.invariant == invariant:
                failure = Xml.SubElement(case, "failure", message=_clean(one.finding.detail))
                failure.set("type", one.finding.kind)
                failure.text = _clean("\n".join(located_lines(one)))
    for vector, result in report.cases.items():
        case = Xml.SubElement(suite, "testcase", classname=f"{name}.vectors", name=vector)
        if result is None:
            Xml.SubElement(case, "skipped", message="an event is not supported")
        elif isinstance(result, Failure):
            Xml.SubElement(case, "error", message=_clean(result.what)).text = _clean(result.stderr)
        elif result:
            Xml.SubElement(case, "failure", message=_clean(result[0].detail)).set("type", result[0].kind)
    for number, failed in enumerate(report.failures):
        case = Xml.SubElement(suite, "testcase", classname=f"{name}.process", name=f"error {number + 1}")
        Xml.SubElement(case, "error", message=_clean(failed.what)).text = _clean(failed.stderr)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for kind, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(plural, str(sum(case.find(kind) is not None for case in cases)))
    Xml.indent(suite)
    return bytes(Xml.tostring(suite, encoding="utf-8", xml_declaration=True)) + b"\n"


def save(report: Report, directory: Path) -> list[Path]:
    """Write each fault as a recorded run (``.jsonl``, for replay and validate) and as ITF."""
    written: list[Path] = []
    for number, one in enumerate(in_order(report), 1):
        stem = f"{number:02d}-{one.finding.invariant}-{one.finding.kind}-{one.finding.event}"
        run = directory / f"{stem}.jsonl"
        lines = run_lines(report.handshake, one.exchanges)
        run.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        itf = directory / f"{stem}.itf.json"
        itf.write_text(json.dumps(run_itf(one), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        written += [run, itf]
    return written


def run_itf(one: Located) -> dict[str, Any]:
    """A run as an ITF document: each state is what was observed, the event stands in its ``#meta``."""
    states = []
    for number, exchange in enumerate(one.exchanges):
        observation = exchange.reply.observation.model_dump(mode="json", exclude_none=True)
        meta: dict[str, Any] = {"index": number, "request": request_json(exchange.request)}
        if exchange.request.seq == one.finding.step:
            meta["violated"] = one.finding.to_json()
        states.append({"#meta": meta, "status": exchange.reply.status} | observation)
    names = [name for name in states[0] if name != "#meta" and all(name in state for state in states)]
    kept = [{name: state[name] for name in ("#meta", *names)} for state in states]
    return {"#meta": {"format": "ITF", "description": one.finding.detail}, "vars": names, "states": kept}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _clean(text: str) -> str:
    return text.translate(UNPRINTABLE)
