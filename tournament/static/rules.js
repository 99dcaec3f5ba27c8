// @ts-check
// Steps through the examples of a rules page: by the buttons below the boards, or by the arrow keys, Home and End in an
// example. Without this script all boards of an example stand side by side.

const template = document.getElementById("stepper");

/** @type {Record<string, string>} */
const KEYS = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last" };

/** @param {HTMLElement} example */
function enable(example) {
  const boards = [...example.querySelectorAll(".boards > li")];
  const last = boards.length - 1;
  if (last < 1) return;
  example.querySelector(".boards").after(template.content.cloneNode(true));
  const buttons = Object.fromEntries([...example.querySelectorAll("[data-step]")].map((button) => [button.dataset.step, button]));
  const said = example.querySelector(".said");
  /** @type {Record<string, (ply: number) => number>} */
  const places = { first: () => 0, previous: (ply) => Math.max(0, ply - 1), next: (ply) => Math.min(last, ply + 1), last: () => last };
  let ply = 1;

  /**
   * The board after a move, and beside it, where there is room, the board before.
   * @param {boolean} announce
   */
  function show(announce) {
    boards.forEach((board, number) => {
      board.classList.toggle("now", number === ply);
      board.classList.toggle("before", number === ply - 1);
      if (number === ply + 1) /** @type {HTMLImageElement} */ (board.querySelector("img")).loading = "eager"; // it is probably shown next
    });
    example.dataset.ply = String(ply);
    for (const name of ["first", "previous"]) buttons[name].setAttribute("aria-disabled", String(ply === 0));
    for (const name of ["next", "last"]) buttons[name].setAttribute("aria-disabled", String(ply === last));
    said.textContent = announce || last > 1 ? `Ply ${ply} of ${last}: ${ply ? boards[ply].dataset.label : "the position before"}` : "";
  }

  /** @param {string} name */
  function step(name) {
    ply = places[name](ply);
    show(true);
  }

  for (const [name, button] of Object.entries(buttons)) button.addEventListener("click", () => step(name));
  const box = example.querySelector(".boards");
  box.tabIndex = 0;
  example.addEventListener("keydown", (event) => {
    const name = KEYS[event.key];
    if (!name || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    step(name);
  });
  example.classList.add("stepped");
  example.classList.toggle("single", last === 1);
  show(false);
}

document.querySelectorAll("[data-example]").forEach(enable);
