// @ts-check
// Entering a move on a board drawn with targets: part by part, by click, tap, drag or keys.
//
// The legal moves come as tokens. A token is taken apart into its parts as it is written: cells, the letters of
// disc and ring, the signs of the directions; nothing here knows a rule.

const PARTS = /pass|[DR](?=[a-i])|[a-i][1-9]|[+-]$/g;
/** @type {Record<string, [number, number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @type {Record<string, string>} */
const WORDS = { D: "Disc", R: "Ring", "+": "Anticlockwise +", "-": "Clockwise −", pass: "Pass" };

/** @param {string} part */
const isCell = (part) => /^[a-i][1-9]$/.test(part);

/**
 * @param {string} token
 * @returns {string[]}
 */
const partsOf = (token) => token.match(PARTS) ?? [];

/** @param {string[]} parts */
const inWords = (parts) => parts.map((part) => WORDS[part] ?? part).join(", then ");

/** @typedef {{ token: string, parts: string[] }} Move */

const MOST_NAMED = 8; // cells that a refusal names

const CLICK_MS = 700; // a click after a pointer's release is the same act

// The entry of one move on the board in `panel`; `choices` takes buttons, `played` gets the token, `say` a sentence
// about a move that is entered in part; its second argument tells that something was refused.
export class MoveEntry {
  #panel;
  #choices;
  #played;
  #say;
  /** @type {Move[]} */
  #moves = []; // each as its parts and its token
  /** @type {string[]} */
  #parts = []; // entered so far
  #kind = ""; // the letter selected where both may come
  #at = ""; // the cell that takes keys

  /**
   * @param {HTMLElement} panel
   * @param {HTMLElement} choices
   * @param {(token: string) => void} played
   * @param {(sentence: string, isError?: boolean) => void} say
   */
  constructor(panel, choices, played, say = () => {}) {
    this.#panel = panel;
    this.#choices = choices;
    this.#played = played;
    this.#say = say;
    this.#listen();
    const hint = document.getElementById("entry-hint");
    if (hint) hint.hidden = false;
    const example = hint?.querySelector("[data-example]");
    if (example) example.after(`: ${inWords(partsOf(example.textContent))}`);
  }

