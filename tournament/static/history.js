// @ts-check
// The chart of a bot's ratings on one ladder: a line a version, which is the published rating, and a band from it to
// the mean, which it nears as games are played.
//
// The points are fetched when a ladder is chosen. A click leads to the game.

import { pointAt, ratingColumns, ratingOf, rowFor, timeRange } from "./figures.js";
import { localText } from "./times.js";
import { axisOptions, colourOf, drawVertical, loadPlots, onSchemeChange, TIME_LABELS } from "./plots.js";

const HEIGHT = 240;
const COLOURS = ["--chart-white", "--chart-black", "--accent", "--loss"];

const section = document.getElementById("history");
const select = section.querySelector("[data-ladder]");
const box = section.querySelector("[data-plot]");
const readout = section.querySelector("[data-readout]");
/** @type {Plot | null} */
let plot = null;
/** @type {{ versions: import("./figures.js").Version[] } | null} */
let ratings = null; // the answer of the site

const colour = colourOf(section);
const versions = () => ratings?.versions ?? [];
/** @param {number} index */
const colourAt = (index) => colour(COLOURS[index % COLOURS.length]); // of a version

function draw() {
  plot?.destroy();
  plot = null;
  if (!window.uPlot || !versions().length) return;
  const axis = axisOptions(colour);
  /** @type {object[]} */
  const series = [{}];
  /** @type {object[]} */
  const bands = [];
  versions().forEach((_, index) => {
    const stroke = colourAt(index);
    const edge = { stroke: "transparent", spanGaps: true, points: { show: false } };
    series.push({ stroke, width: 2, spanGaps: true, points: { size: 5 } }, edge);
    bands.push({ series: [2 * index + 2, 2 * index + 1], fill: `color-mix(in srgb, ${stroke} 18%, transparent)` });
  });
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, y: false },
    hooks: { setCursor: [(/** @type {Plot} */ chart) => read(chart.cursor.idx)], draw: [marks] },
    axes: [{ ...axis, values: TIME_LABELS, space: 80 }, { ...axis, size: 50 }],
    scales: { x: { range: (/** @type {Plot} */ { data: [times] }, /** @type {number} */ first, /** @type {number} */ last) => timeRange(times, first, last) } },
    series,
    bands,
  };
  plot = new uPlot(options, ratingColumns(versions()), box);
  plot.over.addEventListener("click", () => {
    const found = nearest(plot?.cursor.idx);
    if (found) location.assign(`/games/${found.point[3]}/`);
  });
}

/**
 * The number of each version at its first game, in a row below the one before it where that has no room.
 * @param {Plot} chart
 */
function marks(chart) {
  /** @type {number[]} */
  const ends = []; // of the last number in each row
  chart.ctx.save();
  chart.ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  versions().forEach(({ number, points }, index) => {
    const x = drawVertical(chart, points[0][0], colourAt(index), { dash: [4, 4] });
    chart.ctx.fillStyle = colourAt(index);
    chart.ctx.textAlign = "left"; // the axes leave their own
    const [left, row] = [x + 4, rowFor(ends, x)];
    ends[row] = left + chart.ctx.measureText(`v${number}`).width;
    chart.ctx.fillText(`v${number}`, left, chart.bbox.top + 12 * devicePixelRatio * (1 + 1.2 * row));
  });
  chart.ctx.restore();
}

/** @param {number | null | undefined} index */
const nearest = (index) => (index === null || index === undefined ? null : pointAt(versions(), plot?.data[0][index]));

/** @param {{ version: import("./figures.js").Version, point: import("./figures.js").Point }} found */
function described({ version: { number }, point }) {
  const [time, mu, sigma] = point;
  return `v${number}, ${localText(new Date(time * 1000), "full")}: rating ${ratingOf(point).toFixed(2)}, mean ${mu.toFixed(2)} ± ${(3 * sigma).toFixed(2)}`;
}

/** @param {number | null | undefined} index */
function read(index) {
  const found = nearest(index);
  readout.textContent = found ? described(found) : "The line is the rating, the band reaches up to the mean. Click to open the game.";
}

async function load() {
  const response = await fetch(select.selectedOptions[0].dataset.history ?? "");
  ratings = response.ok ? await response.json() : null;
  section.hidden = !versions().length && select.options.length === 1;
  read(null);
  draw();
}

section.hidden = false;
select.addEventListener("change", load);
new ResizeObserver(() => { if (plot) plot.setSize({ width: box.clientWidth, height: HEIGHT }); }).observe(section);
onSchemeChange(draw);
load();
loadPlots(section).then(draw);
