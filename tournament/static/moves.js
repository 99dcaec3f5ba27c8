// @ts-check
// Entering a move on a board drawn with targets: part by part, by click, tap, drag or keys.
//
// The rules give the parts of each legal move (entry.py): cells, and words such as the kind of a piece or a direction.
// Nothing here knows how a game writes its moves.

/** @typedef {{ token: string, parts: string[] }} Move */

/** @type {Record<string, [number, number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MAX_NAMED = 8; // cells that a refusal names
const CLICK_MS = 700; // a click after a pointer's release is the same act

/**
 * The legal moves that the site has written.
 * @param {string} text
 * @returns {Move[]}
 */
export function movesIn(text) {
  return text.split(" ").filter(Boolean).map((written) => {
    const [parts, token] = written.split("/");
    return { token, parts: parts.split(".") };
  });
}

/** The parts of one move that are entered so far, among the legal moves of a position. */
export class Entered {
  /** @type {string[]} */
  parts = [];
  kind = ""; // the word that is selected where several may come before a cell

  /**
   * @param {Move[]} moves
   * @param {Set<string>} cells of the board
   */
  constructor(moves, cells) {
    this.moves = moves;
    this.board = cells;
  }

  /** Enter one more part; false if no legal move goes on with it. @param {string} part */
  add(part) {
    const next = this.next();
    const kind = this.board.has(part) && !next.has(part) ? this.kindNow() : "";
    const parts = [...this.parts, ...(kind ? [kind] : []), part];
    if (!this.going(parts).length) return false;
    this.parts = parts;
    this.kind = "";
    return true;
  }

  /** Take the last part back, with the kind before it; false if none is entered. */
  undo() {
    if (!this.parts.length) return false;
    this.parts.pop();
    const kind = this.parts.pop();
    if (kind !== undefined && !this.isKind(kind)) this.parts.push(kind);
    return true;
  }

  /** Whether nothing but this whole move can be entered now. */
  only() {
    const [move, ...others] = this.going();
    return !others.length && move?.parts.length === this.parts.length ? move : null;
  }

  /** The moves with exactly the entered parts: one, unless the rules give several moves the same parts. */
  whole() {
    return this.parts.length ? this.going().filter((move) => move.parts.length === this.parts.length) : [];
  }

  /** The moves that begin with these parts. */
  going(parts = this.parts) {
    return this.moves.filter((move) => parts.every((part, index) => move.parts[index] === part));
  }

  /** What may come next. */
  next() {
    return new Set(this.going().map((move) => move.parts[this.parts.length]).filter((part) => part !== undefined));
  }

  /** Whether a next part is a word that a cell follows in every move: it is selected, and entered with the cell. @param {string} part */
  isKind(part) {
    return !this.board.has(part)
      && this.going([...this.parts, part]).every((move) => this.board.has(move.parts[this.parts.length + 1]));
  }

  /** The kind with which a cell is entered: the selected one, else the first. */
  kindNow() {
    const kinds = [...this.next()].filter((part) => this.isKind(part)).sort();
    return kinds.includes(this.kind) ? this.kind : kinds[0] ?? "";
  }

  /** The cells that may come next, also with the kind. */
  cells() {
    const kind = this.kindNow();
    const later = kind ? this.going([...this.parts, kind]).map((move) => move.parts[this.parts.length + 1]) : [];
    return new Set([...this.next(), ...later].filter((part) => this.board.has(part)));
  }
}

/**
 * The entry of one move on the board in `panel`; `choices` takes buttons, `played` gets the token, `say` a sentence
 * about a move that is entered in part; its second argument tells that something was refused.
 */
export class MoveEntry {
  #panel;
  #choices;
  #played;
  #say;
  /** @type {Record<string, [string, string]>} */
  #words; // by part: the label of its button, and what it is
  #entered = new Entered([], new Set());
  #at = ""; // the cell that takes keys

