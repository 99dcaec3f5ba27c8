// @ts-check
// Stepping through a game with keys and buttons.
//
// Every step is a link to `?ply=n`, so the page works without this file. With it, a step fetches only the board's
// fragment, neighbouring positions are fetched in advance, and the address is replaced, so that Back leaves the game.

import "./clock.js";
import { animateMove, markMove, numberMoves } from "./shown.js";
import { send } from "./send.js";

/** @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 };
/** @type {Record<string, number>} */
const POINT_KEYS = { n: 1, p: -1 };
const SAY_MS = 300;
const AHEAD = [1, -1, 2, 3];
const MAX_CACHED = 200;

/** @type {Map<string, Promise<string>>} */
const fragments = new Map(); // address -> promise of the fragment's HTML
let wanted = ""; // the latest requested address; late answers to earlier requests are dropped

const panel = () => document.getElementById("board");
const headline = () => document.getElementById("headline");
const shown = () => Number(panel().dataset.ply);
const last = () => Number(headline().dataset.plies);
const flipped = () => panel().dataset.flip === "1";

/**
 * @param {number | null} ply
 * @param {boolean} flip
 */
function address(ply, flip, line = 0, of = "line") {
  const query = new URLSearchParams(ply === null ? {} : { ply: String(ply) });
  if (line) query.set(of, String(line));
  if (flip) query.set("flip", "1");
  return `${location.pathname}?${query}`.replace(/\?$/, "");
}

const isLive = () => headline().hasAttribute("data-follow");
/**
 * @param {number} ply
 * @param {number} line
 */
const follows = (ply, line) => isLive() && ply === last() && !line;

/**
 * @param {string} url
 * @returns {Promise<string>}
 */
function fragment(url) {
  let answer = fragments.get(url);
  if (!answer) {
    if (fragments.size >= MAX_CACHED) fragments.delete(/** @type {string} */ (fragments.keys().next().value));
    answer = send(url);
    answer.catch(() => fragments.delete(url));
    fragments.set(url, answer);
  }
  return answer;
}

/**
 * @param {number} ply
 * @param {boolean} flip
 */
function fetchAhead(ply, flip) {
  for (const step of AHEAD) {
    const next = ply + step;
    if (next >= 0 && next <= last()) fragment(address(next, flip)).catch(() => {});
  }
}

/**
 * A selector for the control of the board that has the focus; the next fragment has the same control.
 * @param {HTMLElement | null} element
 */
function control(element) {
  const { step, copy, keys, autoplay, speed, line, of } = element?.closest("#board") ? element.dataset : {};
  if (step) return `[data-step="${step}"]`;
  if (copy) return `[data-copy="${copy}"]`;
  if (line) return `.line [data-of="${of}"][data-line="${line}"]`;
  if (autoplay !== undefined) return "[data-autoplay]";
  if (speed !== undefined) return "[data-speed]";
  return keys === undefined ? "" : "[data-keys]";
}

// These controls are hidden in every fragment, because they do nothing without this file.
function showControls() {
  panel().querySelectorAll("[data-keys], [data-copy], .autoplay").forEach((part) => { part.hidden = false; });
  const button = panel().querySelector("[data-autoplay]");
  button.setAttribute("aria-pressed", String(timer !== 0));
  button.textContent = timer ? "Pause" : "Play";
  panel().querySelector("[data-speed]").value = pause;
}

/** @param {number} ply */
async function show(ply, flip = flipped(), line = 0, of = "line") {
  const to = Math.max(0, Math.min(last(), ply));
  const url = address(to, flip, line, of);
  const steps = [shown(), Number(panel().dataset.line)];
  const focused = control(/** @type {HTMLElement | null} */ (document.activeElement));
  wanted = url;
  try {
    const html = await fragment(url);
    if (wanted !== url) return;
    panel().outerHTML = html;
    showControls();
    if (line ? steps[1] === line - 1 : to === steps[0] + 1) animateMove(panel(), timer ? 0.6 * Number(pause) : Infinity);
  } catch {
    location.assign(url); // the server's answer shows the error
    return;
  }
  // At the end of a live game the address has no ply, so that a reload after the game shows its end.
  history.replaceState(null, "", follows(to, line) ? address(null, flip) : url);
  markMove(to);
  say();
  document.dispatchEvent(new CustomEvent("replay:shown", { detail: to }));
  if (focused) panel().querySelector(focused)?.focus({ preventScroll: true });
  if (!follows(to, line)) fetchAhead(to, flip);
}

