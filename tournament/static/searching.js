// What a bot says of a position, or of a game (#search): it follows the search, and begins one in place.
//
// Event on document: "search:shown" with the elements of an answer.

import { follow, parsed } from "./follow.js";

const part = () => document.getElementById("search");
const said = () => document.getElementById("search-said");
const board = document.getElementById("analysis");
let asked = 0; // requests so far: the answer to the last one counts

function show(html) {
  const content = parsed(html);
  const focused = part().contains(document.activeElement) ? document.activeElement.value : null;
  part().replaceWith(content.querySelector("#search"));
  if (focused !== null) part().querySelector("button")?.focus({ preventScroll: true });
  if (board) place(document.getElementById("position").value);
  if (part().dataset.follow === undefined && !part().hidden) said().textContent = part().innerText;
  document.dispatchEvent(new CustomEvent("search:shown", { detail: content }));
}

// On the analysis board it is shown beside its position only.
function place(position) {
  part().hidden = part().dataset.position !== undefined && part().dataset.position !== position;
}

function fail(sentence) {
  part().replaceChildren();
  said().className = "message warning";
  said().textContent = sentence;
}

export async function ask(button) {
  asked += 1;
  const number = asked;
  const empty = Object.assign(document.createElement("div"), { id: "search" });
  part().replaceWith(empty); // what was followed ends
  said().className = "unseen";
  said().textContent = "The bot is asked.";
  followAgain();
  try {
    const body = new FormData(button.form);
    const answer = await fetch(button.formAction, { method: "POST", body, headers: { "X-Part": "true" } });
    const text = await answer.text();
    if (number !== asked) return;
    if (answer.ok) show(text);
    else fail(answer.status === 400 ? text : `The site answered ${answer.status}.`);
  } catch {
    if (number !== asked) return;
    fail("The site cannot be reached: try again.");
  }
  followAgain();
}

const followAgain = follow(part, show);

board?.addEventListener("position", (event) => place(event.detail));
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-ask]");
  if (!button) return;
  event.preventDefault();
  ask(button);
});
