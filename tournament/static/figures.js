// @ts-check
// What the charts of ratings and of tests compute from the values that they draw; nothing here needs a page.

/**
 * A game of a version: its end in seconds, the mean and its deviation after it, and its number.
 * @typedef {[number, number, number, number]} Point
 * @typedef {{ number: number, points: Point[] }} Version
 */

const LEAST_SECONDS = 60; // of a time axis

/** @param {Point} point */
export const ratingOf = ([, mu, sigma]) => mu - 3 * sigma;

/**
 * One time axis for all versions: the times, then for each version its ratings and its means.
 * @param {Version[]} versions
 */
export function ratingColumns(versions) {
  const times = [...new Set(versions.flatMap(({ points }) => points.map(([time]) => time)))].sort((a, b) => a - b);
  return [times, ...versions.flatMap(({ points }) => {
    const at = new Map(points.map((point) => [point[0], point]));
    const known = times.map((time) => at.get(time));
    return [known.map((point) => (point ? ratingOf(point) : null)), known.map((point) => (point ? point[1] : null))];
  })];
}

/**
 * The first version that has a game at this time, and the game.
 * @param {Version[]} versions
 * @param {number | undefined} time
 */
export function pointAt(versions, time) {
  for (const version of versions) {
    const point = version.points.find(([at]) => at === time);
    if (point) return { version, point };
  }
  return null;
}

/**
 * A range of at least a minute, around the same middle: labels of less than a second would be equal, and of a
 * single time uPlot proposes a range of years.
 * @param {number[]} times
 * @param {number} first
 * @param {number} last
 */
export function timeRange(times, first, last) {
  const [low, high] = times.length === 1 ? [times[0], times[0]] : [first, last];
  const more = Math.max(0, LEAST_SECONDS - (high - low)) / 2;
  return [low - more, high + more];
}

/**
 * The row for a number that begins at `x`: the first one whose last number ends before it, else a new one.
 * @param {number[]} ends
 * @param {number} x
 */
export function rowFor(ends, x) {
  const free = ends.findIndex((end) => end < x);
  return free < 0 ? ends.length : free;
}

/**
 * The columns of a version test: the numbers of games, the ratios, and both bounds.
 * @param {{ points: [number, number][], lower: number, upper: number }} test
 */
export const ratioColumns = ({ points, lower, upper }) => [
  points.map(([games]) => games), points.map(([, ratio]) => ratio), points.map(() => lower), points.map(() => upper)];
