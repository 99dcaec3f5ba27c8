// @ts-check
// The form of an upload: takes a file that is dropped on it, and shows the progress. Without this script the form is
// sent by the browser.

import { answered, PART, UNREACHABLE } from "./send.js";

/** @param {string} html */
const parse = (html) => new DOMParser().parseFromString(html, "text/html");

/** @param {HTMLFormElement} form */
function send(form) {
  const request = new XMLHttpRequest();
  const progress = form.querySelector("progress");
  const button = form.querySelector("button.main");
  /** @param {string} why */
  const fail = (why) => {
    progress.hidden = true;
    button.disabled = false;
    form.querySelector("[role=status]").textContent = why;
  };
  request.upload.addEventListener("progress", (event) => { progress.value = event.loaded / event.total; });
  request.addEventListener("error", () => fail(UNREACHABLE));
  request.addEventListener("load", () => {
    const version = request.getResponseHeader("X-Location");
    if (version) return location.assign(version);
    const refused = /** @type {HTMLFormElement | null} */ (parse(request.responseText).querySelector("[data-upload]"));
    if (!refused) return fail(answered(request.status));
    form.replaceWith(refused);
    enable(refused);
    refused.querySelector("[type=file]").focus();
  });
  request.open("POST", form.action);
  request.setRequestHeader(PART, "true");
  request.send(new FormData(form));
  progress.hidden = false;
  button.disabled = true;
}

/** @param {HTMLFormElement} form */
function enable(form) {
  const field = form.querySelector("[type=file]");
  /**
   * @param {DragEvent} event
   * @param {boolean} isOver
   */
  const mark = (event, isOver) => {
    event.preventDefault();
    form.classList.toggle("over", isOver);
  };
  form.querySelector("[data-drop]").hidden = false;
  form.addEventListener("dragover", (event) => mark(event, true));
  form.addEventListener("dragleave", (event) => mark(event, false));
  form.addEventListener("drop", (event) => {
    mark(event, false);
    const files = event.dataTransfer?.files;
    if (files?.length) field.files = files;
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

/** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("[data-upload]")).forEach(enable);
