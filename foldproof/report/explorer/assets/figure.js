"use strict";
/* The pictures of the gallery's first page: the last of a row of cards, drawn as the explorer draws it. */

(function () {
  const { figures } = JSON.parse(document.getElementById("data").textContent);
  const scale = Math.max(1, ...figures.flatMap((figure) => figure.cards[figure.cards.length - 1].sizes || []));
  figures.forEach((figure, i) => {
    const places = figure.cards.map((card) => ({ card }));
    const step = places.length - 1;
    const run = { title: figure.title, scale };
    document.getElementById(`figure-${i}`).replaceChildren(picture(places[step].card, places[step - 1].card, run, wordsBefore(places, step)));
  });
  document.documentElement.setAttribute("data-ready", "");
})();