// For screen readers, which do not notice that the board is replaced. Not at once: only the last of quick steps is said.
let saying = 0;
function say() {
  clearTimeout(saying);
  saying = setTimeout(() => { document.getElementById("spoken").textContent = /** @type {string} */ (panel().dataset.spoken); }, SAY_MS);
}

/**
 * The nearest turning point after the requested ply, or before it.
 * @param {number} step
 * @returns {number | undefined}
 */
function turningPoint(step) {
  const plies = [...document.querySelectorAll("#points a")].map((link) => Number(link.dataset.ply));
  return step > 0 ? plies.find((ply) => ply > requestedPly()) : plies.findLast((ply) => ply < requestedPly());
}
/** @param {number} step */
const hasPoint = (step) => turningPoint(step) !== undefined;

// The ply of the latest request: repeated key presses count from there, not from the ply shown.
function requestedPly() {
  const ply = new URLSearchParams(wanted.split("?")[1]).get("ply");
  return ply === null ? shown() : Number(ply);
}

// Autoplay: one move at a time until the end, or until the newest move of a live game.
let timer = 0;
let pause = "1000";

/** @param {boolean} on */
function autoplay(on) {
  clearInterval(timer);
  timer = 0;
  if (on) {
    if (requestedPly() >= last()) show(0);
    timer = setInterval(() => (requestedPly() < last() ? show(requestedPly() + 1) : autoplay(false)), Number(pause));
  }
  showControls();
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("input, textarea, select, dialog[open]")) return;
  if (event.target.closest(".tablebox, .log") && event.key.startsWith("Arrow")) return;
  const keys = document.getElementById("keys");
  if (event.key in KEYS) show(requestedPly() + KEYS[event.key]);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(last());
  else if (event.key === " " && !event.target.closest("button, a, summary")) autoplay(!timer);
  else if (event.key === "f") show(requestedPly(), !flipped());
  else if (event.key in POINT_KEYS && hasPoint(POINT_KEYS[event.key])) show(/** @type {number} */ (turningPoint(POINT_KEYS[event.key])));
  else if (event.key === "?") keys.showModal();
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (event.target.closest("[data-keys]")) return document.getElementById("keys").showModal();
  if (event.target.closest("[data-autoplay]")) return autoplay(!timer);
  const link = event.target.closest("a[data-ply]");
  if (!link) return;
  event.preventDefault();
  if (link.dataset.step === "last") return show(last()); // of a live game there may be more than the link knows
  const flip = link.dataset.flip ? link.dataset.flip === "1" : flipped();
  show(Number(link.dataset.ply), flip, Number(link.dataset.line ?? 0), link.dataset.of);
});

document.addEventListener("change", (event) => {
  const speed = /** @type {HTMLSelectElement} */ (event.target);
  if (!speed.closest("[data-speed]")) return;
  pause = speed.value;
  if (timer) autoplay(true);
});

document.addEventListener("replay:show", (event) => show(event.detail));

// New moves of a live game, which live_game.js has listed. If the end was shown, the new end is shown.
let before = last();
document.addEventListener("replay:more", (event) => {
  numberMoves();
  const showedEnd = requestedPly() >= before;
  const { content } = Object.assign(document.createElement("template"), { innerHTML: event.detail.board });
  const isTurned = (/** @type {HTMLElement} */ (content.firstElementChild).dataset.flip === "1") !== flipped();
  fragments.delete(address(before, false)); // it showed a clock that ran, and no later move
  fragments.delete(address(before, true));
  before = last();
  if (!isTurned) fragments.set(address(before, flipped()), Promise.resolve(event.detail.board));
  if (showedEnd) show(before);
  else markMove(shown());
});

// The script of the analysis is loaded when there is one to show or to follow, or when one is asked for.
let analysed = document.querySelector("#search[data-follow], [data-mistake]") && import("./analysed.js");
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-mistake]")) analysed?.then(({ showNext }) => showNext());
  const button = /** @type {HTMLButtonElement | null} */ (event.target.closest("[data-ask]"));
  if (!button) return;
  event.preventDefault();
  if (analysed) return; // it listens itself
  analysed = import("./analysed.js");
  analysed.then(({ ask }) => ask(button));
});

// The boards of mistakes show now what was better.
document.addEventListener("replay:analysed", () => {
  fragments.clear();
  show(requestedPly());
});

showControls();
numberMoves();
markMove(shown());
// Not before the visitor moves: many only look at the position that they opened.
for (const sign of ["pointermove", "pointerdown", "keydown"]) {
  document.addEventListener(sign, () => { fetchAhead(shown(), flipped()); }, { once: true });
}
