// @ts-check
// A game that is being played: its new moves and at last its end, as the page's stream brings them.
//
// The event "replay:more" on document announces moves: the number of plies before them, their chart values, and the
// board as it is now.

import { follow, parsed } from "./follow.js";

const headline = () => document.getElementById("headline");

/** @param {string} html */
function add(html) {
  const content = parsed(html);
  const values = JSON.parse(/** @type {HTMLElement} */ (content.querySelector("script")).textContent);
  for (const id of ["headline", "facts", "points", "computer"]) {
    const fresh = content.getElementById(id);
    if (fresh) document.getElementById(id)?.replaceWith(fresh);
  }
  const list = /** @type {HTMLElement} */ (document.getElementById("move-list"));
  const rows = /** @type {HTMLOListElement} */ (content.querySelector("ol"));
  [...rows.children].forEach((row, index) => {
    const shown = list.children[rows.start - 1 + index]; // with one move, and now with both
    if (shown) shown.replaceWith(row);
    else list.append(row);
  });
  const board = content.getElementById("board").outerHTML;
  document.dispatchEvent(new CustomEvent("replay:more", { detail: { values, board } }));
  document.dispatchEvent(new CustomEvent("part:shown"));
}

follow(headline, add);
