"use strict";
/* Puts the page together and follows the reader: by mouse, by keyboard, by address. */

(function () {
  const { exhibits } = JSON.parse(document.getElementById("data").textContent);
  exhibits.forEach((exhibit) => exhibit.runs.forEach(unpooled));
  const boxes = Object.fromEntries(["choice", "story", "stage", "status", "steps", "on", "take"].map((id) => [id, document.getElementById(id)]));
  let walk = fromFragment(location.hash, exhibits);
  let all = [];

  for (const exhibit of exhibits) {
    for (const run of exhibit.runs) {
      run.scale = Math.max(1, ...exhibit.runs.flatMap((r) => r.path.map((place) => Math.max(0, ...(r.cards[place].sizes || [])))));
    }
  }

  function last() {
    return walk.base + walk.then.length;
  }

  /* A new walk: everything is drawn anew. */
  function open(next) {
    walk = next;
    all = walk.exhibit.runs.map((run) => placesOf(walk, run));
    boxes.choice.replaceChildren(...choices());
    boxes.steps.replaceChildren(...timeline(walk, all, go));
    boxes.take.replaceChildren(...copyPanel(walk));
    go(walk.step);
  }

  /* Another step of the same walk. */
  function go(step) {
    walk.step = Math.max(0, Math.min(step, last()));
    const runs = walk.exhibit.runs;
    boxes.story.replaceChildren(...story());
    boxes.stage.replaceChildren(...runs.map((run, i) => stagePanel(run, all[i], walk.step, i, walk)), legend(all), partsTable(runs, all, walk.step) || "");
    boxes.status.replaceChildren(h("h2", {}, `Invariants after step ${walk.step}`), ...invariantPanels(walk.exhibit, all, walk.step, headline()));
    boxes.on.replaceChildren(...goingOn());
    markStep(boxes.steps, walk.step);
    // In a notebook's frame the page has no address of its own to keep.
    if (location.protocol !== "about:") history.replaceState(null, "", toFragment(walk, exhibits.indexOf(walk.exhibit)));
  }

  function choices() {
    if (exhibits.length < 2) return [];
    const choice = h("select", { id: "exhibit", onchange: (event) => open(newWalk(exhibits[event.target.value])) },
      exhibits.map((exhibit, i) => h("option", { value: String(i), selected: exhibit === walk.exhibit }, choiceName(exhibit, i))));
    return [h("label", { for: "exhibit" }, "Trace "), choice];
  }

  function choiceName(exhibit, i) {
    const first = exhibit.first;
    return `${exhibit.key || i + 1}: ${first ? `${first.invariant} breaks at step ${first.step}` : "nothing breaks"}`;
  }

  function headline() {
    const here = all[0][walk.step];
    const broken = here.card ? here.card.broken : {};
    const first = walk.exhibit.first;
    return first && first.invariant in broken ? first.invariant : Object.keys(broken)[0];
  }

  /* One sentence for whoever has ten seconds, and the controls. */
  function story() {
    const run = walk.exhibit.runs[0];
    const first = walk.exhibit.first;
    const here = all[0][walk.step];
    const event = walk.step ? walkEvents(walk)[walk.step - 1] : "start";
    const broken = here.card ? here.card.broken : {};
    const name = headline();
    const before = walk.step && all[0][walk.step - 1].card;
    const text = here.stop
      ? `This run ${here.stop}.`
      : name
        ? [h("b", { class: "bad" }, `✗ ${name} is violated. `), broken[name].words]
        : [h("b", { class: "good" }, "✓ Every invariant holds. "), first && walk.step < first.step && !walk.then.length ? `${first.invariant} breaks at step ${first.step}, ${walk.exhibit.events[first.step - 1] || "start"}.` : ""];
    const lacks = Object.entries(walk.exhibit.lacks || {}).map(([clause, says]) => `${clause} (“${says}”)`);
    return [
      lacks.length ? h("p", { class: "lacks" }, "The design without ", lacks.join(" and "), run.subtitle || "") : run.subtitle ? h("p", { class: "lacks" }, run.subtitle) : null,
      h("p", { class: "headline", role: "status" }, h("span", { class: "where" }, `Step ${walk.step} of ${last()}: `, h("code", {}, event), " "), text),
      here.card && before ? h("p", { class: "happened" }, h("span", {}, "This step: "), changes(before, here.card)) : null,
      h("div", { class: "row controls" },
        control("|◀", "First step", 0, walk.step === 0), control("◀", "Step back", walk.step - 1, walk.step === 0),
        control("▶", "Step forward", walk.step + 1, walk.step === last()), control("▶|", "Last step", last(), walk.step === last()),
        first && h("button", { type: "button", onclick: () => go(Math.min(first.step, last())) }, `Go to the violation (step ${first.step})`),
        walk.then.length ? h("button", { type: "button", onclick: () => open({ ...newWalk(walk.exhibit), step: walk.base }) }, "Back to the trace") : null),
    ].filter(Boolean);
  }

  function legend(places) {
    if (!places.some((list) => list[walk.step].card && list[walk.step].card.lane)) return "";
    return h("p", { class: "note" }, "History: what is stored. Brackets over it: spans of the task tree. View: what the model is sent; a memory stands there for the messages that its lines lead to. Dashed: no longer stored.");
  }

  function control(sign, name, step, off) {
    return h("button", { type: "button", "aria-label": name, title: name, "aria-disabled": off ? "true" : null, onclick: () => off || go(step) }, sign);
  }

  /* The events that this state takes, and where the embedded graph ends. */
  function goingOn() {
    const run = walk.exhibit.runs[0];
    const here = all[0][walk.step];
    if (!here.card || !walk.exhibit.command) return [];
    const steps = run.edges[here.place];
    const extent = `The page embeds ${plural(run.cards.length, "state")} around this run and what follows from ${Object.keys(run.edges).length} of them.`;
    if (!steps) {
      return [h("h2", {}, "Go on from here"), h("p", { class: "end" }, `${extent} It ends at this state. From here on, make a page of the longer run:`),
        h("pre", { class: "scroll", tabindex: "0" }, h("code", {}, walk.exhibit.command.replace("@EVENTS@", walkEvents(walk).slice(0, walk.step).join("; "))))];
    }
    const next = walkEvents(walk)[walk.step];
    return [h("h2", {}, "Go on from here"), h("p", {}, `What this state can take. ${extent}`),
      h("div", { class: "row events" }, steps.map(([event, place]) => {
        const broken = Object.keys(run.cards[place].broken);
        return h("button", { type: "button", class: broken.length ? "event bad" : "event", onclick: () => take(event) }, event,
          broken.length ? h("small", {}, ` ✗ ${broken.join(" ")}`) : null, event === next ? h("small", {}, " next") : null);
      }))];
  }

  function take(event) {
    if (walkEvents(walk)[walk.step] === event) return go(walk.step + 1);
    const base = Math.min(walk.base, walk.step);
    const then = [...walk.then.slice(0, Math.max(0, walk.step - walk.base)), event];
    open({ exhibit: walk.exhibit, base, then, step: base + then.length });
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest("select, textarea, input")) return;
    const scroll = event.target.closest(".scroll");
    const steps = { ArrowRight: walk.step + 1, ArrowLeft: walk.step - 1, Home: 0, End: last() };
    if (!(event.key in steps)) return;
    if (scroll && scroll.scrollWidth > scroll.clientWidth && event.key.startsWith("Arrow")) return;
    event.preventDefault();
    go(steps[event.key]);
  });
  window.addEventListener("hashchange", () => open(fromFragment(location.hash, exhibits)));
  window.foldproof = { copyText: (form) => copyText(walk, form) };
  open(walk);
  document.documentElement.setAttribute("data-ready", "");
})();
