// @ts-check
// The analysis of a recorded game: it is followed, its marks stand in the list of moves, and mistakes are stepped through.
//
// Event on document: "replay:analysed" with White's expected points by ply.

export { ask } from "./searching.js";

// The nearest mistake after the shown ply, else the first one.
export function showNext() {
  const plies = [...document.querySelectorAll("#move-list a:has(em)")].map((link) => Number(link.dataset.ply));
  const shown = Number(document.getElementById("board").dataset.ply);
  const next = plies.find((ply) => ply > shown) ?? plies[0];
  if (next !== undefined) document.dispatchEvent(new CustomEvent("replay:show", { detail: next }));
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "m" || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!event.target.closest("input, textarea, select, dialog[open]")) showNext();
});

document.addEventListener("search:shown", (event) => {
  const found = event.detail.querySelector("#analysed");
  if (!found) return;
  const { curve, marks } = JSON.parse(found.textContent);
  document.querySelectorAll("#move-list em").forEach((old) => old.remove());
  for (const [ply, sign] of Object.entries(marks)) {
    const made = Object.assign(document.createElement("em"), { textContent: sign });
    document.querySelector(`#move-list [data-ply="${ply}"] b`)?.after(made);
  }
  document.dispatchEvent(new CustomEvent("replay:analysed", { detail: curve }));
});
