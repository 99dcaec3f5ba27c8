// @ts-check
// The search and the buttons of a field with many choices. Without this script they are hidden.

for (const panel of document.querySelectorAll("[data-choose]")) {
  const field = /** @type {HTMLFieldSetElement} */ (panel.closest("fieldset"));
  const items = [...field.querySelectorAll(".choices > li:has(input)")];
  /**
   * @param {HTMLElement} item
   * @returns {HTMLInputElement}
   */
  const boxOf = (item) => /** @type {HTMLInputElement} */ (item.querySelector("input"));
  const search = panel.querySelector("[type=search]");
  const count = () => {
    const chosen = items.filter((item) => boxOf(item).checked).length;
    panel.querySelector("[role=status]").textContent = `${chosen} of ${items.length} selected`;
  };
  const show = () => {
    const text = search.value.trim().toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
  };
  /** @param {HTMLElement} item */
  const ratingOf = (item) => { // the best on the ladders that are selected
    const ratings = JSON.parse(item.dataset.ratings ?? "{}");
    /** @type {NodeListOf<HTMLInputElement> | undefined} */
    const ladders = field.form?.querySelectorAll("[name=ladders]:checked");
    return Math.max(...[...ladders ?? []].map((ladder) => ratings[ladder.value] ?? -Infinity));
  };
  /**
   * @param {HTMLElement[]} shown
   * @param {number} count
   */
  const best = (shown, count) => shown.filter((item) => ratingOf(item) > -Infinity)
    .sort((one, other) => ratingOf(other) - ratingOf(one)).slice(0, count);
  /**
   * Choices that the search hides keep their state.
   * @param {string} name
   * @param {(shown: HTMLElement[], button: HTMLElement) => HTMLElement[]} choose
   */
  const onClick = (name, choose, checked = true) => panel.querySelector(`[${name}]`)?.addEventListener("click", (event) => {
    for (const item of choose(items.filter((item) => !item.hidden), /** @type {HTMLElement} */ (event.target))) boxOf(item).checked = checked;
    field.dispatchEvent(new Event("input", { bubbles: true })); // the estimate follows
  });
  onClick("data-all", (shown) => shown);
  onClick("data-none", (shown) => shown, false);
  onClick("data-mine", (shown, button) => shown.filter((item) => item.dataset.owner === button.dataset.mine));
  onClick("data-best", (shown, button) => best(shown, Number(button.dataset.best)));
  search.addEventListener("input", (event) => { event.stopPropagation(); show(); });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  field.addEventListener("input", count);
  addEventListener("pageshow", () => { count(); show(); }); // a browser restores the fields after this script has run
  panel.hidden = items.length === 0;
}
