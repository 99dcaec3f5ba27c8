// @ts-check
// Behaviour of every page: buttons copy texts, and parts follow what they show.

if (document.querySelector("[data-follow]:not([data-own])")) import("./parts.js");

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = /** @type {HTMLInputElement} */ (document.getElementById(/** @type {string} */ (button.dataset.copy)));
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
  if (event.defaultPrevented || event.target.method !== "get") return;
  const empty = [.../** @type {Iterable<HTMLInputElement>} */ (event.target.elements)].filter((field) => field.name && !field.value);
  empty.forEach((field) => { field.disabled = true; });
  addEventListener("pageshow", () => empty.forEach((field) => { field.disabled = false; }), { once: true });
});
