"use strict";
/* What stands beside the lane: the two sizes, the parts, the invariants with both sides of their equations. */

function marksOf(card, before) {
  const marks = { messages: new Set(), spans: new Set(), hidden: new Set(), fresh: new Set() };
  for (const broken of Object.values(card.broken)) {
    broken.messages.forEach((id) => marks.messages.add(id));
    broken.spans.forEach((position) => marks.spans.add(position));
  }
  const items = card.lane && card.lane.items;
  if (items && card.broken.VIEW) {
    const spoken = new Set(items.flatMap((item) => item.covers || [item.id]));
    card.lane.messages.forEach((message) => spoken.has(message.id) || marks.hidden.add(message.id));
  }
  if (before && before.lane && card.lane) {
    const old = new Set(before.lane.messages.map((message) => message.id));
    card.lane.messages.forEach((message) => old.has(message.id) || marks.fresh.add(message.id));
  }
  return marks;
}

function stagePanel(run, places, step, number, walk) {
  const here = places[step];
  const broken = here.card ? Object.keys(here.card.broken) : [];
  const verdict = here.stop
    ? h("span", { class: "verdict stopped" }, "stopped")
    : broken.length
      ? h("span", { class: "verdict bad" }, `✗ ${broken.join(", ")} violated`)
      : h("span", { class: "verdict good" }, `✓ ${here.card.held || "every invariant holds"}`);
  const head = h("header", {}, h("h2", { id: `run-${number}` }, run.title), verdict);
  const body = here.card ? picture(here.card, step ? places[step - 1].card : null, run, wordsBefore(places, step)) : h("p", { class: "stop" }, `This run ${here.stop}.`);
  return h("article", { class: `run run-${number}${broken.length ? " broken" : ""}`, "aria-labelledby": `run-${number}` }, head, note(here), body);
}

function note(here) {
  return here.card && here.card.note ? h("p", { class: "note" }, here.card.note) : null;
}

/* What the messages of earlier steps were, for those that are gone. */
function wordsBefore(places, step) {
  const words = new Map();
  for (const { card } of places.slice(0, step)) {
    if (card && card.lane) card.lane.messages.forEach((message) => words.set(message.id, message.word));
  }
  return words;
}

function picture(card, before, run, words) {
  const parts = [];
  if (card.lane) {
    const scroll = h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `${run.title}: history, spans and view` }, drawLane(card.lane, marksOf(card, before), words));
    parts.push(scroll);
  }
  if (card.sizes) parts.push(bars(card.sizes, run.scale, card.sizeWords));
  return h("div", {}, parts);
}

/* The gauge against the view, on one scale for the whole run. */
function bars(sizes, scale, words) {
  const [believed, sent] = sizes;
  const equal = believed === sent;
  const [left, right] = words || ["the session believes", "the model is sent"];
  const row = (name, value, kind) =>
    h("div", { class: "bar" }, h("span", { class: "bar-name" }, name),
      h("span", { class: "bar-track" }, h("span", { class: `bar-fill ${kind}`, style: `width:${(100 * value) / Math.max(scale, 1)}%` })),
      h("span", { class: "bar-value" }, `${value} tok`));
  return h("div", { class: `bars${equal ? "" : " differ"}` }, row(left, believed, "gauge"), row(right, sent, "view"));
}

function partsTable(runs, all, step) {
  const here = all.map((places) => places[step]);
  const first = here.find((place) => place.card);
  if (!first) return null;
  const names = [...new Set(here.flatMap((place) => (place.card ? Object.keys(place.card.parts) : [])))];
  const rows = names.map((name) => {
    const values = here.map((place) => (place.card ? place.card.parts[name] ?? "–" : "–"));
    const differ = here.every((place) => place.card) && !values.includes("–") && values.some((value) => value !== values[0]);
    return h("tr", { class: differ ? "differ" : null }, h("th", { scope: "row" }, name),
      values.map((value, i) => {
        const before = step > 0 && all[i][step - 1].card ? all[i][step - 1].card.parts[name] : undefined;
        const changed = before !== undefined && here[i].card && before !== value;
        return h("td", {}, changed ? [h("del", {}, before), " → ", h("ins", {}, value)] : value);
      }),
      runs.length > 1 ? h("td", { class: "same" }, differ ? h("span", { title: "the two designs differ" }, "≠") : "") : null);
  });
  const head = h("tr", {}, h("th", { scope: "col" }, "part"), runs.map((run) => h("th", { scope: "col" }, run.title)), runs.length > 1 ? h("td", {}) : null);
  return h("details", { class: "parts", open: true }, h("summary", {}, "Every part of the state"),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Parts of the state" }, h("table", {}, h("thead", {}, head), h("tbody", {}, rows))));
}

/* The headline's invariant first, the others in the machine's order. */
function invariantPanels(exhibit, all, step, headline) {
  const order = Object.entries(exhibit.invariants).sort(([a], [b]) => (b === headline) - (a === headline));
  return order.map(([name, says]) => {
    const places = all.map((list) => list[step]);
    const told = places.map((place, i) => {
      if (!place.card) return null;
      const broken = place.card.broken[name];
      const unchecked = exhibit.runs[i].unchecked && exhibit.runs[i].unchecked.includes(name);
      const word = broken ? "✗ violated" : unchecked ? "– unchecked" : "✓ holds";
      return { title: exhibit.runs[i].title, broken, word, kind: broken ? "bad" : unchecked ? "open" : "good" };
    });
    const bad = told.some((one) => one && one.broken);
    const summary = h("summary", {}, h("b", {}, name), " ", h("span", { class: "says" }, says),
      h("span", { class: "chips" }, told.map((one) => one && h("span", { class: `chip ${one.kind}` }, told.length > 1 ? `${one.title}: ${one.word}` : one.word))));
    return h("details", { class: bad ? "invariant bad" : "invariant", open: bad, "data-invariant": name }, summary,
      told.map((one) => one && one.broken && whyBroken(one, told.length > 1)),
      bad ? null : h("p", {}, "Both sides are equal in this state, or every bound is kept."));
  });
}

function whyBroken(one, several) {
  const broken = one.broken;
  const sides = broken.equation.split(" == ");
  const names = sides.length === 2 ? sides : ["found", "must be"];
  const left = listOf(broken.left);
  const right = listOf(broken.right);
  const table = left && right
    ? h("table", { class: "equation" }, h("tbody", {}, sideRow(names[0], left, right), sideRow(names[1], right, left)))
    : h("table", { class: "equation" }, h("tbody", {}, plainRow(names[0], broken.left), plainRow(names[1], broken.right)));
  return h("div", { class: "why" }, several && h("h3", {}, one.title), h("p", { class: "words" }, broken.words),
    h("p", { class: "formula" }, h("code", {}, broken.equation)),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Both sides of the equation" }, table), h("p", { class: "place" }, `Where: ${broken.place}.`));
}

function listOf(text) {
  if (!text.startsWith("[") || !text.endsWith("]")) return null;
  const inner = text.slice(1, -1);
  return inner ? inner.split(", ") : [];
}

function sideRow(name, side, other) {
  const length = Math.max(side.length, other.length);
  const cells = Array.from({ length }, (_, i) => {
    const same = side[i] === other[i];
    return h("td", { class: same ? null : "offends" }, side[i] === undefined ? "nothing" : side[i], same ? null : h("span", { class: "offence" }, " ✗"));
  });
  return h("tr", {}, h("th", { scope: "row" }, name), cells);
}

function plainRow(name, value) {
  return h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "offends" }, value));
}
