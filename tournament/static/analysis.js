// The analysis board: moves entered on the board or as tokens, a tree of them with comments, and undo.
//
// The form works without this file. With it, a known move needs only its position, and a change of the tree is sent to
// the same form, whose answer has the new list of moves. The address holds the tree.

import { animateMove, still } from "./motion.js";
import { MoveEntry } from "./moves.js";

const MOST_KEPT = 500;
const THINK_MS = 500; // Random's answer comes after so long, so that one sees both moves

const root = document.getElementById("analysis");
const panel = document.getElementById("board");
const said = document.getElementById("said");
const form = document.getElementById("entry");
const token = document.getElementById("token");
const opponent = document.getElementById("random"); // the side that Random plays
const flip = form.querySelector('[name="flip"]')?.value ?? "";

let shown = JSON.parse(document.getElementById("shown").textContent);
let shownAt = Number(document.querySelector('#tree [name="at"]').value);
let isLeaving = false;
let isReturning = false; // to an address of this page's history
let turn = Promise.resolve(); // one change after the other
const known = new Map(); // by query: a promise of the position's values
const earlier = []; // the trees before each change, the last one last
const page = form.getAttribute("action"); // not form.action, which is a button

const tree = () => document.getElementById("tree");
const field = (name) => tree().querySelector(`[name="${name}"]`);
const comment = () => document.getElementById("comment");
const at = () => Number(field("at").value);
const buttonOf = (number) => tree().querySelector(`[name="go"][value="${number}"]`);
const following = (number) => [...tree().querySelectorAll(`[data-before="${number}"]`)];
const before = (number) => Number(buttonOf(number).dataset.before);

// The tokens of the moves that lead to a move.
function lineTo(number) {
  const line = [];
  for (let each = number; each; each = before(each)) line.unshift(buttonOf(each).textContent);
  return line;
}

// The query of a position, for the site.
function queryOf(line) {
  const wanted = new URLSearchParams();
  if (field("position").value) wanted.set("position", field("position").value);
  if (line.length) wanted.set("moves", line.join(" "));
  if (flip) wanted.set("flip", flip);
  return wanted.toString();
}

function fetched(line) {
  const query = queryOf(line);
  if (!known.has(query)) {
    if (known.size >= MOST_KEPT) known.delete(known.keys().next().value);
    known.set(query, fetch(`${root.dataset.address}?${query}`).then(async (answer) => {
      const values = await answer.json();
      if (!answer.ok) throw new Error(values.error);
      return values;
    }));
    known.get(query).catch(() => known.delete(query));
  }
  return known.get(query);
}

// Mark a move, and show its position when that is known, unless another one is wanted by then.
async function go(number, { isPlayed = false } = {}) {
  mark(number);
  entry.begin("");
  const values = await fetched(lineTo(number));
  if (at() !== number) return;
  shown = values;
  shownAt = number;
  show();
  if (!isPlayed) return;
  animateMove(panel);
  answer();
}

function mark(number) {
  const button = buttonOf(number);
  field("at").value = number;
  tree().querySelector("[aria-current]")?.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  comment().value = comment().defaultValue = button.parentElement.querySelector("bdi")?.textContent ?? "";
  comment().disabled = !number;
  comment().labels[0].querySelector("b").textContent = number ? button.textContent : "";
  tree().querySelector(".of-move").hidden = !number;
  tree().querySelector('[value="promote"]').hidden = !button.closest(".deep");
  scrollTo(button);
  keepAddress();
}

// Within the list: scrollIntoView would move the whole page on phones.
function scrollTo(button) {
  const list = button.closest("ul");
  const above = button.getBoundingClientRect().top - list.getBoundingClientRect().top;
  if (above < 0 || above + button.offsetHeight > list.clientHeight) list.scrollTop += above - list.clientHeight / 2;
}

function keepAddress() {
  if (tree().dataset.address === undefined) return; // too long: the last one that was not stays
  const wanted = new URLSearchParams(tree().dataset.address);
  if (buttonOf(1)) wanted.set("at", at());
  if (flip) wanted.set("flip", flip);
  if (opponent.value) wanted.set("random", opponent.value);
  if (form.elements.games?.value) wanted.set("games", form.elements.games.value);
  keep(`${page}?${wanted}`.replace(/\?$/, ""));
  for (const link of document.querySelectorAll("[data-line]")) link.search = location.search;
}

