// @ts-check
// The analysis board: moves entered on the board or as tokens, a tree of them with comments, and undo.
//
// The form works without this file. With it, a known move needs only its position, and a change of the tree is sent to
// the same form, whose answer has the new list of moves. The address holds the tree.

import { animateMove, still } from "./shown.js";
import { MoveEntry, movesIn } from "./moves.js";
import { request, send } from "./send.js";

/**
 * What the site says of a position.
 * @typedef {object} Shown
 * @property {string} position
 * @property {string} moves
 * @property {string} side
 * @property {string} board
 * @property {string} spoken
 * @property {string} result
 * @property {string} ending
 * @property {string} match_result
 * @property {string} match_ending
 */

const MAX_KEPT = 500;
const THINK_MS = 500; // Random's answer comes after so long, so that one sees both moves

const root = document.getElementById("analysis");
const panel = document.getElementById("board");
const said = document.getElementById("said");
const form = document.getElementById("entry");
const token = document.getElementById("token");
const opponent = document.getElementById("random"); // the side that Random plays
const games = /** @type {HTMLSelectElement | null} */ (form.elements.namedItem("games")); // of the explorer
const flip = /** @type {HTMLInputElement | null} */ (form.querySelector('[name="flip"]'))?.value ?? "";

const page = form.getAttribute("action") ?? ""; // not form.action, which is a button

const state = {
  /** @type {Shown} */
  shown: JSON.parse(document.getElementById("shown").textContent),
  shownAt: Number(document.querySelector('#tree [name="at"]').value),
  isLeaving: false,
  isReturning: false, // to an address of this page's history
  turn: Promise.resolve(), // one change after the other
  /** @type {Map<string, Promise<Shown>>} */
  known: new Map(), // by query: a promise of the position's values
  /** @type {{ moves: string, at: number, side: string }[]} */
  earlier: [], // the trees before each change, the last one last
};

const tree = () => document.getElementById("tree");
/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement} */ (tree().querySelector(`[name="${name}"]`));
const details = () => /** @type {HTMLDetailsElement} */ (tree().querySelector("details"));
const comment = () => document.getElementById("comment");
const at = () => Number(field("at").value);
/** @param {number} number */
const buttonOf = (number) => /** @type {HTMLButtonElement} */ (tree().querySelector(`[name="go"][value="${number}"]`));
/** @param {number} number */
const following = (number) => [.../** @type {NodeListOf<HTMLButtonElement>} */ (tree().querySelectorAll(`[data-before="${number}"]`))];
/** @param {number} number */
const before = (number) => Number(buttonOf(number).dataset.before);

/**
 * The tokens of the moves that lead to a move.
 * @param {number} number
 */
function lineTo(number) {
  const line = [];
  for (let each = number; each; each = before(each)) line.unshift(buttonOf(each).textContent);
  return line;
}

/**
 * The query of a position, for the site.
 * @param {string[]} line
 */
function queryOf(line) {
  const wanted = new URLSearchParams();
  if (field("position").value) wanted.set("position", field("position").value);
  if (line.length) wanted.set("moves", line.join(" "));
  if (flip) wanted.set("flip", flip);
  return wanted.toString();
}

/**
 * @param {string[]} line
 * @returns {Promise<Shown>}
 */
function fetched(line) {
  const query = queryOf(line);
  let values = state.known.get(query);
  if (!values) {
    if (state.known.size >= MAX_KEPT) state.known.delete(state.known.keys().next().value ?? "");
    values = request(`${root.dataset.address}?${query}`).then(async (answer) => {
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.error);
      return found;
    });
    state.known.set(query, values);
    values.catch(() => state.known.delete(query));
  }
  return values;
}

/**
 * Mark a move, and show its position when that is known, unless another one is wanted by then.
 * @param {number} number
 */
async function go(number, { isPlayed = false } = {}) {
  mark(number);
  entry.begin("");
  const values = await fetched(lineTo(number));
  if (at() !== number) return;
  state.shown = values;
  state.shownAt = number;
  show();
  if (!isPlayed) return;
  animateMove(panel);
  answer();
}

