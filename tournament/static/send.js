// @ts-check
// Requests of scripts for parts of pages, and what is said of one that fails.

export const PART = "X-Part"; // the header of such a request
export const UNREACHABLE = "The site cannot be reached: try again.";

/** @param {number} status of an answer that is no success */
export const answered = (status) => `The site answered ${status}.`;

/**
 * The answer of the site, whatever its status. Throws an `Error` with a sentence if there is none.
 * @param {string} address
 * @param {FormData} [body] makes it a POST
 */
export function request(address, body) {
  return fetch(address, { method: body ? "POST" : "GET", body, headers: { [PART]: "true" } }).catch(() => {
    throw new Error(UNREACHABLE);
  });
}

/**
 * The text of the answer. Throws an `Error` with a sentence if it is no success; that of status 400 is the site's own.
 * @param {string} address
 * @param {FormData} [body] makes it a POST
 */
export async function send(address, body) {
  const answer = await request(address, body);
  const text = await answer.text();
  if (!answer.ok) throw new Error(answer.status === 400 ? text : answered(answer.status));
  return text;
}
