// A live game: fetches the headline and the new moves every two seconds while the page is visible.
//
// This is not left to htmx, which would be a quarter of the weight of the page.
// New moves are announced by the event "replay:more" on document, with their chart values.

const PAUSE_MS = 2000;

const headline = () => document.getElementById("headline");

async function poll() {
  const answer = await fetch(headline().dataset.poll, { headers: { "HX-Request": "true" } });
  if (answer.headers.has("HX-Refresh")) location.reload();
  else if (answer.status === 200) add(await answer.text());
}

function add(html) {
  const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
  const values = JSON.parse(content.querySelector("script").textContent);
  headline().replaceWith(content.querySelector("#headline"));
  const list = document.getElementById("move-list");
  const rows = content.querySelector("ol");
  [...rows.children].forEach((row, index) => {
    const shown = list.children[rows.start - 1 + index]; // with one move, and now with both
    if (shown) shown.replaceWith(row);
    else list.append(row);
  });
  document.dispatchEvent(new CustomEvent("replay:more", { detail: values }));
}

async function follow() {
  if (!document.hidden) await poll().catch(() => {}); // the next poll tries again
  setTimeout(follow, PAUSE_MS);
}

setTimeout(follow, PAUSE_MS);
