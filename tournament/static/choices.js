// The buttons that choose all or none of a field's choices. Without this script they are hidden.

for (const panel of document.querySelectorAll("[data-choose]")) {
  const field = panel.closest("fieldset");
  const boxes = [...field.querySelectorAll("input[type=checkbox]")];
  const count = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    panel.querySelector("[role=status]").textContent = `${chosen} of ${boxes.length} selected`;
  };
  const choose = (checked) => {
    boxes.forEach((box) => { box.checked = checked; });
    field.dispatchEvent(new Event("input", { bubbles: true })); // the estimate follows
  };
  panel.querySelector("[data-all]").addEventListener("click", () => choose(true));
  panel.querySelector("[data-none]").addEventListener("click", () => choose(false));
  field.addEventListener("input", count);
  addEventListener("pageshow", count); // a browser restores the boxes after this script has run
  panel.hidden = boxes.length === 0;
}
