// The chart of a bot's ratings on one ladder: a line a version, with a band that holds the strength in 95 of 100 cases.
//
// The points are fetched when a ladder is chosen. A click leads to the game.

import { localText } from "./times.js";

const BAND = 1.96; // standard deviations
const HEIGHT = 240;
const COLOURS = ["--chart-white", "--chart-black", "--accent", "--loss"];

const section = document.getElementById("history");
const select = section.querySelector("[data-ladder]");
const box = section.querySelector("[data-plot]");
const readout = section.querySelector("[data-readout]");
let plot = null;
let history = null;

const colour = (name) => getComputedStyle(section).getPropertyValue(name).trim();

// One time axis for all versions: [times, for each version its mean, the band's upper and its lower edge].
function columns() {
  const times = [...new Set(history.versions.flatMap((version) => version.points.map(([time]) => time)))].sort((a, b) => a - b);
  const rows = [times];
  for (const { points } of history.versions) {
    const at = new Map(points.map((point) => [point[0], point]));
    const column = (value) => times.map((time) => (at.has(time) ? value(at.get(time)) : null));
    rows.push(column(([, mu]) => mu), column(([, mu, sigma]) => mu + BAND * sigma), column(([, mu, sigma]) => mu - BAND * sigma));
  }
  return rows;
}

function draw() {
  plot?.destroy();
  plot = null;
  if (!history?.versions.length) return;
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  const series = [{}];
  const bands = [];
  history.versions.forEach((_, index) => {
    const stroke = colour(COLOURS[index % COLOURS.length]);
    const edge = { stroke: "transparent", spanGaps: true, points: { show: false } };
    series.push({ stroke, width: 2, spanGaps: true, points: { size: 5 } }, edge, edge);
    bands.push({ series: [3 * index + 2, 3 * index + 3], fill: `color-mix(in srgb, ${stroke} 18%, transparent)` });
  });
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, y: false },
    hooks: { setCursor: [(chart) => read(chart.cursor.idx)], draw: [marks] },
    axes: [axis, { ...axis, size: 50 }],
    series,
    bands,
  };
  plot = new uPlot(options, columns(), box);
  plot.over.addEventListener("click", () => {
    const found = nearest(plot.cursor.idx);
    if (found) location.assign(`/games/${found.point[3]}/`);
  });
}

// The number of each version at its first game.
function marks(chart) {
  chart.ctx.save();
  chart.ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  history.versions.forEach(({ number, points }, index) => {
    const x = chart.valToPos(points[0][0], "x", true);
    chart.ctx.fillStyle = chart.ctx.strokeStyle = colour(COLOURS[index % COLOURS.length]);
    chart.ctx.setLineDash([4, 4]);
    chart.ctx.beginPath();
    chart.ctx.moveTo(x, chart.bbox.top);
    chart.ctx.lineTo(x, chart.bbox.top + chart.bbox.height);
    chart.ctx.stroke();
    chart.ctx.fillText(`v${number}`, x + 4, chart.bbox.top + 12 * devicePixelRatio);
  });
  chart.ctx.restore();
}

function nearest(index) {
  if (index === null || index === undefined) return null;
  const time = plot.data[0][index];
  for (const version of history.versions) {
    const point = version.points.find(([at]) => at === time);
    if (point) return { version, point };
  }
  return null;
}

function read(index) {
  const found = nearest(index);
  const [time, mu, sigma] = found?.point ?? [];
  readout.textContent = found
    ? `v${found.version.number}, ${localText(new Date(time * 1000), "full")}: rating ${(mu - 3 * sigma).toFixed(2)}, mean ${mu.toFixed(2)} ± ${(BAND * sigma).toFixed(2)}`
    : "The line is the mean, the band holds the strength in 95 of 100 cases. Click to open the game.";
}

async function load() {
  const response = await fetch(select.selectedOptions[0].dataset.history);
  history = response.ok ? await response.json() : null;
  section.hidden = !history?.versions.length && select.options.length === 1;
  read(null);
  draw();
}

section.hidden = false;
select.addEventListener("change", load);
new ResizeObserver(() => { if (plot) plot.setSize({ width: box.clientWidth, height: HEIGHT }); }).observe(section);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
load();
