// The chart of a bot's ratings on one ladder: a line a version, which is the published rating, and a band from it to
// the mean, which it nears as games are played.
//
// The points are fetched when a ladder is chosen. A click leads to the game.

import { localText } from "./times.js";
import { axisOptions, colourOf, drawVertical, loadPlots, onSchemeChange, TIME_LABELS } from "./plots.js";

const HEIGHT = 240;
const LEAST_S = 60; // of the time axis
const COLOURS = ["--chart-white", "--chart-black", "--accent", "--loss"];

const section = document.getElementById("history");
const select = section.querySelector("[data-ladder]");
const box = section.querySelector("[data-plot]");
const readout = section.querySelector("[data-readout]");
let plot = null;
let ratings = null; // the answer of the site

const colour = colourOf(section);
const colourAt = (index) => colour(COLOURS[index % COLOURS.length]); // of a version

// One time axis for all versions: [times, for each version its rating and its mean].
function columns() {
  const times = [...new Set(ratings.versions.flatMap((version) => version.points.map(([time]) => time)))].sort((a, b) => a - b);
  const rows = [times];
  for (const { points } of ratings.versions) {
    const at = new Map(points.map((point) => [point[0], point]));
    const column = (value) => times.map((time) => (at.has(time) ? value(at.get(time)) : null));
    rows.push(column(rating), column(([, mu]) => mu));
  }
  return rows;
}

// A range that is so wide or wider, around the same middle: labels of less than a second would be equal.
function atLeast(wide, low, high) {
  const more = Math.max(0, wide - (high - low)) / 2;
  return [low - more, high + more];
}

// Of a single time, uPlot proposes a range of years.
function timeRange({ data: [times] }, first, last) {
  return times.length === 1 ? atLeast(LEAST_S, times[0], times[0]) : atLeast(LEAST_S, first, last);
}

const rating = ([, mu, sigma]) => mu - 3 * sigma;

function draw() {
  plot?.destroy();
  plot = null;
  if (!window.uPlot || !ratings?.versions.length) return;
  const axis = axisOptions(colour);
  const series = [{}];
  const bands = [];
  ratings.versions.forEach((_, index) => {
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
    hooks: { setCursor: [(chart) => read(chart.cursor.idx)], draw: [marks] },
    axes: [{ ...axis, values: TIME_LABELS, space: 80 }, { ...axis, size: 50 }],
    scales: { x: { range: timeRange } },
    series,
    bands,
  };
  plot = new uPlot(options, columns(), box);
  plot.over.addEventListener("click", () => {
    const found = nearest(plot.cursor.idx);
    if (found) location.assign(`/games/${found.point[3]}/`);
  });
}

// The number of each version at its first game, in a row below the one before it where that has no room.
function marks(chart) {
  const ends = []; // of the last number in each row
  chart.ctx.save();
  chart.ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ratings.versions.forEach(({ number, points }, index) => {
    const x = drawVertical(chart, points[0][0], colourAt(index), { dash: [4, 4] });
    chart.ctx.fillStyle = colourAt(index);
    chart.ctx.textAlign = "left"; // the axes leave their own
    const [left, free] = [x + 4, ends.findIndex((end) => end < x)];
    const row = free < 0 ? ends.length : free;
    ends[row] = left + chart.ctx.measureText(`v${number}`).width;
    chart.ctx.fillText(`v${number}`, left, chart.bbox.top + 12 * devicePixelRatio * (1 + 1.2 * row));
  });
  chart.ctx.restore();
}

function nearest(index) {
  if (index === null || index === undefined) return null;
  const time = plot.data[0][index];
  for (const version of ratings.versions) {
    const point = version.points.find(([at]) => at === time);
    if (point) return { version, point };
  }
  return null;
}

function read(index) {
  const found = nearest(index);
  const [time, mu, sigma] = found?.point ?? [];
  readout.textContent = found
    ? `v${found.version.number}, ${localText(new Date(time * 1000), "full")}: rating ${rating(found.point).toFixed(2)}, mean ${mu.toFixed(2)} ± ${(3 * sigma).toFixed(2)}`
    : "The line is the rating, the band reaches up to the mean. Click to open the game.";
}

async function load() {
  const response = await fetch(select.selectedOptions[0].dataset.history);
  ratings = response.ok ? await response.json() : null;
  section.hidden = !ratings?.versions.length && select.options.length === 1;
  read(null);
  draw();
}

section.hidden = false;
select.addEventListener("change", load);
new ResizeObserver(() => { if (plot) plot.setSize({ width: box.clientWidth, height: HEIGHT }); }).observe(section);
onSchemeChange(draw);
load();
loadPlots(section).then(draw);
