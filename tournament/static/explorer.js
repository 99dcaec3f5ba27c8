// @ts-check
// The explorer beside the analysis board: its table follows the position. Its moves are buttons of the board's form.

import { send } from "./send.js";

const root = document.getElementById("analysis");
const panel = document.getElementById("explorer");
const games = /** @type {HTMLSelectElement} */ (panel.querySelector("select"));
/** @type {string} */
let position = document.getElementById("position").value;

async function load() {
  const [wanted, kind] = [position, games.value];
  const query = new URLSearchParams({ position: wanted, games: kind });
  if (root.dataset.ply) query.set("ply", root.dataset.ply);
  const text = await send(`${panel.dataset.address}?${query}`).catch(() => null);
  if (text === null || wanted !== position || kind !== games.value) return;
  const old = document.getElementById("explored");
  const isFocused = old.contains(document.activeElement);
  old.outerHTML = text;
  document.getElementById("explored-said").textContent = document.getElementById("explored").dataset.said ?? "";
  if (isFocused) document.querySelector("#explored button")?.focus({ preventScroll: true });
}

root.addEventListener("position", (event) => {
  if (event.detail === position) return;
  position = event.detail;
  load();
});
panel.querySelector('[value="filter"]').hidden = true;
games.addEventListener("change", () => {
  const address = new URL(location.href);
  if (games.value) address.searchParams.set("games", games.value);
  else address.searchParams.delete("games");
  history.replaceState(null, "", address);
  load();
});
