// @ts-check
// The part of a page that follows what it shows: an element with the address of its next state (data-follow).
//
// The address gives a stream of server-sent events while the page is visible. Where events do not pass, as through
// some proxies, and where the browser has enough streams already, it is polled. Either answer is the part as it is
// now; at its end it has no address any more.

import { request } from "./send.js";

const POLL_MS = 2000;
const HELLO_MS = 8000; // a stream that says nothing for so long after its start is given up
const SILENT_MS = 45000; // the server says something every 15 seconds
const AGAIN_MS = 60000; // after so long of polling a stream is tried again
// A browser has six connections to a site for all of its windows, so only so many may be streams.
const STREAMS = ["stream-1", "stream-2"];
const KEPT_MS = 4 * POLL_MS; // a window that has not renewed its claim for so long is gone
const own = `${Math.random()}`;

/**
 * The owner of a stream of this browser, while its claim lasts. Throws where the page may store nothing.
 * @param {string} stream
 */
function owner(stream) {
  const [name, until] = (localStorage.getItem(stream) ?? "").split(" ");
  return Number(until) > Date.now() ? name : "";
}

// Claims a stream for this page, or renews the claim. Two pages may claim one at once: the next tick shows who has it.
function claim() {
  try {
    const stream = STREAMS.find((one) => owner(one) === own) ?? STREAMS.find((one) => !owner(one));
    if (stream) localStorage.setItem(stream, `${own} ${Date.now() + KEPT_MS}`);
    return Boolean(stream);
  } catch {
    return false;
  }
}

function release() {
  try {
    STREAMS.filter((one) => owner(one) === own).forEach((one) => localStorage.removeItem(one));
  } catch {
    // there was no claim
  }
}

/**
 * The elements of an answer.
 * @param {string} html
 */
export const parsed = (html) => Object.assign(document.createElement("template"), { innerHTML: html }).content;

/**
 * `find` gives the element, `apply` shows an answer. Returns a function to call when the element has another address.
 * @param {() => HTMLElement | null} find
 * @param {(html: string) => void} apply
 */
export function follow(find, apply) {
  /** @type {EventSource | null} */
  let source = null;
  let isHeard = false;
  let heardAt = 0; // or begun, or broken
  let begunAt = -AGAIN_MS;
  let isPolling = false;
  const address = () => find()?.dataset.follow;

  function hear() {
    isHeard = true;
    heardAt = performance.now();
  }

  function close() {
    source?.close();
    source = null;
    release();
  }

  function open() {
    isHeard = false;
    begunAt = heardAt = performance.now();
    source = new EventSource(/** @type {string} */ (address()));
    for (const name of ["hello", "beat"]) source.addEventListener(name, hear);
    source.addEventListener("reload", () => location.reload());
    source.addEventListener("message", (event) => {
      hear();
      apply(event.data);
      if (!address()) close();
    });
    source.addEventListener("error", () => { // the browser tries again, unless the answer was no stream
      if (isHeard) heardAt = performance.now();
      isHeard = false;
      if (source?.readyState === EventSource.CLOSED) close();
    });
  }

  async function poll() {
    isPolling = true;
    const asked = /** @type {string} */ (address());
    try {
      const answer = await request(asked);
      const html = await answer.text();
      if (answer.headers.has("X-Reload")) location.reload();
      else if (answer.status === 200 && asked === address()) apply(html); // else a stream was faster
    } catch {
      // the next poll tries again
    }
    isPolling = false;
  }

  function tick() {
    if (!address() || document.hidden) return close();
    const now = performance.now();
    if (source && claim() && now - heardAt < (isHeard ? SILENT_MS : HELLO_MS)) return;
    close();
    if (window.EventSource && now - begunAt >= AGAIN_MS && claim()) open();
    else if (!isPolling) poll();
  }

  function begin() {
    close();
    begunAt = -AGAIN_MS;
    tick();
  }

  setInterval(tick, POLL_MS);
  document.addEventListener("visibilitychange", begin);
  addEventListener("pagehide", close);
  if (window.EventSource) tick(); // the page is new, so that a poll would find nothing
  return begin;
}
