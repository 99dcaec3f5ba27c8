// A game against a bot: moves are entered on the board or as text, and the page follows the bot.

import { follow, parsed } from "./follow.js";
import { animateMove } from "./motion.js";
import { MoveEntry } from "./moves.js";

const board = document.getElementById("board");
const part = () => document.getElementById("play");
const said = document.getElementById("said");

function swap(html) {
  const content = parsed(html);
  const isFocused = part().contains(document.activeElement);
  part().replaceWith(content.querySelector("#play"));
  show();
  animateMove(board);
  said.className = "unseen";
  said.textContent = `${document.getElementById("spoken").textContent} ${document.getElementById("state").textContent}`;
  if (isFocused) (board.querySelector('[data-cell][tabindex="0"]') ?? part().querySelector("button"))?.focus();
}

function show() {
  const targets = document.getElementById("targets").innerHTML;
  if (targets.trim()) document.getElementById("view").innerHTML = targets;
  entry.begin(part().dataset.moves);
}

function complain(sentence) {
  said.className = "";
  said.textContent = sentence;
}

async function send(body) {
  const answer = await fetch(location.pathname, { method: "POST", body, headers: { "X-Part": "true" } });
  if (answer.ok) swap(await answer.text());
  else {
    complain(await answer.text());
    entry.begin(part().dataset.moves);
  }
  look();
}

const entry = new MoveEntry(board, document.getElementById("choices"), (token) => {
  const body = new FormData(document.getElementById("move"));
  body.set("token", token);
  send(body);
});

board.addEventListener("submit", (event) => {
  if (event.target.id !== "move") return;
  event.preventDefault();
  const body = new FormData(event.target, event.submitter);
  const token = body.get("token").trim();
  if (event.submitter?.value === "resign") {
    if (confirm("Resign this game?")) send(body);
  } else if (part().dataset.moves.split(" ").includes(token)) send(body);
  else if (token) complain(`“${token}” is not a legal move here.`);
});

show();
const look = follow(part, swap);
