// The explorer beside the analysis board: its table follows the position, and a click on a move plays it.

const root = document.getElementById("analysis");
const panel = document.getElementById("explorer");
const games = panel.querySelector("select");
let wanted = document.querySelector("[data-line]").search.slice(1);

async function load(line) {
  wanted = line;
  const query = new URLSearchParams(line);
  if (games.value) query.set("games", games.value);
  const found = await fetch(`${panel.dataset.address}?${query}`, { headers: { "X-Part": "true" } });
  const text = await found.text();
  if (!found.ok || wanted !== line) return;
  document.getElementById("explored").outerHTML = text;
}

root.addEventListener("line", (event) => { if (event.detail !== wanted) load(event.detail); });
panel.addEventListener("click", (event) => {
  const move = event.target.closest("[data-move]");
  if (!move || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  root.dispatchEvent(new CustomEvent("move", { detail: move.dataset.move }));
});
games.form.querySelector("button").hidden = true;
games.addEventListener("change", () => load(wanted));
