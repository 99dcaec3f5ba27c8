// @ts-check
// Times in the visitor's time zone, in the same formats as the server's UTC (moments.py).
//
// Where a form has room, UTC stands beside the local time; elsewhere it is in the tooltip, and the heading of the
// column and the foot of the page name the zone.

export const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
export const PLACE = ZONE.startsWith("Etc/") ? ZONE : ZONE.slice(ZONE.lastIndexOf("/") + 1).replaceAll("_", " ");
/** @typedef {ReturnType<typeof local>} Numbers */

const BESIDE = new Set(["full", "seconds"]); // forms with room for UTC

/** @param {number} number */
export const two = (number) => String(number).padStart(2, "0");

/**
 * The numbers of a moment in the visitor's zone, or in UTC.
 * @param {Date} moment
 */
export const local = (moment) => ({
  year: moment.getFullYear(), month: moment.getMonth(), day: moment.getDate(),
  hour: moment.getHours(), minute: moment.getMinutes(), second: moment.getSeconds(),
});
/** @param {Date} moment */
export const utc = (moment) => ({
  year: moment.getUTCFullYear(), month: moment.getUTCMonth(), day: moment.getUTCDate(),
  hour: moment.getUTCHours(), minute: moment.getUTCMinutes(), second: moment.getUTCSeconds(),
});
/**
 * @param {Numbers} one
 * @param {Numbers} other
 */
const sameDay = (one, other) => one.day === other.day && one.month === other.month && one.year === other.year;

/**
 * @param {Numbers} numbers
 * @param {string} [form]
 */
export const hourText = (numbers, form) =>
  `${two(numbers.hour)}:${two(numbers.minute)}${form === "seconds" ? `:${two(numbers.second)}` : ""}`;

/**
 * @param {Date} moment
 * @param {string} [form]
 */
export function localText(moment, form) {
  const shown = local(moment);
  const year = form === "brief" && shown.year === local(new Date()).year ? "" : ` ${shown.year}`;
  const day = `${shown.day} ${MONTHS[shown.month]}${year}`;
  return form === "day" ? day : `${day} ${hourText(shown, form)}`;
}

/**
 * "CET", or "UTC-5" where the zone has no short name.
 * @param {Date} moment
 */
export function zoneName(moment) {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(moment);
  return parts.find((part) => part.type === "timeZoneName")?.value.replace("GMT", "UTC");
}

/**
 * UTC in parentheses, with its day only if that is another one.
 * @param {Date} moment
 * @param {string} [form]
 */
export function utcText(moment, form) {
  const numbers = utc(moment);
  const day = sameDay(numbers, local(moment)) ? "" : `${numbers.day} ${MONTHS[numbers.month]} `;
  return `(${day}${hourText(numbers, form)} UTC)`;
}

/**
 * A title marks the elements that have been rewritten. It keeps the server's text.
 * @param {HTMLTimeElement} time
 */
function localizeTime(time) {
  const moment = new Date(time.dateTime);
  const { form } = time.dataset;
  if (!moment.getTimezoneOffset()) return; // the visitor's clock shows UTC
  time.title = `${time.textContent}; shown in your time zone, ${ZONE}`;
  time.textContent = localText(moment, form);
  if (BESIDE.has(form ?? "")) {
    const beside = Object.assign(document.createElement("span"), { className: "utc", textContent: utcText(moment, form) });
    time.append(` ${zoneName(moment)} `, beside);
  }
}

/**
 * Names the zone where times stand without it.
 * @param {HTMLElement} element
 */
function nameZone(element) {
  element.textContent = element.dataset.zone === "heading" ? `${PLACE} time` : `Times: ${PLACE} time, ${zoneName(new Date())}`;
  element.title = ZONE;
}

function localize() {
  /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll("time[data-form]:not([title])")).forEach(localizeTime);
  if (ZONE !== "UTC") document.querySelectorAll("[data-zone]:not([title])").forEach(nameZone);
}

localize();
document.addEventListener("part:shown", localize); // new parts of a page that polls