  /**
   * @param {HTMLElement} panel
   * @param {HTMLElement} choices
   * @param {(token: string) => void} played
   * @param {(sentence: string, isError?: boolean) => void} say
   */
  constructor(panel, choices, played, say) {
    this.#panel = panel;
    this.#choices = choices;
    this.#played = played;
    this.#say = say;
    this.#words = JSON.parse(choices.dataset.words ?? "{}");
    this.#listen();
    const hint = document.getElementById("entry-hint");
    if (hint) hint.hidden = false;
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
   * The legal moves of the position that is shown now, as the site writes them.
   * @param {string} moves
   */
  begin(moves) {
    const cells = [...this.#panel.querySelectorAll("[data-cell]")].map(({ dataset }) => dataset.cell ?? "");
    this.#entered = new Entered(movesIn(moves), new Set(cells));
    this.#show();
  }

  /**
   * One more part; it is refused with a sentence if no legal move goes on with it.
   * @param {string} part
   */
  enter(part) {
    if (!this.#entered.add(part)) {
      this.#refuse(part);
      return;
    }
    if (this.#entered.board.has(part)) this.#at = part;
    const only = this.#entered.only();
    if (only) this.#play(only);
    else this.#tell();
  }

  /**
   * Say why nothing was entered; `part` is empty if no cell was meant.
   * @param {string} part
   */
  #refuse(part) {
    if (!this.#entered.moves.length) return; // whoever shows the position knows why
    const cells = [...this.#entered.cells()].sort();
    const named = cells.length <= MAX_NAMED ? ` (${cells.join(", ")})` : "";
    const wanted = cells.length ? `a cell with a dashed ring${named}` : this.#wanted();
    const entered = this.#inWords();
    const why = !part ? "That is no cell." : entered ? `No legal move goes on from ${entered} with ${part}.` : `No legal move begins with ${part}.`;
    this.#say(`${why} Next: ${wanted}.${entered ? " Esc drops what is entered." : ""}`, true);
  }

  #inWords() {
    return this.#entered.parts.map((part) => this.#label(part)).join(" ");
  }

  /** @param {string} part */
  #label(part) {
    return this.#words[part]?.[0] ?? part;
  }

  /** Show and say what is entered. */
  #tell() {
    this.#show();
    const whole = this.#entered.whole();
    const next = whole.length === 1 ? "Confirm, or next" : "Next";
    this.#say(`${this.#inWords() || "Nothing"} entered. ${next}: ${this.#wanted()}.`);
  }

  /** Take back the last part; false if none is entered. */
  undo() {
    if (!this.#entered.undo()) return false;
    this.#tell();
    return true;
  }

  /** Drop all that is entered; false if nothing is. */
  drop() {
    if (!this.#entered.parts.length) return false;
    this.#entered = new Entered(this.#entered.moves, this.#entered.board);
    this.#tell();
    return true;
  }

  /**
   * Nothing can be entered until the next position is shown.
   * @param {Move} move
   */
  #play({ token }) {
    this.begin("");
    this.#played(token);
  }

  #show() {
    const cells = this.#entered.cells();
    const entered = new Set(this.#entered.parts);
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
    const others = [...this.#entered.next()].filter((part) => !this.#entered.board.has(part));
    const made = others.map((part) => this.#choice(part));
    const whole = this.#entered.whole();
    for (const move of whole) made.push(button(whole.length > 1 ? move.token : "Confirm", () => this.#play(move)));
    if (this.#entered.parts.length) made.push(button("Undo part", () => this.undo()), button("Drop", () => this.drop()));
    return made;
  }

  /**
   * The button of a part that is no cell; that of a kind selects it.
   * @param {string} part
   */
  #choice(part) {
    if (!this.#entered.isKind(part)) return button(this.#label(part), () => this.enter(part));
    const made = button(this.#label(part), () => {
      this.#entered.kind = part;
      this.#show();
    });
    made.setAttribute("aria-pressed", String(part === this.#entered.kindNow()));
    return made;
  }

  /** What comes next, in words. */
  #wanted() {
    const next = [...this.#entered.next()];
    const nouns = next.map((part) => (this.#entered.board.has(part) ? "a cell" : this.#words[part]?.[1] ?? part));
    return [...new Set([...nouns.sort((one, other) => Number(one === "a cell") - Number(other === "a cell")), ...(this.#entered.whole().length > 1 ? ["a move"] : [])])].join(" or ");
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
