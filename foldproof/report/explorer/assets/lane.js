"use strict";
/* The drawing of one state: spans over the history, the view below, lines from memories to what they cover. */

const CELL = { width: 84, height: 42, gap: 8, left: 58, level: 26, fan: 46 };

function drawLane(lane, marks, words) {
  const ghosts = ghostsOf(lane);
  const cells = lane.messages.length + ghosts.length;
  const at = new Map(lane.messages.map((message, index) => [message.id, index]));
  ghosts.forEach((id, offset) => {
    if (id !== null) at.set(id, lane.messages.length + offset);
  });
  const levels = levelsOf(lane.spans);
  const flagsTop = 14;
  const treeTop = flagsTop + 18;
  const top = treeTop + Math.max(1, levels.count) * CELL.level + 6;
  const viewTop = top + CELL.height + CELL.fan;
  const items = lane.items === null ? null : layItems(lane.items, at);
  const right = Math.max(CELL.left + Math.max(cells, 1) * CELL.width, items ? items.right : 0) + 74;
  const bottom = items ? viewTop + CELL.height + 4 : top + CELL.height + 6;
  const picture = s("svg", {
    class: "lane", width: right, height: bottom, viewBox: `0 0 ${right} ${bottom}`, role: "img", "aria-label": laneInWords(lane, marks),
  });
  const add = (...parts) => picture.append(...parts.flat(Infinity).filter(Boolean));
  add((lane.spans.length > 0 || lane.epoch !== undefined) && label("tree", top - 12), label("history", top + 26), items && label("view", viewTop + 26));
  if (items) add(items.list.map((item) => fan(item, at, top + CELL.height, viewTop, marks)));
  add(flags(lane, flagsTop, top + CELL.height));
  add(lane.spans.map((span, i) => bracket(span, levels.of[i], lane.messages.length, cells, top, marks.spans.has(i))));
  if (!lane.messages.length) add(s("text", { class: "none", x: CELL.left, y: top + 26 }, ghosts.length ? "" : "empty"));
  add(lane.messages.map((message, index) => cell(message, index, top, lane, marks)));
  add(ghosts.map((id, offset) => ghost(id, lane.messages.length + offset, top, marks, words)));
  if (items) {
    if (!items.list.length) add(s("text", { class: "none", x: CELL.left, y: viewTop + 26 }, "empty"));
    add(items.list.map((item) => itemBox(item, viewTop, lane, marks)));
  }
  return picture;
}

function label(text, y) {
  return s("text", { class: "row-label", x: 0, y }, text);
}

/* Places after the end of the history that something still speaks of: memories, or spans that reach there. */
function ghostsOf(lane) {
  const stored = new Set(lane.messages.map((message) => message.id));
  const gone = [];
  for (const item of lane.items || []) {
    for (const id of item.covers || (item.id === undefined ? [] : [item.id])) {
      if (!stored.has(id) && !gone.includes(id)) gone.push(id);
    }
  }
  const length = lane.messages.length;
  let beyond = 0;
  for (const span of lane.spans) {
    if (span.open < 0) continue;
    beyond = Math.max(beyond, (span.close === null ? span.open : Math.max(span.open, span.close)) + 1 - length);
  }
  const count = Math.min(Math.max(gone.length, beyond), 24);
  return Array.from({ length: count }, (_, i) => (i < gone.length ? gone[i] : null));
}

/* Nested and crossing spans on levels: the widest on top. */
function levelsOf(spans) {
  const order = spans.map((_, i) => i).sort((a, b) => width(spans[a]) - width(spans[b]));
  const taken = [];
  const of = [];
  for (const i of order) {
    const [start, end] = extent(spans[i]);
    let level = 0;
    while ((taken[level] || []).some(([from, to]) => start <= to && from <= end)) level++;
    (taken[level] = taken[level] || []).push([start, end]);
    of[i] = level;
  }
  return { of, count: taken.length };
}

function extent(span) {
  return [span.open, span.close === null ? Infinity : span.close];
}

function width(span) {
  return (span.close === null ? 1e9 : span.close) - span.open;
}

function bracket(span, level, length, cells, top, wrong) {
  if (span.open < 0) return null;
  const y = top - 14 - level * CELL.level;
  const from = CELL.left + span.open * CELL.width + 3;
  const end = span.close === null ? Math.max(cells, span.open + 1) : span.close + 1;
  const to = CELL.left + end * CELL.width - CELL.gap - 3;
  const inside = Math.min(to, CELL.left + Math.max(length, span.open) * CELL.width - CELL.gap / 2);
  const kind = `span${span.past ? " past" : ""}${span.cursor ? " cursor" : ""}${wrong ? " wrong" : ""}`;
  const text = span.close === null ? `${span.open}… ${span.cursor ? "cursor" : "open"}` : `${span.open}–${span.close}`;
  const parts = [
    s("path", { d: `M${from} ${y + 6}V${y - 6}H${inside}`, class: span.close === null ? "line open" : "line" }),
    inside < to && s("path", { d: `M${inside} ${y - 6}H${to}`, class: "line beyond" }),
    span.close !== null && s("path", { d: `M${to} ${y - 6}V${y + 6}`, class: inside < to ? "line beyond" : "line" }),
    s("text", { x: from + 5, y: y + 6 }, text + (inside < to && span.close !== null ? " past the end" : "")),
  ];
  return s("g", { class: kind }, parts);
}

