// The explorer beside the analysis board: its table follows the position. Its moves are buttons of the board's form.

const root = document.getElementById("analysis");
const panel = document.getElementById("explorer");
const games = panel.querySelector("select");
let position = document.getElementById("position").value;

async function load() {
  const [wanted, kind] = [position, games.value];
  const query = new URLSearchParams({ position: wanted, games: kind });
  const found = await fetch(`${panel.dataset.address}?${query}`, { headers: { "X-Part": "true" } });
  const text = await found.text();
  if (!found.ok || wanted !== position || kind !== games.value) return;
  const old = document.getElementById("explored");
  const isFocused = old.contains(document.activeElement);
  old.outerHTML = text;
  if (isFocused) document.querySelector("#explored button")?.focus({ preventScroll: true });
}

root.addEventListener("position", (event) => {
  if (event.detail === position) return;
  position = event.detail;
  load();
});
games.form.querySelector("button").hidden = true;
games.addEventListener("change", load);
