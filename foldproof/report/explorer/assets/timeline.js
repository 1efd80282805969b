"use strict";
/* The steps as a list: what happened, what it changed, and every invariant's status after it. */

function timeline(walk, all, go) {
  const events = walkEvents(walk);
  const [main] = all;
  const names = Object.keys(walk.exhibit.invariants);
  const rows = main.map((place, step) => {
    const own = step > walk.base;
    const before = step ? main[step - 1].card : null;
    const broken = place.card ? place.card.broken : {};
    const parted = walk.exhibit.runs[0].parted === step && walk.exhibit.runs.length > 1 && step <= walk.base;
    const bad = Object.keys(broken).length > 0;
    return h("li", {}, h("button", {
      type: "button", class: `step${bad ? " bad" : ""}${own ? " own" : ""}`, "data-step": String(step), onclick: () => go(step),
    },
    h("span", { class: "number" }, String(step)),
    h("span", { class: "event" }, step ? events[step - 1] : "start", own && h("small", {}, " yours"), parted && h("small", { class: "parts-here" }, ` parts from ${walk.exhibit.runs[1].title.toLowerCase()}`)),
    h("span", { class: "change" }, place.card ? changes(before, place.card) : place.stop),
    h("span", { class: "marks" }, names.map((name) => {
      const open = walk.exhibit.runs[0].unchecked && walk.exhibit.runs[0].unchecked.includes(name);
      return h("span", { class: `mark ${name in broken ? "bad" : "good"}` }, `${name in broken ? "✗" : open ? "–" : "✓"}${name}`);
    }))));
  });
  return [h("h2", {}, "Steps"), h("ol", { class: "steps", start: "0" }, rows)];
}

function markStep(list, step) {
  for (const button of list.querySelectorAll("button[aria-current]")) button.removeAttribute("aria-current");
  const current = list.querySelector(`button[data-step="${step}"]`);
  if (!current) return;
  current.setAttribute("aria-current", "step");
  const box = list.querySelector("ol");
  const row = current.parentElement;
  if (row.offsetTop < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }
}

function changes(before, card) {
  if (!before) return "";
  const told = [];
  if (before.lane && card.lane) {
    const old = before.lane.messages;
    const now = card.lane.messages;
    const oldIds = new Set(old.map((m) => m.id));
    const nowIds = new Set(now.map((m) => m.id));
    const added = now.filter((m) => !oldIds.has(m.id)).map((m) => `${m.word} ${nameOf(m.id)}`);
    const taken = old.filter((m) => !nowIds.has(m.id)).map((m) => nameOf(m.id));
    if (added.length) told.push(`+ ${added.join(", ")}`);
    if (taken.length) told.push(`− ${taken.join(" ")}`);
  }
  for (const [name, value] of Object.entries(card.parts)) {
    if (before.parts[name] !== value && name !== "trigger") told.push(`${name} ${before.parts[name] ?? "–"} → ${value}`);
  }
  return told.join("; ") || "nothing changed";
}
