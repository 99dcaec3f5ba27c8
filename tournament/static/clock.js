// The clock of the side to move in a live game: counts down from the server's value, on every page with such a clock.

const ends = new WeakMap(); // clock -> when it reaches zero

setInterval(() => {
  for (const clock of document.querySelectorAll("[data-tick]")) {
    if (!ends.has(clock)) ends.set(clock, performance.now() + Number(clock.dataset.tick));
    clock.textContent = clockText(Math.max(0, ends.get(clock) - performance.now()));
  }
}, 200);

function clockText(ms) {
  const seconds = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const tenths = ms < 20000 ? `.${Math.floor((ms % 1000) / 100)}` : "";
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${minutes}:${two(seconds % 60)}${tenths}`;
}
