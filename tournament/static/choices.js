// The search and the buttons of a field with many choices. Without this script they are hidden.

import { localText, zoneName } from "./times.js";

for (const panel of document.querySelectorAll("[data-choose]")) {
  const field = panel.closest("fieldset");
  const items = [...field.querySelectorAll(".choices > li:has(input)")];
  const boxOf = (item) => item.querySelector("input");
  const search = panel.querySelector("[type=search]");
  const count = () => {
    const chosen = items.filter((item) => boxOf(item).checked).length;
    panel.querySelector("[role=status]").textContent = `${chosen} of ${items.length} selected`;
  };
  const show = () => {
    const text = search.value.trim().toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
  };
  // Choices that the search hides keep their state.
  const onClick = (name, isMeant, value = true) => panel.querySelector(`[${name}]`).addEventListener("click", (event) => {
    const shown = items.filter((item) => !item.hidden);
    shown.filter((item, place) => isMeant(item, place, event.target)).forEach((item) => { boxOf(item).checked = value; });
    field.dispatchEvent(new Event("input", { bubbles: true })); // the estimate follows
  });
  onClick("data-all", () => true);
  onClick("data-none", () => true, false);
  // These two add to the choice, so that "mine against the best" takes two clicks.
  onClick("data-mine", (item, place, button) => item.dataset.owner === button.dataset.mine);
  onClick("data-best", (item, place, button) => place < Number(button.dataset.best)); // the best are first
  search.addEventListener("input", (event) => { event.stopPropagation(); show(); });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  field.addEventListener("input", count);
  addEventListener("pageshow", () => { count(); show(); }); // a browser restores the fields after this script has run
  panel.hidden = items.length === 0;
}

// Below a field that takes UTC, the local time of what is entered.
function explainField(field) {
  const shown = document.createElement("output");
  shown.className = "help";
  field.after(shown);
  const explain = () => {
    const moment = new Date(`${field.value}Z`);
    shown.textContent = Number.isNaN(moment.getTime()) ? "" : `${localText(moment, "full")} ${zoneName(moment)}`;
  };
  field.addEventListener("input", explain);
  explain();
}

document.querySelectorAll("input[data-utc]").forEach(explainField);