  #listen() {
    const panel = this.#panel;
    let from = "";
    let releasedAt = -CLICK_MS;
    panel.addEventListener("pointerdown", (event) => { from = isMain(event) ? cellAt(event) : ""; });
    panel.addEventListener("pointercancel", () => { from = ""; });
    panel.addEventListener("pointerup", (event) => {
      const cell = cellAt(event);
      if (!isMain(event) || !event.target.closest("svg")) return;
      if (!cell) {
        if (!from) this.#refuse("");
        return;
      }
      releasedAt = event.timeStamp;
      if (from && from !== cell) this.enter(from);
      this.enter(cell);
    });
    panel.addEventListener("click", (event) => { // of a screen reader, without a pointer
      const target = event.target.closest("[data-cell]");
      if (target && event.timeStamp - releasedAt > CLICK_MS) this.enter(target.dataset.cell ?? "");
    });
    panel.addEventListener("keydown", (event) => this.#press(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.drop()) event.preventDefault();
    });
  }

  /**
   * The legal moves of the position that is shown now, with spaces between them.
   * @param {string} moves
   */
  begin(moves) {
    this.#moves = moves.split(" ").filter(Boolean).map((token) => ({ token, parts: partsOf(token) }));
    this.#parts = [];
    this.#kind = "";
    this.#show();
  }

  /**
   * One more part; it is refused with a sentence if no legal move goes on with it.
   * @param {string} part
   */
  enter(part) {
    const next = this.#next();
    const kind = isCell(part) && !next.has(part) ? this.#kindFor(next) : "";
    const parts = [...this.#parts, ...(kind ? [kind] : []), part];
    if (!this.#going(parts).length) {
      this.#refuse(part);
      return;
    }
    this.#parts = parts;
    this.#kind = "";
    if (isCell(part)) this.#at = part;
    const [only, ...others] = this.#going(parts);
    if (!others.length && only.parts.length === parts.length) this.#play(only.token);
    else {
      this.#show();
      this.#tell();
    }
  }

  /**
   * Say why nothing was entered; `part` is empty if no cell was meant.
   * @param {string} part
   */
  #refuse(part) {
    if (!this.#moves.length) return; // whoever shows the position knows why
    const cells = [...this.#cells()].sort();
    const named = cells.length <= MOST_NAMED ? ` (${cells.join(", ")})` : "";
    const wanted = cells.length ? `a cell with a dashed ring${named}` : this.#wanted();
    const entered = this.#entered();
    const why = !part ? "That is no cell." : entered ? `No legal move goes on from ${entered} with ${part}.` : `No legal move begins with ${part}.`;
    this.#say(`${why} Next: ${wanted}.${entered ? " Esc drops what is entered." : ""}`, true);
  }

  #entered() {
    return this.#parts.map((one) => WORDS[one] ?? one).join(" ");
  }

  #tell() {
    const entered = this.#entered() || "Nothing";
    this.#say(`${entered} entered. ${this.#whole() ? "Confirm, or next" : "Next"}: ${this.#wanted()}.`);
  }

  // Take back the last part; false if none is entered.
  undo() {
    if (!this.#parts.length) return false;
    this.#parts.pop();
    if (["D", "R"].includes(this.#parts.at(-1) ?? "")) this.#parts.pop();
    this.#show();
    this.#tell();
    return true;
  }

  // Drop all that is entered; false if nothing is.
  drop() {
    if (!this.#parts.length) return false;
    this.#parts = [];
    this.#kind = "";
    this.#show();
    this.#tell();
    return true;
  }

  // Play what is entered, if it is a whole move though others go on from it.
  confirm() {
    const whole = this.#whole();
    if (whole) this.#play(whole.token);
  }

  /**
   * Nothing can be entered until the next position is shown.
   * @param {string} token
   */
  #play(token) {
    this.begin("");
    this.#played(token);
  }

  /** @param {string[]} parts */
  #going(parts) {
    return this.#moves.filter((move) => parts.every((part, index) => move.parts[index] === part));
  }

  #whole() {
    return this.#going(this.#parts).find((move) => move.parts.length === this.#parts.length);
  }

  #next() {
    return new Set(this.#going(this.#parts).map((move) => move.parts[this.#parts.length]).filter(Boolean));
  }

  /** @param {Set<string>} next */
  #kindFor(next) {
    const kinds = [...next].filter((part) => ["D", "R"].includes(part));
    return kinds.includes(this.#kind) ? this.#kind : kinds.sort()[0] ?? "";
  }

  #cells() {
    const next = this.#next();
    const kind = this.#kindFor(next);
    const later = kind ? this.#going([...this.#parts, kind]).map((move) => move.parts[this.#parts.length + 1]) : [];
    return new Set([...next, ...later].filter((part) => part && isCell(part)));
  }

  #show() {
    const cells = this.#cells();
    const entered = new Set(this.#parts);
    for (const target of this.#panel.querySelectorAll("[data-cell]")) {
      const { cell = "" } = target.dataset;
      target.classList.toggle("open", cells.has(cell));
      target.classList.toggle("entered", entered.has(cell));
      target.setAttribute("aria-pressed", String(entered.has(cell)));
      target.setAttribute("aria-disabled", String(!cells.has(cell)));
      target.tabIndex = -1;
    }
    const first = this.#target(this.#at) ?? this.#target([...cells][0]) ?? this.#panel.querySelector("[data-cell]");
    if (first) first.tabIndex = 0;
    const isFocused = this.#choices.contains(document.activeElement);
    this.#choices.replaceChildren(...this.#buttons());
    this.#choices.hidden = !this.#choices.children.length;
    if (isFocused) first?.focus({ preventScroll: true }); // its button is gone
  }

  #buttons() {
    const next = this.#next();
    const kind = this.#kindFor(next);
    const others = [...next].filter((part) => !isCell(part));
    const made = others.map((part) => {
      const isKind = part === "D" || part === "R";
      const one = button(WORDS[part] ?? part, () => {
        if (!isKind) this.enter(part);
        else {
          this.#kind = part;
          this.#show();
        }
      });
      if (isKind) one.setAttribute("aria-pressed", String(part === kind));
      return one;
    });
    if (this.#whole()) made.push(button("Confirm", () => this.confirm()));
    if (this.#parts.length) made.push(button("Undo part", () => this.undo()), button("Drop", () => this.drop()));
    return made;
  }

  // What comes next, in words.
  #wanted() {
    const next = [...this.#next()];
    const words = [["a disc", "D"], ["a ring", "R"], ["a direction", "+", "-"]].filter(([, ...parts]) => parts.some((part) => next.includes(part)));
    return [...words.map(([word]) => word), ...(next.some(isCell) ? ["a cell"] : [])].join(" or ");
  }

  /**
   * @param {string} cell
   * @returns {HTMLElement | null}
   */
  #target(cell) {
    return cell ? this.#panel.querySelector(`[data-cell="${cell}"]`) : null;
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const target = event.target.closest("[data-cell]");
    if (!target || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") this.enter(target.dataset.cell ?? "");
    else if (event.key === "Backspace") this.undo();
    else if (event.key in KEYS) this.#move(target, KEYS[event.key]);
    else return;
    event.preventDefault();
  }

  /**
   * The nearest cell in a direction of the arrow keys takes the focus.
   * @param {HTMLElement} from
   * @param {[number, number]} direction
   */
  #move(from, [right, down]) {
    /** @param {Element} target */
    const middle = (target) => [Number(target.getAttribute("cx")), Number(target.getAttribute("cy"))];
    const [x, y] = middle(from);
    let nearest = null;
    let least = Infinity;
    for (const target of this.#panel.querySelectorAll("[data-cell]")) {
      const [there, below] = middle(target);
      const ahead = (there - x) * right + (below - y) * down;
      const aside = Math.abs((there - x) * down) + Math.abs((below - y) * right);
      if (ahead > 1 && ahead + aside < least) [nearest, least] = [target, ahead + aside];
    }
    if (!nearest) return;
    from.tabIndex = -1;
    nearest.tabIndex = 0;
    this.#at = nearest.dataset.cell ?? "";
    nearest.focus();
  }
}

/** @param {PointerEvent} event */
const isMain = (event) => event.isPrimary && event.button === 0;

/** @param {PointerEvent} event */
function cellAt(event) {
  return document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-cell]")?.dataset.cell ?? "";
}

/**
 * @param {string} text
 * @param {() => void} act
 */
function button(text, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
  made.addEventListener("click", act);
  return made;
}
