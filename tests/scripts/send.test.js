// Requests of scripts, and what they say of one that fails.

import assert from "node:assert/strict";
import test from "node:test";

import { answered, request, send, UNREACHABLE } from "../../tournament/static/send.js";

/** Let the site answer with a response, or with nothing; returns the requests that it has received. */
function site(response) {
  const received = [];
  globalThis.fetch = async (address, options) => {
    received.push([address, options]);
    if (!response) throw new TypeError("Failed to fetch");
    return response;
  };
  return received;
}

test("a request asks for a part, and sends a form if there is one", async () => {
  const received = site(new Response("a part"));
  const body = new FormData();
  assert.equal(await send("/here/"), "a part");
  await request("/there/", body);
  assert.deepEqual(received.map(([address, { method }]) => [address, method]), [["/here/", "GET"], ["/there/", "POST"]]);
  assert.ok(received.every(([, { headers }]) => headers["X-Part"] === "true"));
  assert.equal(received[1][1].body, body);
});

test("the site's own sentence is said of a bad request", async () => {
  site(new Response("The move is not legal.", { status: 400 }));
  await assert.rejects(send("/"), { message: "The move is not legal." });
});

test("an error of the site is said by its status, and no page of it", async () => {
  site(new Response("<html>", { status: 503 }));
  await assert.rejects(send("/"), { message: answered(503) });
  assert.equal((await request("/")).status, 503);
});

test("a site that cannot be reached is said in a sentence", async () => {
  site(null);
  await assert.rejects(send("/"), { message: UNREACHABLE });
  await assert.rejects(request("/"), { message: UNREACHABLE });
});
