// @ts-check
// Which tasks this browser has solved; nothing is sent to the site.

const KEY = "solved-tasks";

function solved() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch { // no storage, or not ours
    return new Set();
  }
}

/** @param {string} task */
export function addSolved(task) {
  try {
    localStorage.setItem(KEY, JSON.stringify([...solved().add(task)]));
  } catch { // no storage: the mark is lost with the page
  }
  show();
}

function show() {
  const tasks = solved();
  for (const item of document.querySelectorAll("li[data-task]")) {
    /** @type {HTMLElement} */ (item.querySelector("span")).hidden = !tasks.has(item.dataset.task);
  }
}

show();
