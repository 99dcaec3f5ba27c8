// Parts of pages that follow what they show, except those with a script of their own (data-own).
//
// A new part takes the place of the old one: rows move to their new places, and changed cells are marked for a moment,
// unless the system asks for less motion. Events on document: "part:shown" after each.

import { follow, parsed } from "./follow.js";
import { animateMove, still } from "./motion.js";

const MOVE_MS = 600;
const MARK_MS = 2500;

const named = (part, name) => new Map([...part.querySelectorAll(`[data-${name}]`)].map((one) => [one.dataset[name], one]));

// The texts of a row by column: opponents change their columns with their places.
function texts(row) {
  const heads = [...(row.closest("table")?.tHead?.rows[0]?.cells ?? [])];
  const name = (index) => heads[index]?.querySelector("abbr")?.title ?? heads[index]?.textContent.trim() ?? index;
  return new Map([...row.cells].map((cell, index) => [name(index), cell]));
}

let waiting = null; // the newest part that waits until somebody has chosen

// A page has one part that follows; an answer may have other elements after it.
function swap(html) {
  for (const fresh of [...parsed(html).children]) put(fresh);
}

function put(fresh) {
  const old = document.getElementById(fresh.id);
  const field = old.contains(document.activeElement) ? document.activeElement : null;
  if (field?.matches("select, input")) { // not while somebody chooses; it comes with the next event
    if (!waiting) field.addEventListener("blur", () => { show(...waiting); waiting = null; }, { once: true });
    waiting = [old, fresh];
    return;
  }
  show(old, fresh);
}

function show(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const before = named(old, "key");
  const places = new Map([...before].map(([key, row]) => [key, row.getBoundingClientRect().top]));
  const cells = new Map([...before].map(([key, row]) => [key, texts(row)]));
  const boards = named(old, "game");
  const scrolled = [...old.querySelectorAll(".tablebox")].map((box) => box.scrollLeft);
  old.replaceWith(fresh);
  fresh.querySelectorAll(".tablebox").forEach((box, index) => { box.scrollLeft = scrolled[index] ?? 0; });
  again(fresh, focused)?.focus({ preventScroll: true });
  if (!still.matches) animate(fresh, places, cells, boards);
  document.dispatchEvent(new CustomEvent("part:shown"));
}

// The element of the new part that had the focus in the old one.
function again(part, focused) {
  if (!focused) return null;
  if (focused.id) return document.getElementById(focused.id);
  return [...part.querySelectorAll("a[href]")].find((link) => link.href === focused.href);
}

function animate(part, places, cells, boards) {
  for (const [key, row] of named(part, "key")) {
    if (!cells.has(key)) {
      if (cells.size) [...row.cells].forEach(mark);
      continue;
    }
    const way = places.get(key) - row.getBoundingClientRect().top;
    const slide = [{ transform: `translateY(${way}px)` }, { transform: "none" }];
    if (way) row.animate(slide, { duration: MOVE_MS, easing: "ease-in-out" });
    for (const [name, cell] of texts(row)) {
      if (cell.textContent.trim() !== cells.get(key).get(name)?.textContent.trim()) mark(cell);
    }
  }
  for (const [game, board] of named(part, "game")) {
    if (Number(board.dataset.plies) === Number(boards.get(game)?.dataset.plies) + 1) animateMove(board);
  }
}

function mark(cell) {
  const colour = getComputedStyle(cell).getPropertyValue("--accent-soft");
  cell.animate([{ backgroundColor: colour }, {}], MARK_MS);
}

const { id } = document.querySelector("[data-follow]:not([data-own])");
follow(() => document.getElementById(id), swap);
