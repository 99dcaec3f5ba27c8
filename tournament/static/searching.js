// What a bot says of a position (#search): it follows the search, and on the analysis board begins one in place.

import { follow, parsed } from "./follow.js";

const part = () => document.getElementById("search");

function show(html) {
  const content = parsed(html);
  part().replaceWith(content.querySelector("#search"));
}

const look = follow(part, show);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-ask]");
  if (!button) return;
  event.preventDefault();
  part().textContent = "…";
  try {
    const body = new FormData(button.form);
    const answer = await fetch(button.formAction, { method: "POST", body, headers: { "X-Part": "true" } });
    if (answer.ok) show(await answer.text());
    else part().textContent = await answer.text();
  } catch (error) {
    part().textContent = error.message;
  }
  look();
});
