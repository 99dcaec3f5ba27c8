// Which parts of a move can be entered, for the notations of any game.

import assert from "node:assert/strict";
import test from "node:test";

import { Entered, movesIn } from "../../tournament/static/moves.js";

const CELLS = new Set(["a1", "a2", "b1", "h1", "h10", "j4"]);

/** The entry among the moves that the site has written, with these parts entered. */
function entered(written, ...parts) {
  const entry = new Entered(movesIn(written), CELLS);
  for (const part of parts) assert.ok(entry.add(part), part);
  return entry;
}

test("the site writes the parts and the token of each move", () => {
  assert.deepEqual(movesIn("D.a1.a2/Da1-a2 pass/pass"), [
    { parts: ["D", "a1", "a2"], token: "Da1-a2" }, { parts: ["pass"], token: "pass" },
  ]);
  assert.deepEqual(movesIn(""), []);
});

test("cells of any name and words of any kind are entered", () => {
  const moves = "h10/h10 h1.j4/h1-j4 x2/x2 swap/swap";
  assert.equal(entered(moves, "h10").only().token, "h10");
  assert.equal(entered(moves, "h1", "j4").only().token, "h1-j4");
  assert.equal(entered(moves, "x2").only().token, "x2");
  assert.equal(entered(moves, "swap").only().token, "swap");
  assert.deepEqual([...entered(moves).cells()].sort(), ["h1", "h10"]);
  assert.ok(!entered(moves).isKind("swap"));
});

test("what no legal move goes on with is refused and changes nothing", () => {
  const entry = entered("h1.j4/h1-j4", "h1");
  assert.equal(entry.add("a1"), false);
  assert.deepEqual(entry.parts, ["h1"]);
});

test("a whole move is confirmed where others go on from it", () => {
  const entry = entered("a1/a1 a1.a2/a1:a2 b1/b1", "a1");
  assert.equal(entry.only(), null);
  assert.deepEqual(entry.whole().map(({ token }) => token), ["a1"]);
});

test("moves with the same parts are never chosen for the player", () => {
  const entry = entered("a1.a2/a1-a2 a1.a2/a1:a2", "a1", "a2");
  assert.equal(entry.only(), null);
  assert.deepEqual(entry.whole().map(({ token }) => token), ["a1-a2", "a1:a2"]);
});

test("nothing entered is no whole move", () => {
  assert.deepEqual(entered("").whole(), []);
  assert.equal(entered("").only(), null);
});

test("a cell is entered with the kind that is selected, else with the first", () => {
  const moves = "D.a1.R.b1/Da1:Rb1 R.a1/Ra1 R.a2/Ra2";
  assert.deepEqual(entered(moves, "a1").parts, ["D", "a1"]);
  const entry = entered(moves);
  entry.kind = "R";
  assert.deepEqual([...entry.cells()].sort(), ["a1", "a2"]);
  assert.ok(entry.add("a1"));
  assert.equal(entry.only().token, "Ra1");
});

test("a direction after a cell is no kind", () => {
  const entry = entered("a1.+/a1+ a1.-/a1-", "a1");
  assert.deepEqual([...entry.next()], ["+", "-"]);
  assert.ok(!entry.isKind("+"));
  assert.equal(entry.kindNow(), "");
});

test("a part is taken back with its kind", () => {
  const entry = entered("D.a1.R.b1/Da1:Rb1 D.a1.R.b1.a2/Da1:Rb1-a2", "a1", "b1");
  assert.deepEqual(entry.parts, ["D", "a1", "R", "b1"]);
  assert.ok(entry.undo());
  assert.deepEqual(entry.parts, ["D", "a1"]);
  assert.ok(entry.undo());
  assert.deepEqual(entry.parts, []);
  assert.equal(entry.undo(), false);
});
