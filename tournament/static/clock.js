// @ts-check
// The time of the side to move in a live game: it runs on from the server's value, on every page with such a time.
// A clock counts down; the time that a move has taken (data-up) counts up.

import { two } from "./times.js";

const begun = new WeakMap(); // time -> when it had the server's value

setInterval(() => {
  for (const time of document.querySelectorAll("[data-tick]")) {
    if (!begun.has(time)) begun.set(time, performance.now());
    const passed = performance.now() - begun.get(time);
    const ms = Number(time.dataset.tick) + ("up" in time.dataset ? passed : -passed);
    time.textContent = clockText(Math.max(0, ms));
  }
}, 200);

/** @param {number} ms */
export function clockText(ms) {
  const seconds = Math.floor(ms / 1000);
  const tenths = ms < 20000 ? `.${Math.floor((ms % 1000) / 100)}` : "";
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${minutes}:${two(seconds % 60)}${tenths}`;
}
