// The form of an upload: takes a file that is dropped on it, and shows the progress. Without this script the form is
// sent by the browser.

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

function send(form) {
  const request = new XMLHttpRequest();
  const progress = form.querySelector("progress");
  const button = form.querySelector("button.main");
  const fail = (why) => {
    progress.hidden = true;
    button.disabled = false;
    form.querySelector("[role=status]").textContent = why;
  };
  request.upload.addEventListener("progress", (event) => { progress.value = event.loaded / event.total; });
  request.addEventListener("error", () => fail("The connection broke. Try again."));
  request.addEventListener("load", () => {
    const version = request.getResponseHeader("X-Location");
    if (version) return location.assign(version);
    const refused = parse(request.responseText).querySelector("[data-upload]");
    if (!refused) return fail(`The upload failed (${request.status}). Try again, or reload this page.`);
    form.replaceWith(refused);
    enable(refused);
    refused.querySelector("[type=file]").focus();
  });
  request.open("POST", form.action);
  request.setRequestHeader("X-Part", "true");
  request.send(new FormData(form));
  progress.hidden = false;
  button.disabled = true;
}

function enable(form) {
  const field = form.querySelector("[type=file]");
  const mark = (event, isOver) => {
    event.preventDefault();
    form.classList.toggle("over", isOver);
  };
  form.querySelector("[data-drop]").hidden = false;
  form.addEventListener("dragover", (event) => mark(event, true));
  form.addEventListener("dragleave", (event) => mark(event, false));
  form.addEventListener("drop", (event) => {
    mark(event, false);
    if (event.dataTransfer.files.length) field.files = event.dataTransfer.files;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

document.querySelectorAll("[data-upload]").forEach(enable);
