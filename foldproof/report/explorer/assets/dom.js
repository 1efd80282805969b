"use strict";
/* Elements without markup: whatever a trace says, it is text. */

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child);
  }
  return element;
}

function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function nameOf(id) {
  return typeof id === "number" ? `#${id}` : id;
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/* A run with its long lists put back: foldproof.report.explorer.pool says why they are pooled. */
function unpooled(run) {
  for (const card of run.cards) {
    for (const path of run.paths) {
      const holder = path.slice(0, -1).reduce((value, name) => (value ? value[name] : value), card);
      const name = path[path.length - 1];
      if (holder && Array.isArray(holder[name])) holder[name] = holder[name].map((place) => run.pool[place]);
    }
  }
}