// In the explorer each position is a step of the browser's history.
function keep(address) {
  const isStep = form.elements.games && !isReturning && address !== location.pathname + location.search;
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

async function goBack() {
  const wanted = new URLSearchParams(location.search);
  const [position, moves] = ["position", "moves"].map((name) => wanted.get(name) ?? "");
  const number = wanted.get("at") ?? (moves ? "" : "0"); // none is the end of the line
  const isSame = position === field("position").value && moves === field("moves").value;
  isReturning = true;
  try {
    if (isSame && number) await go(Number(number));
    else await change({ position, moves, at: number }, { isUndo: true });
  } finally {
    isReturning = false;
  }
}

// Send a change, and take over the tree of the answer.
async function change(values, { isUndo = false, isPlayed = false } = {}) {
  const body = new FormData(form);
  body.delete("play"); // the field may have a text that was not entered
  if (isUndo) body.delete("comment"); // it belongs to the move that is shown now
  for (const [name, value] of Object.entries(values)) body.set(name, value);
  const found = await fetch(page, { method: "POST", body, headers: { "X-Part": "true" } });
  const text = await found.text();
  if (!found.ok) throw new Error(found.status === 400 ? text : `The site answered ${found.status}.`);
  if (!isUndo) remember();
  const focused = tree().contains(document.activeElement) ? document.activeElement : null;
  const isOpen = tree().querySelector("details").open;
  tree().outerHTML = text;
  tree().querySelector("details").open = isOpen;
  tree().querySelector("[data-copy]").hidden = false;
  if (focused) (tree().querySelector(`[name="${focused.name}"][value="${focused.value}"]`) ?? comment()).focus({ preventScroll: true });
  await go(at(), { isPlayed });
}

function remember() {
  earlier.push({ moves: field("moves").value, at: at(), side: shown.side });
}

async function undo() {
  let index = earlier.length - 1;
  while (opponent.value && earlier[index]?.side === opponent.value) index -= 1; // with Random's answer
  if (index < 0) return;
  const last = earlier[index];
  await change({ moves: last.moves, at: last.at }, { isUndo: true });
  earlier.length = index;
  back.disabled = !index;
}

const isCommented = () => comment().value !== comment().defaultValue;

async function visit(number) {
  if (isCommented()) await change({ go: number });
  else go(number).catch(complain); // not awaited, so that quick steps do not wait for their positions
}

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

// Do one thing after the other; an error is said, and the board stays as it was.
function queue(act) {
  turn = turn.then(act).catch(complain);
}

function complain(error) {
  if (at() !== shownAt && (!shownAt || buttonOf(shownAt))) mark(shownAt);
  said.textContent = error instanceof TypeError ? "The site cannot be reached." : error.message;
  entry.begin(legal());
}

// The moves that may be played, with spaces between them: a game against Random ends by the match rules too.
function legal() {
  return opponent.value && shown.match_ending ? "" : shown.moves;
}

// Random draws one of the legal moves, each with the same chance.
function answer() {
  if (!legal() || shown.side !== opponent.value) return;
  const tokens = legal().split(" ");
  const position = shown;
  setTimeout(() => queue(async () => {
    if (position === shown && shown.side === opponent.value) await play(tokens[Math.floor(Math.random() * tokens.length)]);
  }), still.matches ? 0 : THINK_MS);
}

// How the game ended, in the view of a person who plays against Random.
function ended() {
  const [result, ending] = opponent.value ? [shown.match_result, shown.match_ending] : [shown.result, shown.ending];
  if (!ending) return "";
  const winner = { "1-0": "white", "0-1": "black" }[result];
  const who = winner === opponent.value ? "Random wins" : "You win";
  return `${opponent.value && winner ? who : result}: ${ending}.`;
}

function show() {
  const isFocused = panel.contains(document.activeElement);
  panel.querySelector("svg").outerHTML = shown.board;
  const ending = ended();
  said.textContent = [ending, shown.spoken].filter(Boolean).join(" ");
  said.classList.toggle("quiet", !ending);
  root.toggleAttribute("data-random", Boolean(opponent.value)); // a game needs no comments
  root.dataset.turn = legal() ? (shown.side === opponent.value ? "random" : "you") : "over";
  document.getElementById("position").value = shown.position;
  document.getElementById("next")?.remove();
  const again = document.getElementById("again");
  if (again) again.hidden = root.dataset.turn !== "over" || !opponent.value;
  back.disabled = !earlier.length;
  entry.begin(root.dataset.turn === "random" ? "" : legal());
  root.dataset.ply = field("position").value ? "" : lineTo(at()).length;
  root.dispatchEvent(new CustomEvent("position", { detail: shown.position }));
  if (isFocused) panel.querySelector('[data-cell][tabindex="0"]')?.focus();
}

const entry = new MoveEntry(panel, document.getElementById("choices"), (move) => queue(() => play(move)), (text) => { said.textContent = text; });

const back = Object.assign(document.createElement("button"), { type: "button", id: "back", textContent: "Undo" });
back.addEventListener("click", () => { if (!entry.undo()) queue(undo); });
token.parentElement.append(back);
opponent.addEventListener("change", () => {
  keepAddress();
  show();
  answer();
});

form.addEventListener("submit", (event) => {
  const { submitter } = event;
  if (submitter && "page" in submitter.dataset) { // answered with a page
    isLeaving = true;
    return;
  }
  event.preventDefault();
  if (submitter?.name === "go") queue(() => visit(Number(submitter.value)));
  else if (submitter?.name === "action") queue(() => change({ action: submitter.value }));
  else enter(submitter?.name === "play" ? submitter.value : token.value.trim());
});

function enter(move) {
  if (!move) return;
  if (!legal().split(" ").includes(move)) {
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
  if (tree().dataset.address === undefined && !isLeaving) event.preventDefault();
});

for (const id of ["play", "keys"]) document.getElementById(id).hidden = false;
tree().querySelector("[data-copy]").hidden = false;
known.set(queryOf(lineTo(at())), Promise.resolve(shown));
show();
answer();
