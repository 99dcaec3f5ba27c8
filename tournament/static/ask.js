// @ts-check
// What the site answers while a form is filled in: the estimate for a tournament, and suggestions for a field.

import { send } from "./send.js";

/**
 * Calls `ask` a while after each input, and gives the last text to `show`.
 * @param {HTMLElement} source
 * @param {number} waitMs
 * @param {() => Promise<string>} ask
 * @param {(html: string) => void} show
 */
function answer(source, waitMs, ask, show) {
  let timer = 0;
  let asked = 0;
  const update = async () => {
    const number = (asked += 1);
    const text = await ask().catch(() => null);
    if (text !== null && number === asked) show(text);
  };
  source.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, waitMs);
  });
  return update;
}

for (const estimate of document.querySelectorAll("[data-estimate]")) {
  const form = /** @type {HTMLFormElement} */ (estimate.closest("form"));
  const ask = () => send(estimate.dataset.estimate ?? "", new FormData(form));
  answer(form, 300, ask, (html) => { estimate.innerHTML = html; })(); // the browser may have restored the fields
}

for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("[data-suggest]"))) {
  const ask = () => send(`${field.dataset.suggest}?${new URLSearchParams({ [field.name]: field.value })}`);
  answer(field, 150, ask, (html) => { if (field.list) field.list.innerHTML = html; });
}
