// @ts-check
// The chart below a replay's board: what both engines and an analysis expect, and time or nodes, in step with the board.
//
// The values are part of the page (#chart-values), as chart.py describes them; in a live game more come with every new
// move. The times are those of the list of moves. uPlot draws them. Events on document: "replay:shown" {ply} moves the marker, "replay:more" {values} appends
// plies, and a click sends "replay:show" {ply}.

import {
  axisOptions, colourOf, columnOf, drawVertical, loadPlots, onSchemeChange, secondsIn, shortCount, shortSeconds,
} from "./plots.js";

/**
 * What one plot draws: uPlot's options of its axis, its scale and its lines, and columns beside those of the sides.
 * @typedef {object} Drawn
 * @property {object} axis
 * @property {object} scale
 * @property {object} white
 * @property {object} black
 * @property {object[]} [others]
 * @property {(number | null)[][]} [columns]
 */

/** @type {("score" | "nodes")[]} */
const SERIES = ["score", "nodes"];
const HEIGHTS = { scores: 190, effort: 130 };
const AXIS = 46; // pixels for the numbers at the left, the same in both plots
const LABEL = { labelSize: 18, labelGap: 2, labelFont: "12px system-ui, sans-serif" };
/** @type {Record<number, string>} */
const POINTS = { 0: "0", 25: "¼", 50: "½", 75: "¾", 100: "1" };

const section = document.getElementById("chart");
/** @type {ChartValues} */
const values = JSON.parse(document.getElementById("chart-values").textContent);
const readout = section.querySelector("[data-readout]");
let ply = Number(document.getElementById("board").dataset.ply);
/** @type {"time" | "nodes"} */
let effort = "time";
/** @type {Plot[]} */
let plots = [];

function readTimes() {
  values.time = secondsIn([...document.querySelectorAll("#move-list a")].map((link) => link.querySelector("small")?.textContent));
}

const plies = () => [...Array(values.score.length + 1).keys()]; // 0 is the start
/** @param {"score" | "nodes" | "time"} name */
const has = (name) => values[name].some((value) => value !== null);
const hasScores = () => has("score") || Boolean(values.analysis);

const colour = colourOf(section);
/** @param {"scores" | "effort"} kind */
const boxOf = (kind) => /** @type {HTMLElement} */ (section.querySelector(`[data-plot="${kind}"]`));

/** @param {Plot} plot */
const marker = (plot) => {
  for (const point of values.points ?? []) drawVertical(plot, point, colour("--focus"), { dash: [2, 3] });
  drawVertical(plot, ply, colour("--accent"), { width: 2 });
};

/**
 * @param {"scores" | "effort"} kind
 * @param {Drawn} more
 */
function options(kind, more) {
  const axis = axisOptions(colour);
  const most = Math.max(1, values.score.length) + 0.5; // the last bar is whole
  return {
    width: boxOf(kind).clientWidth,
    height: HEIGHTS[kind],
    legend: { show: false },
    cursor: { sync: { key: "replay" }, drag: { setScale: false, x: false, y: false }, y: false, points: { size: 6 } },
    hooks: { draw: [marker], setCursor: [(/** @type {Plot} */ plot) => read(plot.cursor.idx)] },
    axes: [
      { ...axis, ...LABEL, size: 26, incrs: [1, 2, 5, 10, 20, 50, 100, 200], label: "Ply" },
      { ...axis, ...LABEL, size: AXIS, ...more.axis },
    ],
    scales: { x: { time: false, range: () => [0, most] }, y: more.scale },
    series: [
      {},
      { stroke: colour("--chart-white"), ...more.white },
      { stroke: colour("--chart-black"), ...more.black },
      ...(more.others ?? []),
    ],
  };
}

/**
 * @param {"scores" | "effort"} kind
 * @param {Drawn} more
 * @param {"score" | "nodes" | "time"} name
 */
function draw(kind, more, name) {
    const columns = [plies(), ...["white", "black"].map((side) => columnOf(values[name], side === values.first)), ...(more.columns ?? [])];
  const plot = new uPlot(options(kind, more), columns, boxOf(kind));
  plot.over.addEventListener("click", () => {
    if (plot.cursor.idx !== null) document.dispatchEvent(new CustomEvent("replay:show", { detail: plot.cursor.idx }));
  });
  plots.push(plot);
}

function build() {
  if (!window.uPlot) return;
  plots.forEach((plot) => plot.destroy());
  plots = [];
  const line = { width: 2, spanGaps: true, points: { size: 4 } };
  if (hasScores()) {
    const numbers = (/** @type {Plot} */ _, /** @type {number[]} */ splits) => splits.map((split) => POINTS[split]);
    const axis = { label: "White's points", splits: () => [0, 25, 50, 75, 100], values: numbers };
    const columns = values.analysis ? [values.analysis] : [];
    const others = columns.map(() => ({ ...line, stroke: colour("--text"), width: 3, points: { show: false } }));
    const drawn = { axis, scale: { range: [-2, 102] }, white: line, black: { ...line, dash: [6, 3] }, others, columns };
    draw("scores", drawn, "score");
  }
  if (has(effort)) {
    const paths = uPlot.paths.bars({ size: [0.8, 12] });
    const [white, black] = ["white", "black"].map((side) => ({ paths, fill: colour(`--chart-${side}`), points: { show: false } }));
    const label = effort === "time" ? "Seconds" : "Nodes";
    const axis = { label, splits: (/** @type {Plot} */ plot) => [0, plot.scales.y.max], values: (/** @type {Plot} */ _, /** @type {number[]} */ splits) => splits.map(effort === "time" ? shortSeconds : shortCount) };
    draw("effort", { axis, scale: { range: (/** @type {number[]} */ ...[, , high]) => [0, high || 1] }, white, black }, effort);
  }
}

/**
 * The text of the move list for the ply under the pointer, else for the ply on the board.
 * @param {number | null | undefined} at
 */
function read(at) {
  const shown = at === null || at === undefined ? ply : at;
  const link = document.querySelector(`#move-list a[data-ply="${shown}"]`);
  const said = link ? `: ${[...link.children].map((part) => part.textContent).join(" ")}` : "";
  readout.textContent = shown ? `Ply ${shown}${said}` : "The start";
}

document.addEventListener("replay:shown", (event) => {
  ply = event.detail;
  plots.forEach((plot) => plot.redraw(false));
  read(null);
});

document.addEventListener("replay:more", (event) => {
  const more = event.detail.values;
  for (const name of SERIES) values[name].splice(more.since, Infinity, ...more[name]);
  readTimes();
  values.points = more.points ?? values.points;
  reveal();
  showNodes();
  build();
});

document.addEventListener("replay:analysed", (event) => {
  values.analysis = event.detail;
  section.querySelector(".key.analysis").hidden = false;
  reveal();
  build();
});

section.addEventListener("click", (event) => {
  const button = event.target.closest("[data-effort]");
  if (!button) return;
  effort = button.dataset.effort === "nodes" ? "nodes" : "time";
  section.querySelectorAll("[data-effort]").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
  build();
});

function showNodes() {
  section.querySelector('[data-effort="nodes"]').hidden = !has("nodes");
}

// Hidden until there is a value to draw: a game that waits has none.
function reveal() {
  if (!section.hidden || !(hasScores() || has("time") || has("nodes"))) return;
  section.hidden = false;
  onSchemeChange(build);
  loadPlots(section).then(() => new ResizeObserver(() => build()).observe(section));
}

readTimes();
reveal();
showNodes();
read(null);
