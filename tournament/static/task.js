// @ts-check
// A task: the answer is entered on the board or as text, and the site's judgement is shown in place.

import { animateMove } from "./shown.js";
import { MoveEntry } from "./moves.js";
import { addSolved } from "./solved.js";

const board = document.getElementById("board");
/**
 * @template {keyof PageElements} K
 * @param {K} id
 */
const part = (id) => document.getElementById(id);

/**
 * The page that judges the answer takes the place of this one, except the element that screen readers follow.
 * @param {string} address
 */
async function ask(address) {
  const found = await fetch(address).catch(() => null); // a whole page
  if (!found?.ok) {
    location.assign(address);
    return;
  }
  const fresh = new DOMParser().parseFromString(await found.text(), "text/html");
  const [onBoard, inEntry] = [board, part("entry")].map((one) => one.contains(document.activeElement));
  for (const id of /** @type {const} */ (["view", "entry", "targets"])) part(id).replaceWith(fresh.getElementById(id));
  const said = fresh.getElementById("said");
  part("said").className = said.className;
  part("said").textContent = said.textContent;
  show();
  animateMove(board);
  if (onBoard) board.querySelector('[data-cell][tabindex="0"]')?.focus();
  if (inEntry) (part("token") ?? part("entry").querySelector(".button")).focus();
}

function show() {
  const view = part("view");
  view.innerHTML = part("targets").innerHTML;
  entry.begin(view.dataset.moves ?? "");
  if ("solved" in view.dataset) addSolved(part("task").dataset.task ?? "");
}

const entry = new MoveEntry(board, part("choices"), (token) => {
  part("token").value = token;
  part("token").form?.requestSubmit();
}, (sentence) => {
  part("said").className = "answer";
  part("said").textContent = sentence;
});

part("task").addEventListener("submit", (event) => {
  event.preventDefault();
  const values = /** @type {any} */ (new FormData(event.target));
  ask(`?${new URLSearchParams(values)}`);
});
show();
