// @ts-check
// What the charts share: the library, colours, axes, vertical lines, new drawings in the other colour scheme, labels.

/**
 * Loads uPlot when the section comes into view: it is nearly half of the weight of a page.
 * @param {HTMLElement} section
 */
export async function loadPlots(section) {
  await /** @type {Promise<void>} */ (new Promise((resolve) => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(section);
  }));
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: section.dataset.style });
  const script = Object.assign(document.createElement("script"), { src: section.dataset.script });
  await Promise.all([style, script].map((element) => new Promise((resolve, reject) => {
    element.addEventListener("load", resolve);
    element.addEventListener("error", reject);
    document.head.append(element);
  })));
}

/**
 * A function from the name of a CSS variable to its value on this element.
 * @param {HTMLElement} element
 * @returns {(name: string) => string}
 */
export const colourOf = (element) => (name) => getComputedStyle(element).getPropertyValue(name).trim();

// Labels of a time axis, as uPlot takes them: from which distance in seconds, the text, and the text below it where
// a year, a month, a day, an hour or a minute begins.
const DAY = "\n{D} {MMM}";
export const TIME_LABELS = [
  [365 * 86400, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * 86400, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", DAY, null, DAY, null, null, null, 1],
];

/** @param {(name: string) => string} colour */
export function axisOptions(colour) {
  return { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
}

/**
 * A line over the whole height at a value of the x axis. Returns its place on the canvas.
 * @param {Plot} plot
 * @param {number} value
 * @param {string} stroke
 * @param {{ width?: number, dash?: number[] }} [style]
 */
export function drawVertical(plot, value, stroke, { width = 1, dash = [] } = {}) {
  const x = Math.round(plot.valToPos(value, "x", true));
  plot.ctx.save();
  plot.ctx.strokeStyle = stroke;
  plot.ctx.lineWidth = width * devicePixelRatio;
  plot.ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
  plot.ctx.beginPath();
  plot.ctx.moveTo(x, plot.bbox.top);
  plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
  plot.ctx.stroke();
  plot.ctx.restore();
  return x;
}

/** @param {() => void} draw */
export function onSchemeChange(draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

/**
 * The seconds of each move, by its text in the list of moves; null where it has none.
 * @param {(string | null | undefined)[]} texts
 */
export const secondsIn = (texts) => texts.map((text) => text?.match(/([\d.]+) s$/)).map((found) => (found ? Number(found[1]) : null));

/**
 * The values at the plies of one side, with gaps at those of the other; the first is that of the start.
 * @param {(number | null)[]} values
 * @param {boolean} isFirst whether the side makes the first move
 */
export const columnOf = (values, isFirst) => [null, ...values.map((value, index) => (index % 2 === Number(!isFirst) ? value : null))];

/** @param {number} seconds */
export const shortSeconds = (seconds) => `${+seconds.toPrecision(2)}`;

export const shortCount = new Intl.NumberFormat("en", { notation: "compact" }).format;
