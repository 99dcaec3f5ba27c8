// A game against a bot: moves are entered on the board or as text, and the page follows the bot.

import { follow, parsed } from "./follow.js";
import { animateMove } from "./motion.js";
import { MoveEntry } from "./moves.js";

const part = document.getElementById("play");
const board = document.getElementById("board");
const said = document.getElementById("said");
const element = (id) => document.getElementById(id);
let isSending = false;
let isTyped = false; // whether the last move was: there the next one is awaited

function swap(html) {
  const content = parsed(html);
  const { follow: address, moves } = content.querySelector("#play").dataset;
  const isFocused = part.contains(document.activeElement);
  if (address) part.dataset.follow = address;
  else delete part.dataset.follow;
  part.dataset.moves = moves;
  for (const id of ["view", "targets", "spoken", "turn"]) element(id).replaceWith(content.getElementById(id));
  show();
  animateMove(board);
  say(`${element("spoken").textContent} ${element("state").textContent}`);
  const token = isTyped ? element("token") : null;
  if (isFocused) (token ?? board.querySelector('[data-cell][tabindex="0"]') ?? element("view")).focus();
}

function show() {
  const targets = element("targets").innerHTML;
  if (targets.trim()) element("view").innerHTML = targets;
  entry.begin(part.dataset.moves);
}

// To screen readers; an error is also seen.
function say(sentence, isError = false) {
  said.className = isError ? "" : "unseen";
  said.textContent = sentence;
}

async function send(body) {
  if (isSending) return;
  isSending = true;
  entry.begin("");
  try {
    const answer = await fetch(location.pathname, { method: "POST", body, headers: { "X-Part": "true" } });
    const text = await answer.text();
    if (answer.ok) swap(text);
    else throw new Error(answer.status === 400 ? text : `The site answered ${answer.status}.`);
  } catch (error) {
    say(error instanceof TypeError ? "The site cannot be reached: try again." : error.message, true);
    entry.begin(part.dataset.moves);
  }
  isSending = false;
  followAgain();
}

const entry = new MoveEntry(board, element("choices"), (token) => {
  const body = new FormData(element("move"));
  body.set("token", token);
  isTyped = false;
  send(body);
}, say);

document.addEventListener("submit", (event) => {
  if (event.target.id !== "move") return;
  event.preventDefault();
  const body = new FormData(event.target, event.submitter);
  const token = body.get("token")?.trim();
  if (event.submitter?.name === "action") send(body);
  else if (part.dataset.moves.split(" ").includes(token)) {
    isTyped = true;
    send(body);
  } else if (token) say(`“${token}” is not a legal move here.`, true);
});

show();
const followAgain = follow(() => part, swap);