/** @param {number} number */
function mark(number) {
  const button = buttonOf(number);
  field("at").value = String(number);
  tree().querySelector("[aria-current]")?.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  comment().value = comment().defaultValue = button.parentElement?.querySelector("bdi")?.textContent ?? "";
  comment().disabled = !number;
  /** @type {HTMLElement} */ (comment().labels[0].querySelector("b")).textContent = number ? button.textContent : "";
  tree().querySelector(".of-move").hidden = !number;
  tree().querySelector('[value="promote"]').hidden = !button.closest(".deep");
  scrollTo(button);
  keepAddress();
}

/**
 * Within the list: scrollIntoView would move the whole page on phones.
 * @param {HTMLElement} button
 */
function scrollTo(button) {
  const list = /** @type {HTMLElement} */ (button.closest("ul"));
  const above = button.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (above < 0 || above + button.offsetHeight > list.clientHeight) list.scrollTop += above - list.clientHeight / 2;
}

function keepAddress() {
  if (tree().dataset.address === undefined) return; // too long: the last one that was not stays
  const wanted = new URLSearchParams(tree().dataset.address);
  if (buttonOf(1)) wanted.set("at", String(at()));
  if (flip) wanted.set("flip", flip);
  if (opponent.value) wanted.set("random", opponent.value);
  if (games?.value) wanted.set("games", games.value);
  keep(`${page}?${wanted}`.replace(/\?$/, ""));
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("[data-line]"))) link.search = location.search;
}

/**
 * In the explorer each position is a step of the browser's history.
 * @param {string} address
 */
