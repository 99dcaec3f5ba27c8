// Times in the visitor's time zone. The server writes UTC, in the same formats (moments.py).

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const two = (number) => String(number).padStart(2, "0");

export function localText(moment, form) {
  const now = new Date();
  const year = form === "brief" && moment.getFullYear() === now.getFullYear() ? "" : ` ${moment.getFullYear()}`;
  const day = `${moment.getDate()} ${MONTHS[moment.getMonth()]}${year}`;
  if (form === "day") return day;
  const seconds = form === "seconds" ? `:${two(moment.getSeconds())}` : "";
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}${seconds}`;
}

// A title marks the elements that have been rewritten. It keeps the server's text.
function localize() {
  for (const time of document.querySelectorAll("time[data-form]:not([title])")) {
    const moment = new Date(time.dateTime);
    if (!moment.getTimezoneOffset()) continue; // the visitor's clock shows UTC
    time.title = `${time.textContent}; shown in your time zone, ${ZONE}`;
    time.textContent = localText(moment, time.dataset.form);
  }
}

localize();
document.addEventListener("htmx:load", localize); // new parts of a page that polls
