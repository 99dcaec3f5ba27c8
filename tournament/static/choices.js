// The buttons that choose all or none of a field's choices. Without this script they are hidden.

import { localText, zoneName } from "./times.js";

for (const panel of document.querySelectorAll("[data-choose]")) {
  const field = panel.closest("fieldset");
  const boxes = [...field.querySelectorAll("input[type=checkbox]")];
  const count = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    panel.querySelector("[role=status]").textContent = `${chosen} of ${boxes.length} selected`;
  };
  const choose = (checked) => {
    boxes.forEach((box) => { box.checked = checked; });
    field.dispatchEvent(new Event("input", { bubbles: true })); // the estimate follows
  };
  panel.querySelector("[data-all]").addEventListener("click", () => choose(true));
  panel.querySelector("[data-none]").addEventListener("click", () => choose(false));
  field.addEventListener("input", count);
  addEventListener("pageshow", count); // a browser restores the boxes after this script has run
  panel.hidden = boxes.length === 0;
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
