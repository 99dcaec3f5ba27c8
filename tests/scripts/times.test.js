// Times in the visitor's zone, and clocks.

import assert from "node:assert/strict";
import test, { mock } from "node:test";

process.env.TZ = "America/New_York";
globalThis.document = { querySelector: () => null, querySelectorAll: () => [], addEventListener() {} };
mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.UTC(2026, 5, 1) });
const { localText, utcText, zoneName } = await import("../../tournament/static/times.js");
const { clockText } = await import("../../tournament/static/clock.js");

const EVENING = new Date(Date.UTC(2026, 0, 2, 3, 4, 5)); // 1 January in New York

test("each form of a time is in the visitor's zone", () => {
  assert.equal(localText(EVENING, "full"), "1 Jan 2026 22:04");
  assert.equal(localText(EVENING, "seconds"), "1 Jan 2026 22:04:05");
  assert.equal(localText(EVENING, "day"), "1 Jan 2026");
});

test("a brief time has its year only if that is another one", () => {
  assert.equal(localText(EVENING, "brief"), "1 Jan 22:04");
  assert.equal(localText(new Date(Date.UTC(2025, 5, 1, 12)), "brief"), "1 Jun 2025 08:00");
});

test("UTC beside a time has its day only if that is another one", () => {
  assert.equal(utcText(EVENING, "full"), "(2 Jan 03:04 UTC)");
  assert.equal(utcText(new Date(Date.UTC(2026, 0, 2, 15, 4, 5)), "seconds"), "(15:04:05 UTC)");
});

test("a zone has a short name, which changes with the season", () => {
  assert.equal(zoneName(EVENING), "UTC-5");
  assert.equal(zoneName(new Date(Date.UTC(2026, 6, 1))), "UTC-4");
});

test("a clock shows tenths below twenty seconds, and hours above sixty minutes", () => {
  assert.deepEqual([0, 19_999, 20_000, 61_000, 3_599_999, 3_600_000].map(clockText), ["0:00.0", "0:19.9", "0:20", "1:01", "59:59", "1:00:00"]);
});
