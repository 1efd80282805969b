"use strict";
/* The reader's run, to be taken elsewhere. */

const FORMS = { json: "Trace (JSON)", itf: "Trace (ITF)", program: "Hypothesis program", command: "Command line" };

function formsOf(exhibit) {
  return exhibit.program ? Object.entries(FORMS) : Object.entries(exhibit.forms || {}).map(([name, form]) => [name, form.title]);
}

function copyText(walk, form) {
  const exhibit = walk.exhibit;
  if (!exhibit.program) return exhibit.forms[form].text;
  const events = walkEvents(walk);
  if (form === "program" || form === "command") return exhibit[form].replace("@EVENTS@", events.join("; "));
  const trace = traceOf(walk, events);
  return JSON.stringify(form === "itf" ? itfOf(trace) : trace, null, 1) + "\n";
}

function traceOf(walk, events) {
  const run = walk.exhibit.runs[0];
  const cards = placesOf(walk, run).map((place) => place.card);
  return {
    format: "foldproof-trace", version: 1, machine: walk.exhibit.machine, without: run.without, bound: walk.exhibit.bound, events,
    states: cards.map((card) => card.state),
    verdicts: cards.map((card) => Object.fromEntries(run.names.map((name) => {
      const broken = card.broken[name];
      return [name, broken ? { verdict: "violated", why: broken.why } : { verdict: "held", why: null }];
    }))),
  };
}

/* The Informal Trace Format, as foldproof.explore.itf writes it; a test holds the two equal. */
function itfOf(trace) {
  const states = trace.states.map((state, index) => ({
    "#meta": { index, event: index ? trace.events[index - 1] : null, verdicts: trace.verdicts[index] },
    ...itfValue(state),
  }));
  const { version, machine, without, bound } = trace;
  return {
    "#meta": { format: "ITF", description: "A run of a foldproof machine; #meta.event is the event that led to each state.", foldproof: { version, machine, without, bound } },
    vars: Object.keys(trace.states[0]),
    states,
  };
}

function itfValue(value) {
  if (value === null) return { tag: "Nothing", value: {} };
  if (typeof value === "number") return { "#bigint": String(value) };
  if (Array.isArray(value)) return value.map(itfValue);
  if (typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, itfValue(part)]));
  return value;
}

function copyPanel(walk) {
  const forms = formsOf(walk.exhibit);
  if (!forms.length) return [];
  const area = h("textarea", { id: "taken", readonly: true, rows: "8", spellcheck: "false", "aria-label": "The run in the chosen form" });
  const told = h("span", { role: "status", class: "told" });
  const choice = h("select", { id: "form", onchange: show }, forms.map(([name, title]) => h("option", { value: name }, title)));
  choice.value = forms.some(([name]) => name === "command") ? "command" : forms[0][0];
  function show() {
    area.value = copyText(walk, choice.value);
    told.textContent = "";
  }
  async function take() {
    try {
      await navigator.clipboard.writeText(area.value);
      told.textContent = "Copied.";
    } catch {
      area.focus();
      area.select();
      told.textContent = document.execCommand("copy") ? "Copied." : "Selected: press Ctrl+C.";
    }
  }
  show();
  return [h("h2", {}, "Take this run with you"),
    h("div", { class: "row" }, h("label", { for: "form" }, "as "), choice, h("button", { type: "button", onclick: take }, "Copy"), told), area];
}
