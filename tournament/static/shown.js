// @ts-check
// How a move is shown: on the board a piece slides from its former place and changed holes appear in the order of
// sowing; in the list of moves the links have the ply that they show, and the one that is shown is marked.

const SLIDE_MS = 300;
const SOW_MS = 600; // a whole sowing, however many stones

export const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The move that led to the position drawn in `part`; it takes at most `most` milliseconds.
 * @param {Element} part
 */
export function animateMove(part, most = Infinity) {
  if (still.matches) return;
  const appear = [{ opacity: 0 }, { opacity: 1 }];
  /** @param {number} duration */
  const within = (duration) => Math.min(duration, most);
  for (const piece of part.querySelectorAll("[data-from]")) {
    const [x, y] = /** @type {string} */ (piece.dataset.from).split(" ");
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

const list = () => document.getElementById("move-list"); // none if there are two games, or no moves

// The rows of the list come without these numbers, to be short.
export function numberMoves() {
  /** @type {NodeListOf<HTMLAnchorElement> | undefined} */
  const links = list()?.querySelectorAll("a:not([data-ply])");
  for (const link of links ?? []) link.dataset.ply = /** @type {string} */ (new URLSearchParams(link.search).get("ply"));
}

/** @param {number} ply */
export function markMove(ply) {
  const box = list();
  box?.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = box?.querySelector(`[data-ply="${ply}"]`);
  const row = link?.parentElement;
  if (!box || !row) return;
  link.setAttribute("aria-current", "true");
  const above = row.offsetTop - box.offsetTop;
  if (above < box.scrollTop || above + row.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = above - box.clientHeight / 2; // scrollIntoView would move the whole page on phones
  }
}
