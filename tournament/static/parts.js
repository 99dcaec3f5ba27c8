// @ts-check
// Parts of pages that follow what they show, except those with a script of their own (data-own).
//
// A new part takes the place of the old one, except a form that somebody fills in: rows move to their new places, and
// changed cells are marked for a moment, unless the system asks for less motion. Events on document: "part:shown" after
// each.

import { follow, parsed } from "./follow.js";
import { animateMove, still } from "./shown.js";

const MOVE_MS = 600;
const MARK_MS = 2500;

/**
 * @param {HTMLElement} part
 * @param {string} name
 */
const named = (part, name) => new Map([.../** @type {NodeListOf<HTMLTableRowElement>} */ (part.querySelectorAll(`[data-${name}]`))].map((one) => [one.dataset[name] ?? "", one]));

/**
 * The texts of a row by column: opponents change their columns with their places.
 * @param {HTMLTableRowElement} row
 * @returns {Map<string | number, HTMLElement>}
 */
function texts(row) {
  const heads = [...(row.closest("table")?.tHead?.rows[0]?.cells ?? [])];
  const name = (/** @type {number} */ index) => heads[index]?.querySelector("abbr")?.title ?? heads[index]?.textContent.trim() ?? index;
  return new Map([...row.cells].map((cell, index) => [name(index), cell]));
}

/**
 * A page has one part that follows; an answer may have other elements after it.
 * @param {string} html
 */
function swap(html) {
  for (const fresh of [...parsed(html).children]) show(/** @type {HTMLElement} */ (document.getElementById(fresh.id)), /** @type {HTMLElement} */ (fresh));
}

/**
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh
 */
function show(old, fresh) {
  const focused = old.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
  const before = named(old, "key");
  const places = new Map([...before].map(([key, row]) => [key, row.getBoundingClientRect().top]));
  const cells = new Map([...before].map(([key, row]) => [key, texts(row)]));
  const boards = named(old, "game");
  const scrolled = [...old.querySelectorAll(".tablebox")].map((box) => box.scrollLeft);
  const opened = [...old.querySelectorAll("details[id][open]")];
  const part = replace(old, fresh);
  for (const { id } of opened) document.getElementById(id)?.setAttribute("open", "");
  part.querySelectorAll(".tablebox").forEach((box, index) => { box.scrollLeft = scrolled[index] ?? 0; });
  if (!focused?.isConnected) again(part, focused)?.focus({ preventScroll: true });
  if (!still.matches) animate(part, places, cells, boards);
  document.dispatchEvent(new CustomEvent("part:shown"));
}

/**
 * Shows the new part and returns what is on the page. A form that somebody fills in stays as it is.
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh
 */
function replace(old, fresh) {
  const form = [...old.querySelectorAll("form")].find(isUsed);
  const action = form?.getAttribute("action");
  const twin = form && [...fresh.querySelectorAll("form")].find((one) => one.getAttribute("action") === action);
  if (twin) replaceAround(form, twin, old, fresh);
  else old.replaceWith(fresh);
  return twin ? old : fresh;
}

/** @param {HTMLElement} form */
function isUsed(form) {
  const { activeElement } = document;
  const isChanged = (/** @type {HTMLSelectElement} */ { options, value }) => (
    value !== ([...options].find((option) => option.defaultSelected) ?? options[0])?.value);
  return (form.contains(activeElement) && activeElement?.matches("select, input"))
    || [...form.querySelectorAll("select")].some(isChanged);
}

/**
 * Gives `old` the attributes and the content of `fresh`, but `kept` stays in the place of its `twin`.
 * @param {Element} kept
 * @param {Element} twin
 * @param {Element} old
 * @param {Element} fresh
 */
function replaceAround(kept, twin, old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
  const [inner, other] = [[old, kept], [fresh, twin]].map(([one, within]) => (
    /** @type {Element} */ ([...one.children].find((child) => child.contains(within)))));
  for (const node of [...old.childNodes]) if (node !== inner) node.remove();
  const nodes = [...fresh.childNodes];
  const at = nodes.indexOf(other);
  inner.before(...nodes.slice(0, at));
  inner.after(...nodes.slice(at + 1));
  if (inner !== kept && other !== twin) replaceAround(kept, twin, inner, other);
}

/**
 * The element of the new part that had the focus in the old one.
 * @param {HTMLElement} part
 * @param {HTMLElement | null} focused
 */
function again(part, focused) {
  if (!focused) return null;
  if (focused.id) return document.getElementById(focused.id);
  const asks = focused.closest("details[id]");
  if (asks) return document.getElementById(asks.id)?.querySelector(focused.localName);
  return part.querySelector(`a[href="${CSS.escape(focused.getAttribute("href") ?? "")}"]`);
}

/**
 * @param {HTMLElement} part
 * @param {Map<string, number>} places
 * @param {Map<string, Map<string | number, HTMLElement>>} cells
 * @param {Map<string, HTMLElement>} boards
 */
function animate(part, places, cells, boards) {
  for (const [key, row] of named(part, "key")) {
    if (!cells.has(key)) {
      if (cells.size) [...row.cells].forEach(mark);
      continue;
    }
    const way = (places.get(key) ?? 0) - row.getBoundingClientRect().top;
    const slide = [{ transform: `translateY(${way}px)` }, { transform: "none" }];
    if (way) row.animate(slide, { duration: MOVE_MS, easing: "ease-in-out" });
    for (const [name, cell] of texts(row)) {
      if (cell.textContent.trim() !== cells.get(key)?.get(name)?.textContent.trim()) mark(cell);
    }
  }
  for (const [game, board] of named(part, "game")) {
    if (Number(board.dataset.plies) === Number(boards.get(game)?.dataset.plies) + 1) animateMove(board);
  }
}

/** @param {HTMLElement} cell */
function mark(cell) {
  const colour = getComputedStyle(cell).getPropertyValue("--accent-soft");
  cell.animate([{ backgroundColor: colour }, {}], MARK_MS);
}

const { id } = document.querySelector("[data-follow]:not([data-own])");
follow(() => document.getElementById(id), swap);
