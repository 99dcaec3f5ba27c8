// What the site answers while a form is filled in: the estimate for a tournament, and suggestions for a field.

// Calls `ask` a while after each input, and gives the text of the last response to `show`.
function answer(source, waitMs, ask, show) {
  let timer = 0;
  let asked = 0;
  const send = async () => {
    const number = (asked += 1);
    const response = await ask().catch(() => null);
    if (response?.ok && number === asked) show(await response.text());
  };
  source.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(send, waitMs);
  });
  return send;
}

const headers = { "X-Part": "true" };

for (const estimate of document.querySelectorAll("[data-estimate]")) {
  const form = estimate.closest("form");
  const ask = () => fetch(estimate.dataset.estimate, { method: "POST", body: new FormData(form), headers });
  answer(form, 300, ask, (html) => { estimate.innerHTML = html; })(); // the browser may have restored the fields
}

for (const field of document.querySelectorAll("[data-suggest]")) {
  const ask = () => fetch(`${field.dataset.suggest}?${new URLSearchParams({ [field.name]: field.value })}`, { headers });
  answer(field, 150, ask, (html) => { field.list.innerHTML = html; });
}