function keep(address) {
  const isStep = games && !state.isReturning && address !== location.pathname + location.search;
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

async function goBack() {
  const wanted = new URLSearchParams(location.search);
  const [position, moves] = ["position", "moves"].map((name) => wanted.get(name) ?? "");
  const number = wanted.get("at") ?? (moves ? "" : "0"); // none is the end of the line
  const isSame = position === field("position").value && moves === field("moves").value;
  state.isReturning = true;
  try {
    if (isSame && number) await go(Number(number));
    else await change({ position, moves, at: number ?? "" }, { isUndo: true });
  } finally {
    state.isReturning = false;
  }
}

/**
 * Send a change, and take over the tree of the answer.
 * @param {Record<string, string | number | null>} values
 */
async function change(values, { isUndo = false, isPlayed = false } = {}) {
  const body = new FormData(form);
  body.delete("play"); // the field may have a text that was not entered
  if (isUndo) body.delete("comment"); // it belongs to the move that is shown now
  for (const [name, value] of Object.entries(values)) body.set(name, String(value));
  const text = await send(page, body);
  if (!isUndo) remember();
  const focused = tree().contains(document.activeElement) ? /** @type {HTMLButtonElement} */ (document.activeElement) : null;
  const isOpen = details().open;
  tree().outerHTML = text;
  details().open = isOpen;
  tree().querySelector("[data-copy]").hidden = false;
  if (focused) (tree().querySelector(`[name="${focused.name}"][value="${focused.value}"]`) ?? comment()).focus({ preventScroll: true });
  await go(at(), { isPlayed });
}

function remember() {
  state.earlier.push({ moves: field("moves").value, at: at(), side: state.shown.side });
}

async function undo() {
  let index = state.earlier.length - 1;
  while (opponent.value && state.earlier[index]?.side === opponent.value) index -= 1; // with Random's answer
  if (index < 0) return;
  const last = state.earlier[index];
  await change({ moves: last.moves, at: last.at }, { isUndo: true });
  state.earlier.length = index;
  back.disabled = !index;
}

const isCommented = () => comment().value !== comment().defaultValue;

/** @param {number} number */
async function visit(number) {
  if (isCommented()) await change({ go: number });
  else go(number).catch(complain); // not awaited, so that quick steps do not wait for their positions
}

/** @param {string} move */
async function play(move) {
  const same = following(at()).find((button) => button.textContent === move);
  if (same && !isCommented()) {
    remember();
    await go(Number(same.value), { isPlayed: true });
    return;
  }
  fetched([...lineTo(at()), move]).catch(() => {}); // meanwhile
  await change({ play: move }, { isPlayed: true });
}

/**
 * Do one thing after the other; an error is said, and the board stays as it was.
 * @param {() => Promise<void>} act
 */
function queue(act) {
  state.turn = state.turn.then(act).catch(complain);
}

/** @param {Error} error */
function complain(error) {
  if (at() !== state.shownAt && (!state.shownAt || buttonOf(state.shownAt))) mark(state.shownAt);
  said.textContent = error.message;
  entry.begin(legal());
}

// The moves that may be played, as the site writes them: a game against Random ends by the match rules too.
function legal() {
  return opponent.value && state.shown.match_ending ? "" : state.shown.moves;
}

// Random draws one of the legal moves, each with the same chance.
function answer() {
  if (!legal() || state.shown.side !== opponent.value) return;
  const moves = movesIn(legal());
  const position = state.shown;
  setTimeout(() => queue(async () => {
    if (position === state.shown && state.shown.side === opponent.value) await play(moves[Math.floor(Math.random() * moves.length)].token);
  }), still.matches ? 0 : THINK_MS);
}

// How the game ended, in the view of a person who plays against Random.
function ended() {
  const [result, ending] = opponent.value ? [state.shown.match_result, state.shown.match_ending] : [state.shown.result, state.shown.ending];
  if (!ending) return "";
  const winner = new Map([["1-0", "white"], ["0-1", "black"]]).get(result);
  const who = winner === opponent.value ? "Random wins" : "You win";
  return `${opponent.value && winner ? who : result}: ${ending}.`;
}

function show() {
  const isFocused = panel.contains(document.activeElement);
  /** @type {Element} */ (panel.querySelector("svg")).outerHTML = state.shown.board;
  const ending = ended();
  said.textContent = [ending, state.shown.spoken].filter(Boolean).join(" ");
  said.classList.toggle("quiet", !ending);
  root.toggleAttribute("data-random", Boolean(opponent.value)); // a game needs no comments
  root.dataset.turn = legal() ? (state.shown.side === opponent.value ? "random" : "you") : "over";
  document.getElementById("position").value = state.shown.position;
  document.getElementById("next")?.remove();
  const again = document.getElementById("again");
  if (again) again.hidden = root.dataset.turn !== "over" || !opponent.value;
  back.disabled = !state.earlier.length;
  entry.begin(root.dataset.turn === "random" ? "" : legal());
  root.dataset.ply = field("position").value ? "" : String(lineTo(at()).length);
  root.dispatchEvent(new CustomEvent("position", { detail: state.shown.position }));
  if (isFocused) panel.querySelector('[data-cell][tabindex="0"]')?.focus();
}

const entry = new MoveEntry(panel, document.getElementById("choices"), (move) => queue(() => play(move)), (text) => { said.textContent = text; });

const back = Object.assign(document.createElement("button"), { type: "button", id: "back", textContent: "Undo" });
back.addEventListener("click", () => { if (!entry.undo()) queue(undo); });
token.parentElement?.append(back);
opponent.addEventListener("change", () => {
  keepAddress();
  show();
  answer();
});

form.addEventListener("submit", (event) => {
  const submitter = /** @type {HTMLButtonElement | null} */ (event.submitter);
  if (submitter && "page" in submitter.dataset) { // answered with a page
    state.isLeaving = true;
    return;
  }
  event.preventDefault();
  if (submitter?.name === "go") queue(() => visit(Number(submitter.value)));
  else if (submitter?.name === "action") queue(() => change({ action: submitter.value }));
  else enter(submitter?.name === "play" ? submitter.value : token.value.trim());
});

/** @param {string} move */
function enter(move) {
  if (!move) return;
  if (!movesIn(legal()).some(({ token }) => token === move)) {
    said.textContent = `“${move}” is not a legal move here.`;
    return;
  }
  token.value = "";
  queue(() => play(move));
}

// Along the line, unless the keys belong to the board or to a field.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("#board, input, textarea, select")) return;
  const step = {
    ArrowLeft: () => (at() ? before(at()) : 0),
    ArrowRight: () => Number(following(at())[0]?.value ?? at()),
  }[event.key];
  if (!step) return;
  event.preventDefault();
  queue(() => visit(step()));
});

addEventListener("popstate", () => queue(goBack));

// What is too long for the address would be lost.
addEventListener("beforeunload", (event) => {
  if (tree().dataset.address === undefined && !state.isLeaving) event.preventDefault();
});

for (const id of /** @type {const} */ (["play", "keys"])) document.getElementById(id).hidden = false;
tree().querySelector("[data-copy]").hidden = false;
state.known.set(queryOf(lineTo(at())), Promise.resolve(state.shown));
show();
answer();
