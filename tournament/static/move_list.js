// The list of moves of a game: its links have the ply that they show, and the one that is shown is marked.

const list = () => document.getElementById("move-list"); // none if there are two games, or no moves

// The rows of the list come without these numbers, to be short.
export function numberMoves() {
  for (const link of list()?.querySelectorAll("a:not([data-ply])") ?? []) {
    link.dataset.ply = new URLSearchParams(link.search).get("ply");
  }
}

export function markMove(ply) {
  list()?.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = list()?.querySelector(`[data-ply="${ply}"]`);
  if (!link) return;
  link.setAttribute("aria-current", "true");
  const row = link.parentElement;
  const above = row.offsetTop - list().offsetTop;
  if (above < list().scrollTop || above + row.offsetHeight > list().scrollTop + list().clientHeight) {
    list().scrollTop = above - list().clientHeight / 2; // scrollIntoView would move the whole page on phones
  }
}
