"use strict";
/* Where the reader is: an exhibit, a step, and perhaps a way of their own through the embedded graph.

   A walk keeps the first `base` events of the exhibit and goes on with the events in `then`. */

function newWalk(exhibit) {
  return { exhibit, base: exhibit.events.length, then: [], step: exhibit.first ? exhibit.first.step : exhibit.events.length };
}

function walkEvents(walk) {
  return walk.exhibit.events.slice(0, walk.base).concat(walk.then);
}

/* One place a step: {card, place} where the run is, or {stop} saying why it is nowhere. */
function placesOf(walk, run) {
  const places = [];
  for (let step = 0; step <= walk.base; step++) {
    if (step < run.path.length) places.push({ place: run.path[step], card: run.cards[run.path[step]] });
    else places.push({ stop: refusal(run, step) });
  }
  for (const event of walk.then) {
    const last = places[places.length - 1];
    if (last.stop) {
      places.push({ stop: last.stop });
      continue;
    }
    const steps = run.edges[last.place];
    const taken = steps && steps.find(([name]) => name === event);
    if (taken) places.push({ place: taken[1], card: run.cards[taken[1]] });
    else if (steps) places.push({ stop: `${event} is not enabled here; this run stops` });
    else places.push({ stop: "this state lies beyond what the page embeds" });
  }
  return places;
}

function refusal(run, step) {
  const refused = run.refused;
  if (!refused) return "this run has ended";
  const tense = refused.step === step ? "refuses" : "refused";
  return `${tense} ${refused.event} at step ${refused.step}: ${refused.reason}`;
}

/* The walk's address, and back. An address that leads nowhere leads to the nearest place. */
function toFragment(walk, number) {
  const parts = [`trace=${encodeURIComponent(walk.exhibit.key || String(number))}`, `step=${walk.step}`];
  if (walk.then.length) parts.push(`from=${walk.base}`, `then=${walk.then.map(encodeURIComponent).join(";")}`);
  return "#" + parts.join("&");
}

function fromFragment(fragment, exhibits) {
  const asked = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) asked[part.slice(0, at)] = part.slice(at + 1);
  }
  const key = asked.trace === undefined ? null : safeDecode(asked.trace);
  const exhibit = exhibits.find((e, i) => e.key === key || String(i) === key) || exhibits[0];
  const walk = newWalk(exhibit);
  const from = Number.parseInt(asked.from, 10);
  if (from >= 0 && from <= exhibit.events.length && asked.then) {
    walk.base = from;
    for (const event of asked.then.split(";").map(safeDecode)) {
      walk.then.push(event);
      if (placesOf(walk, exhibit.runs[0]).pop().stop) {
        walk.then.pop();
        break;
      }
    }
    if (!walk.then.length) walk.base = exhibit.events.length;
  }
  const step = Number.parseInt(asked.step, 10);
  const last = walk.base + walk.then.length;
  if (step >= 0) walk.step = Math.min(step, last);
  else walk.step = Math.min(walk.step, last);
  return walk;
}

function safeDecode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
