// The analysis board: moves entered on the board or as tokens, and undone; the address holds the line.

import { animateMove, still } from "./motion.js";
import { MoveEntry } from "./moves.js";

const MOST_KEPT = 500;
const THINK_MS = 500; // Random's answer comes after so long, so that one sees both moves

const root = document.getElementById("analysis");
const panel = document.getElementById("board");
const said = document.getElementById("said");
const list = document.getElementById("line");
const form = document.getElementById("entry");
const field = document.getElementById("token");
const query = new URLSearchParams(location.search);
const start = query.get("position") ?? "";
const flip = query.get("flip") ?? "";
const opponent = document.getElementById("random"); // the side that Random plays

let moves = (query.get("moves") ?? "").split(" ").filter(Boolean);
let shown = JSON.parse(document.getElementById("shown").textContent);
const known = new Map(); // by query: the position's values

// The query of a position, for the site.
function positionOf(line) {
  const wanted = new URLSearchParams();
  if (start) wanted.set("position", start);
  if (line.length) wanted.set("moves", line.join(" "));
  if (flip) wanted.set("flip", flip);
  return wanted.toString();
}

// The same with who plays, for the page's own address.
function queryOf(line) {
  const wanted = new URLSearchParams(positionOf(line));
  if (opponent.value) wanted.set("random", opponent.value);
  return wanted.toString();
}

async function fetched(line) {
  const wanted = positionOf(line);
  if (!known.has(wanted)) {
    const found = await fetch(`${root.dataset.address}?${wanted}`);
    const values = await found.json();
    if (!found.ok) throw new Error(values.error);
    if (known.size >= MOST_KEPT) known.delete(known.keys().next().value);
    known.set(wanted, values);
  }
  return known.get(wanted);
}

async function go(line, { isBack = false } = {}) {
  try {
    shown = await fetched(line);
  } catch (error) {
    said.textContent = error.message;
    entry.begin(legal());
    return;
  }
  moves = line;
  const wanted = queryOf(line);
  history.replaceState(null, "", wanted ? `?${wanted}` : location.pathname);
  show();
  if (!isBack) {
    animateMove(panel);
    answer();
  }
}

// The moves that may be played, with spaces between them: a game against Random ends by the match rules too.
function legal() {
  return opponent.value && shown.match_ending ? "" : shown.moves;
}

// Random draws one of the legal moves, each with the same chance.
function answer() {
  if (!legal() || shown.side !== opponent.value) return;
  const tokens = legal().split(" ");
  const line = moves;
  setTimeout(() => {
    if (line === moves && shown.side === opponent.value) go([...moves, tokens[Math.floor(Math.random() * tokens.length)]]);
  }, still.matches ? 0 : THINK_MS);
}

// How the game ended, in the view of a person who plays against Random.
function ended() {
  const [result, ending] = opponent.value ? [shown.match_result, shown.match_ending] : [shown.result, shown.ending];
  if (!ending) return "";
  const winner = { "1-0": "white", "0-1": "black" }[result];
  const who = winner === opponent.value ? "Random wins" : "You win";
  return ` ${opponent.value && winner ? who : result}: ${ending}.`;
}

function show() {
  const isFocused = panel.contains(document.activeElement);
  panel.querySelector("svg").outerHTML = shown.board;
  said.textContent = shown.spoken + ended();
  root.dataset.turn = legal() ? (shown.side === opponent.value ? "random" : "you") : "over";
  document.getElementById("position").value = shown.position;
  document.getElementById("next")?.remove();
  list.replaceChildren(...moves.map((token, index) => {
    const link = Object.assign(document.createElement("a"), { textContent: token });
    link.href = `?${queryOf(moves.slice(0, index + 1))}`;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      go(moves.slice(0, index + 1), { isBack: true });
    });
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
  back.disabled = !moves.length;
  entry.begin(root.dataset.turn === "random" ? "" : legal());
  for (const link of document.querySelectorAll("[data-line]")) link.search = positionOf(moves);
  root.dispatchEvent(new CustomEvent("line", { detail: positionOf(moves) }));
  if (isFocused) panel.querySelector('[data-cell][tabindex="0"]')?.focus();
}

const entry = new MoveEntry(panel, document.getElementById("choices"), (token) => go([...moves, token]));

document.getElementById("back")?.remove();
const back = Object.assign(document.createElement("button"), { type: "button", id: "back", textContent: "Undo" });
back.addEventListener("click", () => {
  if (entry.undo()) return;
  const own = opponent.value && moves.length > 1 ? 2 : 1; // with Random's answer
  go(moves.slice(0, -own), { isBack: true });
});
opponent.addEventListener("change", () => go(moves));
form.append(back);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const token = field.value.trim();
  if (!legal().split(" ").includes(token)) {
    said.textContent = `“${token}” is not a legal move here.`;
    return;
  }
  field.value = "";
  go([...moves, token]);
});
root.addEventListener("move", (event) => {
  if (legal().split(" ").includes(event.detail)) go([...moves, event.detail]);
});
document.getElementById("play").hidden = false;
known.set(positionOf(moves), shown);
show();
answer();