function flags(lane, y, bottom) {
  if (lane.epoch === undefined) return [];
  const rows = new Map();
  const put = (index, text) => rows.set(index, [...(rows.get(index) || []), text]);
  if (lane.epoch > 0) put(lane.epoch, "epoch");
  put(lane.observed, "seen");
  put(lane.measured, "gauged");
  return [...rows].map(([index, texts]) => {
    const x = CELL.left + index * CELL.width - CELL.gap / 2;
    return s("g", { class: `flag${texts.includes("epoch") ? " epoch" : ""}` },
      s("path", { d: `M${x} ${y - 10}V${bottom + 2}` }),
      s("text", { x: x + 4, y: y - 1 }, texts.join(" · ")));
  });
}

function cell(message, index, top, lane, marks) {
  const x = CELL.left + index * CELL.width;
  const pending = lane.pending !== null && lane.pending !== undefined && lane.pending === message.id;
  const wrong = marks.messages.has(message.id);
  return s("g", { class: `cell ${message.letter}${wrong ? " wrong" : ""}${marks.fresh.has(message.id) ? " fresh" : ""}`, transform: `translate(${x} ${top})` },
    s("rect", { width: CELL.width - CELL.gap, height: CELL.height, rx: 5 }),
    s("rect", { class: "stripe", width: 5, height: CELL.height, rx: 2 }),
    s("text", { class: "word", x: 11, y: 17 }, message.word),
    s("text", { class: "id", x: 11, y: 34 }, nameOf(message.id) + (pending ? " pending" : marks.hidden.has(message.id) ? " hidden" : "")));
}

function ghost(id, index, top, marks, words) {
  const x = CELL.left + index * CELL.width;
  return s("g", { class: `cell ghost${id !== null && marks.messages.has(id) ? " wrong" : ""}`, transform: `translate(${x} ${top})` },
    s("rect", { width: CELL.width - CELL.gap, height: CELL.height, rx: 5 }),
    s("text", { class: "word", x: 11, y: 17 }, id === null ? "nothing" : words.get(id) || "gone"),
    s("text", { class: "id", x: 11, y: 34 }, id === null ? "stored here" : `${nameOf(id)} gone`));
}

/* Items as near to what they speak for as their order allows. */
function layItems(items, at) {
  let free = CELL.left;
  const list = items.map((item) => {
    const size = CELL.width - CELL.gap + (item.covers ? (item.kind === "span" ? 14 : 34) : 0);
    const own = item.covers || (item.id === undefined ? [] : [item.id]);
    const places = own.map((id) => at.get(id)).filter((place) => place !== undefined);
    const middle = places.length ? (Math.min(...places) + Math.max(...places) + 1) / 2 : null;
    const ideal = middle === null ? free : CELL.left + middle * CELL.width - CELL.gap / 2 - size / 2;
    const x = Math.max(free, ideal);
    free = x + size + CELL.gap;
    return { ...item, x, size, places };
  });
  return { list, right: free };
}

function fan(item, at, top, bottom, marks) {
  const middle = item.x + item.size / 2;
  if (!item.covers) {
    if (!item.places.length) return null;
    const x = CELL.left + item.places[0] * CELL.width + (CELL.width - CELL.gap) / 2;
    return s("path", { class: "same", d: `M${x} ${top}L${middle} ${bottom}` });
  }
  return item.covers.map((id) => {
    const place = at.get(id);
    if (place === undefined) return null;
    const x = CELL.left + place * CELL.width + (CELL.width - CELL.gap) / 2;
    return s("path", { class: marks.messages.has(id) ? "covers wrong" : "covers", d: `M${middle} ${bottom}C${middle} ${bottom - 20} ${x} ${top + 20} ${x} ${top}` });
  });
}

function itemBox(item, top, lane, marks) {
  const ids = item.covers || (item.id === undefined ? [] : [item.id]);
  const message = item.covers ? null : lane.messages.find((m) => m.id === item.id);
  const wrong = ids.some((id) => marks.messages.has(id));
  const head = item.covers ? (item.kind === "span" ? "memory" : `${item.kind} memory`) : message ? message.word : item.text || "other";
  return s("g", { class: `item ${item.covers ? "memory" : message ? message.letter : "other"}${wrong ? " wrong" : ""}`, transform: `translate(${item.x} ${top})` },
    s("rect", { width: item.size, height: CELL.height, rx: item.covers ? 14 : 5 }),
    s("text", { class: "word", x: item.size / 2, y: 17 }, head),
    s("text", { class: "id", x: item.size / 2, y: 34 }, item.covers ? `of ${range(item.covers)}` : ids.map(nameOf).join(" ")));
}

function range(ids) {
  if (!ids.length) return "nothing";
  const whole = ids.length > 2 && ids.every((id, i) => typeof id === "number" && id === ids[0] + i);
  if (whole) return `${nameOf(ids[0])}–${nameOf(ids[ids.length - 1])}`;
  return ids.length > 3 ? `${nameOf(ids[0])}… (${ids.length})` : ids.map(nameOf).join(" ");
}

function laneInWords(lane, marks) {
  const history = lane.messages.map((m) => `${m.word} ${nameOf(m.id)}`).join(", ") || "empty";
  const spans = lane.spans.map((span) => `${span.open} to ${span.close === null ? "open" : span.close}${span.cursor ? ", the cursor" : ""}`).join("; ") || "none";
  const view = lane.items === null ? "" : ` View: ${lane.items.map((item) => (item.covers ? `a memory of ${item.covers.map(nameOf).join(" ") || "nothing"}` : nameOf(item.id ?? item.text))).join(", ") || "empty"}.`;
  const wrong = marks.messages.size ? ` Wrong: ${[...marks.messages].map(nameOf).join(" ")}.` : "";
  return `History: ${history}. Spans: ${spans}.${view}${wrong}`;
}
