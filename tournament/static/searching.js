// @ts-check
// What a bot says of a position, or of a game (#search): it follows the search, and begins one in place.
//
// Event on document: "search:shown" with the elements of an answer.

import { follow, parsed } from "./follow.js";
import { send } from "./send.js";

const part = () => document.getElementById("search");
const said = () => document.getElementById("search-said");
const board = document.getElementById("analysis");
let asked = 0; // requests so far: the answer to the last one counts

/** @param {string} html */
function show(html) {
  const content = parsed(html);
  const isFocused = part().contains(document.activeElement);
  part().replaceWith(content.getElementById("search"));
  if (isFocused) part().querySelector("button")?.focus({ preventScroll: true });
  if (board) place(document.getElementById("position").value);
  if (part().dataset.follow === undefined && !part().hidden) said().textContent = part().innerText;
  document.dispatchEvent(new CustomEvent("search:shown", { detail: content }));
}

/**
 * On the analysis board it is shown beside its position only.
 * @param {string} position
 */
function place(position) {
  part().hidden = part().dataset.position !== undefined && part().dataset.position !== position;
}

/** @param {string} sentence */
function fail(sentence) {
  part().replaceChildren();
  said().className = "message warning";
  said().textContent = sentence;
}

/** @param {HTMLButtonElement} button */
export async function ask(button) {
  asked += 1;
  const number = asked;
  const empty = Object.assign(document.createElement("div"), { id: "search" });
  part().replaceWith(empty); // what was followed ends
  said().className = "unseen";
  said().textContent = "The bot is asked.";
  followAgain();
  try {
    const body = new FormData(button.form ?? undefined);
    const text = await send(button.formAction, body);
    if (number !== asked) return;
    show(text);
  } catch (error) {
    if (number !== asked) return;
    fail(/** @type {Error} */ (error).message);
  }
  followAgain();
}

const followAgain = follow(part, show);

board?.addEventListener("position", (event) => place(event.detail));
document.addEventListener("click", (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.target.closest("[data-ask]"));
  if (!button) return;
  event.preventDefault();
  ask(button);
});
