// Behaviour of every page: polling pauses while the page is hidden, and buttons copy texts.

// The site's CSP forbids evaluated code, so htmx's own `every 3s [condition]` is not available.
document.addEventListener("htmx:beforeRequest", (event) => {
  const polls = (event.target.getAttribute("hx-trigger") || "").startsWith("every");
  if (polls && document.hidden) event.preventDefault();
});

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
