// Times in the visitor's time zone, in the same formats as the server's UTC (moments.py), and in fields of forms.
//
// Where a form has room, UTC stands beside the local time; elsewhere it is in the tooltip, and the heading of the
// column and the foot of the page name the zone.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const PLACE = ZONE.startsWith("Etc/") ? ZONE : ZONE.split("/").pop().replaceAll("_", " ");
const BESIDE = new Set(["full", "seconds"]); // forms with room for UTC

const two = (number) => String(number).padStart(2, "0");

// The numbers of a moment in the visitor's zone, or in UTC.
const local = (moment) => ({
  year: moment.getFullYear(), month: moment.getMonth(), day: moment.getDate(),
  hour: moment.getHours(), minute: moment.getMinutes(), second: moment.getSeconds(),
});
const utc = (moment) => ({
  year: moment.getUTCFullYear(), month: moment.getUTCMonth(), day: moment.getUTCDate(),
  hour: moment.getUTCHours(), minute: moment.getUTCMinutes(), second: moment.getUTCSeconds(),
});
const sameDay = (one, other) => one.day === other.day && one.month === other.month && one.year === other.year;

const hourText = (numbers, form) =>
  `${two(numbers.hour)}:${two(numbers.minute)}${form === "seconds" ? `:${two(numbers.second)}` : ""}`;

export function localText(moment, form) {
  const shown = local(moment);
  const year = form === "brief" && shown.year === local(new Date()).year ? "" : ` ${shown.year}`;
  const day = `${shown.day} ${MONTHS[shown.month]}${year}`;
  return form === "day" ? day : `${day} ${hourText(shown, form)}`;
}

// "CET", or "UTC-5" where the zone has no short name.
function zoneName(moment) {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(moment);
  return parts.find((part) => part.type === "timeZoneName").value.replace("GMT", "UTC");
}

// UTC in parentheses, with its day only if that is another one.
function utcBeside(moment, form) {
  const numbers = utc(moment);
  const day = sameDay(numbers, local(moment)) ? "" : `${numbers.day} ${MONTHS[numbers.month]} `;
  const beside = document.createElement("span");
  beside.className = "utc";
  beside.textContent = `(${day}${hourText(numbers, form)} UTC)`;
  return beside;
}

// A title marks the elements that have been rewritten. It keeps the server's text.
function localizeTime(time) {
  const moment = new Date(time.dateTime);
  const { form } = time.dataset;
  if (!moment.getTimezoneOffset()) return; // the visitor's clock shows UTC
  time.title = `${time.textContent}; shown in your time zone, ${ZONE}`;
  time.textContent = localText(moment, form);
  if (BESIDE.has(form)) time.append(` ${zoneName(moment)} `, utcBeside(moment, form));
}

// Names the zone where times stand without it.
function nameZone(element) {
  element.textContent = element.dataset.zone === "heading" ? `${PLACE} time` : `Times: ${PLACE} time, ${zoneName(new Date())}`;
  element.title = ZONE;
}

const fieldText = (numbers) => (
  `${numbers.year}-${two(numbers.month + 1)}-${two(numbers.day)}T${two(numbers.hour)}:${two(numbers.minute)}`);

// A field of a form takes the visitor's time; a hidden one has its name and sends UTC.
function localizeField(field) {
  const sent = Object.assign(document.createElement("input"), { type: "hidden", name: field.name, value: field.defaultValue });
  const shown = Object.assign(document.createElement("output"), { className: "help" });
  const stored = new Date(`${field.defaultValue}Z`);
  if (!Number.isNaN(stored.getTime())) field.value = fieldText(local(stored));
  field.removeAttribute("name");
  field.labels[0].textContent = field.labels[0].textContent.replace("(UTC)", `(${PLACE} time)`);
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

function localize() {
  document.querySelectorAll("time[data-form]:not([title])").forEach(localizeTime);
  if (ZONE !== "UTC") document.querySelectorAll("[data-zone]:not([title])").forEach(nameZone);
}

localize();
if (ZONE !== "UTC") document.querySelectorAll("input[data-utc]").forEach(localizeField);
document.addEventListener("part:shown", localize); // new parts of a page that polls
