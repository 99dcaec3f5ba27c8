// @ts-check
// The chart of a version test: its log-likelihood ratio by games, between the two bounds.
//
// The points are fetched when the page is opened, and again when polling has brought new pairs.

import { ratioColumns } from "./figures.js";
import { axisOptions, colourOf, loadPlots, onSchemeChange } from "./plots.js";

const HEIGHT = 220;

const section = document.getElementById("ratios");
const box = section.querySelector("[data-plot]");
const readout = section.querySelector("[data-readout]");
/** @type {Plot | null} */
let plot = null;
/** @type {{ points: [number, number][], lower: number, upper: number } | null} */
let data = null;
/** @type {string | undefined} */
let shown;

const colour = colourOf(section);

function draw() {
  plot?.destroy();
  plot = null;
  if (!window.uPlot || data === null || data.points.length < 2) return;
  const axis = axisOptions(colour);
  /** @param {string} stroke */
  const bound = (stroke) => ({ stroke, width: 1, dash: [6, 4], points: { show: false } });
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, y: false },
    hooks: { setCursor: [(/** @type {Plot} */ chart) => read(chart.cursor.idx)] },
    scales: { x: { time: false } },
    axes: [{ ...axis, size: 30 }, { ...axis, size: 40 }],
    series: [
      {},
      { stroke: colour("--accent"), width: 2, points: { show: false } },
      bound(colour("--loss")),
      bound(colour("--win")),
    ],
  };
  plot = new uPlot(options, ratioColumns(data), box);
}

/** @param {number | null | undefined} index */
function read(index) {
  const point = index === null || index === undefined ? null : data?.points[index];
  readout.textContent = point
    ? `After ${point[0]} games: ${point[1].toFixed(2)}`
    : "The dashed lines are the bounds of H0 (below) and H1 (above).";
}

async function load() {
  const counted = document.getElementById("live").dataset.counted;
  if (counted === shown) return;
  const response = await fetch(section.dataset.ratios ?? "");
  if (!response.ok) return;
  shown = counted;
  data = await response.json();
  section.hidden = !data || data.points.length < 2;
  read(null);
  draw();
}

document.addEventListener("part:shown", load);
new ResizeObserver(() => { if (plot) plot.setSize({ width: box.clientWidth, height: HEIGHT }); }).observe(section);
onSchemeChange(draw);
load();
loadPlots(section).then(draw);
