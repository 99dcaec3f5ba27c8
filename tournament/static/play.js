// @ts-check
// A game against a bot: moves are entered on the board or as text, the page follows the bot, and earlier positions
// are looked at without leaving the game.

import { follow, parsed } from "./follow.js";
import { animateMove, markMove, numberMoves } from "./shown.js";
import { MoveEntry, movesIn } from "./moves.js";
import { request, send } from "./send.js";

/** @type {(keyof PageElements)[]} */
const POSITION = ["top", "view", "bottom", "steps", "earlier", "spoken"]; // the elements of one position
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

const part = document.getElementById("play");
const board = document.getElementById("board");
const said = document.getElementById("said");
/**
 * @template {keyof PageElements} K
 * @param {K} id
 */
const element = (id) => document.getElementById(id);
const plies = () => Number(part.dataset.plies);
let isSending = false;
let isTyped = false; // whether the last move was: there the next one is awaited
let looked = Number(element("view").dataset.ply) < plies() ? Number(element("view").dataset.ply) : null;
/** @type {HTMLElement[] | null} */
let present = null; // the elements of the present position, while an earlier one is looked at

/**
 * The part of the page as it is now; an earlier position that is looked at stays.
 * @param {string} html
 */
function swap(html) {
  const content = parsed(html);
  const { follow: address, moves, plies: count } = content.getElementById("play").dataset;
  const isFocused = part.contains(document.activeElement);
  const isNew = Number(count) > plies();
  if (address) part.dataset.follow = address;
  else delete part.dataset.follow;
  part.dataset.moves = moves;
  part.dataset.plies = count;
  if (looked !== null && looked >= plies()) looked = null;
  const position = take(content, POSITION);
  if (looked === null) put(position);
  else present = position;
  put(take(content, ["targets", "turn"]));
  show();
  if (looked === null && isNew) animateMove(board);
  say(`${position[position.length - 1].textContent} ${element("state").textContent}`);
  const token = isTyped ? element("token") : null;
  if (isFocused) (token ?? board.querySelector('[data-cell][tabindex="0"]') ?? element("view")).focus();
}

/**
 * @param {DocumentFragment} content
 * @param {(keyof PageElements)[]} ids
 * @returns {HTMLElement[]}
 */
const take = (content, ids) => ids.map((id) => content.getElementById(id));
/** @param {HTMLElement[]} elements */
const put = (elements) => elements.forEach((one) => document.getElementById(one.id)?.replaceWith(one));

function show() {
  const targets = element("targets").innerHTML;
  if (looked === null && targets.trim()) element("view").innerHTML = targets;
  entry.begin(looked === null ? (part.dataset.moves ?? "") : "");
  element("keys").hidden = false;
  numberMoves();
  markMove(looked ?? plies());
}

/**
 * Look at the position after `ply` moves; the last one is the present position.
 * @param {number} ply
 */
async function look(ply) {
  const to = Math.max(0, Math.min(plies(), ply));
  if (to === (looked ?? plies())) return;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.step;
  if (looked === null) present = POSITION.map(element);
  looked = to === plies() ? null : to;
  if (looked === null && present) {
    put(present);
  } else {
    markMove(to);
    const answer = await request(`${location.pathname}?ply=${to}`).catch(() => null);
    if ((looked ?? plies()) !== to) return; // another one is wanted by now
    if (!answer?.ok) {
      location.assign(`?ply=${to}`);
      return;
    }
    put(take(parsed(await answer.text()), POSITION));
  }
  if (looked === null) present = null;
  show();
  say(element("spoken").textContent);
  if (focused) board.querySelector(`[data-step="${focused}"]`)?.focus({ preventScroll: true });
}

/**
 * To screen readers; an error is also seen.
 * @param {string} sentence
 */
function say(sentence, isError = false) {
  said.className = isError ? "" : "unseen";
  said.textContent = sentence;
}

/** @param {FormData} body */
async function enter(body) {
  if (isSending) return;
  isSending = true;
  entry.begin("");
  try {
    const text = await send(location.pathname, body);
    looked = present = null;
    swap(text);
  } catch (error) {
    say(/** @type {Error} */ (error).message, true);
    entry.begin(looked === null ? (part.dataset.moves ?? "") : "");
  }
  isSending = false;
  followAgain();
}

const entry = new MoveEntry(board, element("choices"), (token) => {
  const body = new FormData(element("move"));
  body.set("token", token);
  isTyped = false;
  enter(body);
}, say);

// Why a click on the board enters nothing, if it is not the person's turn.
board.addEventListener("click", (event) => {
  if (!event.target.closest("#view svg") || part.dataset.moves && looked === null) return;
  if (looked !== null) say("This is an earlier position: go back to the present one to play.", true);
  else say(`No move can be entered now: ${element("state").textContent}`, true);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("#play a[data-ply]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  look(["last", undefined].includes(link.dataset.step) && link.closest("#board") ? plies() : Number(link.dataset.ply));
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.key === "Escape" && event.target.id === "token") event.target.value = "";
  if (event.target.closest("input, select, #view")) return;
  if (event.key in STEPS) look((looked ?? plies()) + STEPS[event.key]);
  else if (event.key === "Home") look(0);
  else if (event.key === "End") look(plies());
  else return;
  event.preventDefault();
});

document.addEventListener("submit", (event) => {
  if (event.target.id !== "move") return;
  event.preventDefault();
  const body = new FormData(event.target, event.submitter);
  const token = String(body.get("token") ?? "").trim();
  if (/** @type {HTMLButtonElement | null} */ (event.submitter)?.name === "action") enter(body);
  else if (movesIn(part.dataset.moves ?? "").some((move) => move.token === token)) {
    isTyped = true;
    enter(body);
  } else if (token) say(`“${token}” is not a legal move here.`, true);
});

show();
const followAgain = follow(() => part, swap);
