// Behaviour of every page: parts follow what they show, and buttons copy texts.
//
// A new part takes the place of the old one: rows move to their new places, and changed cells are marked for a moment,
// unless the system asks for less motion. Events on document: "part:shown" after each.

import { follow } from "./follow.js";

const MOVE_MS = 600;
const MARK_MS = 2000;
const still = matchMedia("(prefers-reduced-motion: reduce)");

const rows = (part) => new Map([...part.querySelectorAll("[data-key]")].map((row) => [row.dataset.key, row]));

function swap(html) {
  const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
  const fresh = content.firstElementChild;
  const old = document.getElementById(fresh.id);
  const field = old.contains(document.activeElement) ? document.activeElement : null;
  if (field?.matches("select, input")) { // not while somebody chooses; it comes with the next event
    field.addEventListener("blur", () => show(old, fresh), { once: true });
    return;
  }
  show(old, fresh);
}

function show(old, fresh) {
  if (!old.isConnected) return; // a newer one is shown
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const before = rows(old);
  const places = new Map([...before].map(([key, row]) => [key, row.getBoundingClientRect().top]));
  const scrolled = [...old.querySelectorAll(".tablebox")].map((box) => box.scrollLeft);
  old.replaceWith(fresh);
  fresh.querySelectorAll(".tablebox").forEach((box, index) => { box.scrollLeft = scrolled[index] ?? 0; });
  again(fresh, focused)?.focus({ preventScroll: true });
  if (!still.matches) animate(fresh, before, places);
  document.dispatchEvent(new CustomEvent("part:shown"));
}

// The element of the new part that had the focus in the old one.
function again(part, focused) {
  if (!focused) return null;
  if (focused.id) return document.getElementById(focused.id);
  return [...part.querySelectorAll("a[href]")].find((link) => link.href === focused.href);
}

function animate(part, before, places) {
  for (const [key, row] of rows(part)) {
    const old = before.get(key);
    if (!old) continue;
    const way = places.get(key) - row.getBoundingClientRect().top;
    const slide = [{ transform: `translateY(${way}px)` }, { transform: "none" }];
    if (way) row.animate(slide, { duration: MOVE_MS, easing: "ease-in-out" });
    [...row.children].forEach((cell, index) => {
      if (cell.textContent.trim() !== old.children[index]?.textContent.trim()) mark(cell);
    });
  }
}

function mark(cell) {
  const colour = getComputedStyle(cell).getPropertyValue("--marked");
  cell.animate([{ backgroundColor: colour }, { backgroundColor: "transparent" }], MARK_MS);
}

for (const part of document.querySelectorAll("[data-follow]:not([data-own])")) {
  follow(() => document.getElementById(part.id), swap);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    document.execCommand("copy"); // a site without https has no clipboard API
  }
  button.focus({ preventScroll: true }); // in the field, keys would only move the caret
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});

// Empty filters would only make the address of a list longer.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "get") return;
  const empty = [...event.target.elements].filter((field) => field.name && !field.value);
  empty.forEach((field) => { field.disabled = true; });
  addEventListener("pageshow", () => empty.forEach((field) => { field.disabled = false; }), { once: true });
});
