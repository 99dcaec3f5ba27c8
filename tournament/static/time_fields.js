// @ts-check
// Fields for times, in the visitor's time zone.

import { hourText, local, MONTHS, PLACE, two, utc, ZONE } from "./times.js";

/** @param {import("./times.js").Numbers} numbers */
const fieldText = (numbers) => (
  `${numbers.year}-${two(numbers.month + 1)}-${two(numbers.day)}T${two(numbers.hour)}:${two(numbers.minute)}`);

/**
 * A field of a form takes the visitor's time; a hidden one has its name and sends UTC.
 * @param {HTMLInputElement} field
 */
function localizeField(field) {
  const sent = Object.assign(document.createElement("input"), { type: "hidden", name: field.name, value: field.defaultValue });
  const shown = Object.assign(document.createElement("output"), { className: "help" });
  const stored = new Date(`${field.defaultValue}Z`);
  if (!Number.isNaN(stored.getTime())) field.value = fieldText(local(stored));
  field.removeAttribute("name");
  const label = /** @type {NodeListOf<HTMLLabelElement>} */ (field.labels)[0];
  label.textContent = label.textContent.replace("(UTC)", `(${PLACE} time)`);
  field.after(shown, sent);
  const show = () => {
    const moment = new Date(field.value);
    const numbers = utc(moment);
    const isEmpty = Number.isNaN(moment.getTime());
    sent.value = isEmpty ? "" : fieldText(numbers);
    shown.textContent = isEmpty ? "" : `${numbers.day} ${MONTHS[numbers.month]} ${numbers.year} ${hourText(numbers, "full")} UTC`;
  };
  field.addEventListener("input", show);
  show();
}

/** @type {NodeListOf<HTMLInputElement>} */
const fields = document.querySelectorAll("input[data-utc]");
if (ZONE !== "UTC") fields.forEach(localizeField);
