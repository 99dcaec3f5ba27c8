// Stepping through a game with keys and buttons.
//
// Every step is a link to `?ply=n`, so the page works without this file.
// With it, a step fetches only the board's fragment, neighbouring positions are
// fetched in advance, and the address is replaced, so that Back leaves the game.

const KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 };
const AHEAD = [1, -1, 2, 3];
const MOST_CACHED = 200;

const fragments = new Map(); // address -> promise of the fragment's HTML
let wanted = ""; // the latest requested address; late answers to earlier requests are dropped

const panel = () => document.getElementById("board");
const shown = () => Number(panel().dataset.ply);
const last = () => Number(document.getElementById("moves").dataset.plies);
const flipped = () => panel().dataset.flip === "1";

function address(ply, flip) {
  const query = new URLSearchParams(ply === null ? {} : { ply });
  if (flip) query.set("flip", "1");
  return `${location.pathname}?${query}`.replace(/\?$/, "");
}

const follows = (ply) => document.getElementById("moves").hasAttribute("hx-get") && ply === last();

function fragment(url) {
  if (!fragments.has(url)) {
    if (fragments.size >= MOST_CACHED) fragments.delete(fragments.keys().next().value);
    const answer = fetch(url, { headers: { "HX-Request": "true", "HX-Target": "board" } }).then((response) => {
      if (!response.ok) throw new Error(`the board could not be fetched (${response.status})`);
      return response.text();
    });
    answer.catch(() => fragments.delete(url));
    fragments.set(url, answer);
  }
  return fragments.get(url);
}

function fetchAhead(ply, flip) {
  for (const step of AHEAD) {
    const next = ply + step;
    if (next >= 0 && next <= last()) fragment(address(next, flip)).catch(() => {});
  }
}

function mark(ply) {
  const list = document.getElementById("moves");
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const link = list.querySelector(`[data-ply="${ply}"]`);
  if (!link) return;
  link.setAttribute("aria-current", "true");
  const box = list.querySelector(".moves");
  const row = link.parentElement;
  const above = row.offsetTop - box.offsetTop;
  if (above < box.scrollTop || above + row.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = above - box.clientHeight / 2; // scrollIntoView would move the whole page on phones
  }
}

// A selector for the control of the board that has the focus; the next fragment has the same control.
function control(element) {
  const { step, copy, keys } = element?.closest("#board") ? element.dataset : {};
  if (step) return `[data-step="${step}"]`;
  if (copy) return `[data-copy="${copy}"]`;
  return keys === undefined ? "" : "[data-keys]";
}

// The button is hidden in every fragment, because it does nothing without this file.
function showKeyButtons() {
  document.querySelectorAll("[data-keys]").forEach((button) => { button.hidden = false; });
}

async function show(ply, flip = flipped()) {
  const to = Math.max(0, Math.min(last(), ply));
  const url = address(to, flip);
  const focused = control(document.activeElement);
  wanted = url;
  try {
    const html = await fragment(url);
    if (wanted !== url) return;
    panel().outerHTML = html;
    showKeyButtons();
  } catch {
    location.assign(url); // the server's answer shows the error
    return;
  }
  // At the end of a live game the address has no ply, so that a reload after the game shows its end.
  history.replaceState(null, "", follows(to) ? address(null, flip) : url);
  mark(to);
  if (focused) panel().querySelector(focused)?.focus({ preventScroll: true });
  fetchAhead(to, flip);
}

// The ply of the latest request: repeated key presses count from there, not from the ply shown.
function requestedPly() {
  const ply = new URLSearchParams(wanted.split("?")[1]).get("ply");
  return ply === null ? shown() : Number(ply);
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("input, textarea, select, dialog[open]")) return;
  if (event.target.closest(".tablebox, .log") && event.key.startsWith("Arrow")) return;
  const keys = document.getElementById("keys");
  if (event.key in KEYS) show(requestedPly() + KEYS[event.key]);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(last());
  else if (event.key === "f") show(requestedPly(), !flipped());
  else if (event.key === "?") keys.showModal();
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (event.target.closest("[data-keys]")) return document.getElementById("keys").showModal();
  const link = event.target.closest("a[data-ply]");
  if (!link) return;
  event.preventDefault();
  show(Number(link.dataset.ply), link.dataset.flip ? link.dataset.flip === "1" : flipped());
});

// A live game: the list of moves polls. If the end was shown, the new end is shown after a poll.
let before = last();
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id !== "moves" && event.detail.elt?.id !== "moves") return;
  const showedEnd = requestedPly() >= before;
  before = last();
  fragments.clear(); // "last" and the clocks of the newest ply have changed
  if (showedEnd) show(before);
  else mark(shown());
});

showKeyButtons();
mark(shown());
fetchAhead(shown(), flipped());
