// Moves on boards: a piece slides from its former place, changed holes appear in the order of sowing.

const SLIDE_MS = 300;
const SOW_MS = 600; // a whole sowing, however many stones

export const still = matchMedia("(prefers-reduced-motion: reduce)");

// The move that led to the position drawn in `part`; it takes at most `most` milliseconds.
export function animateMove(part, most = Infinity) {
  if (still.matches) return;
  const appear = [{ opacity: 0 }, { opacity: 1 }];
  const within = (duration) => Math.min(duration, most);
  for (const piece of part.querySelectorAll("[data-from]")) {
    const [x, y] = piece.dataset.from.split(" ");
    const slide = [{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }];
    piece.animate(slide, { duration: within(SLIDE_MS), easing: "ease-in-out" });
  }
  part.querySelectorAll("[data-new]").forEach((piece) => piece.animate(appear, within(SLIDE_MS)));
  const changes = [...part.querySelectorAll("[data-order]")];
  const last = Math.max(1, ...changes.map((change) => Number(change.dataset.order)));
  for (const change of changes) {
    const delay = (Number(change.dataset.order) / last) * within(SOW_MS);
    change.animate(appear, { duration: 120, delay, fill: "backwards" });
  }
}
