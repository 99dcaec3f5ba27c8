// What the charts compute.

import assert from "node:assert/strict";
import test from "node:test";

import { pointAt, ratingColumns, ratingOf, ratioColumns, rowFor, timeRange } from "../../tournament/static/figures.js";
import { columnOf, secondsIn, shortCount, shortSeconds } from "../../tournament/static/plots.js";

const VERSIONS = [
  { number: 1, points: [[100, 25, 5, 7], [300, 26, 4, 9]] },
  { number: 2, points: [[200, 30, 2, 8], [300, 31, 1, 9]] },
];

test("the seconds of a move are the end of its text", () => {
  assert.deepEqual(secondsIn(["+1.50/9 0.25 s", "12 s", "+0.10", "", undefined, null]), [0.25, 12, null, null, null, null]);
});

test("the column of a side has gaps at the plies of the other", () => {
  assert.deepEqual(columnOf([1, 2, 3], true), [null, 1, null, 3]);
  assert.deepEqual(columnOf([1, 2, 3], false), [null, null, 2, null]);
  assert.deepEqual(columnOf([], true), [null]);
});

test("labels of times and of nodes are short", () => {
  assert.deepEqual([0.1234, 12, 0].map(shortSeconds), ["0.12", "12", "0"]);
  assert.deepEqual([1234, 56_000_000, 0].map(shortCount), ["1.2K", "56M", "0"]);
});

test("all versions share one time axis", () => {
  assert.equal(ratingOf([100, 25, 5, 7]), 10);
  assert.deepEqual(ratingColumns(VERSIONS), [
    [100, 200, 300],
    [10, null, 14], [25, null, 26],
    [null, 24, 28], [null, 30, 31],
  ]);
  assert.deepEqual(ratingColumns([]), [[]]);
});

test("a time leads to the first version with a game at it", () => {
  assert.deepEqual(pointAt(VERSIONS, 200), { version: VERSIONS[1], point: [200, 30, 2, 8] });
  assert.equal(pointAt(VERSIONS, 300).version.number, 1);
  assert.equal(pointAt(VERSIONS, 250), null);
  assert.equal(pointAt([], undefined), null);
});

test("a time axis is a minute wide at least", () => {
  assert.deepEqual(timeRange([1000], -5000, 90000), [970, 1030]);
  assert.deepEqual(timeRange([1000, 1010], 1000, 1010), [975, 1035]);
  assert.deepEqual(timeRange([1000, 2000], 1000, 2000), [1000, 2000]);
});

test("a number has the first row with room, else a new one", () => {
  assert.equal(rowFor([], 5), 0);
  assert.equal(rowFor([10, 4], 5), 1);
  assert.equal(rowFor([10, 8], 5), 2);
});

test("a version test has a line between two bounds", () => {
  assert.deepEqual(ratioColumns({ points: [[2, 0.5], [4, -0.25]], lower: -3, upper: 3 }), [[2, 4], [0.5, -0.25], [-3, -3], [3, 3]]);
});
