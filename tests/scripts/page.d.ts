// What the types of the browser do not say of the pages of this site. Only `tsc` reads this file.

/** The elements that a page with the script that uses them always has, by their ids. */
interface PageElements {
  analysis: HTMLElement;
  board: HTMLElement;
  bottom: HTMLElement;
  chart: HTMLElement;
  "chart-values": HTMLElement;
  choices: HTMLElement;
  comment: HTMLTextAreaElement;
  earlier: HTMLElement;
  entry: HTMLFormElement;
  explored: HTMLElement;
  "explored-said": HTMLElement;
  explorer: HTMLElement;
  headline: HTMLElement;
  history: HTMLElement;
  keys: HTMLDialogElement;
  live: HTMLElement;
  move: HTMLFormElement;
  play: HTMLElement;
  position: HTMLInputElement;
  random: HTMLSelectElement;
  ratios: HTMLElement;
  said: HTMLElement;
  search: HTMLElement;
  "search-said": HTMLElement;
  shown: HTMLElement;
  spoken: HTMLElement;
  state: HTMLElement;
  steps: HTMLElement;
  stepper: HTMLTemplateElement;
  targets: HTMLElement;
  task: HTMLElement;
  token: HTMLInputElement;
  top: HTMLElement;
  tree: HTMLElement;
  turn: HTMLElement;
  view: HTMLElement;
}

/** The elements that such a page or part always has, by the selectors with which scripts look for them. */
interface PartElements {
  "#tree [name=\"at\"]": HTMLInputElement;
  ".boards": HTMLElement;
  ".key.analysis": HTMLElement;
  ".of-move": HTMLElement;
  ".said": HTMLElement;
  "[data-autoplay]": HTMLElement;
  "[data-copy]": HTMLElement;
  "[data-drop]": HTMLElement;
  "[data-effort=\"nodes\"]": HTMLElement;
  "[data-follow]:not([data-own])": HTMLElement;
  "[data-ladder]": HTMLSelectElement;
  "[data-plot]": HTMLElement;
  "[data-readout]": HTMLElement;
  "[data-speed]": HTMLSelectElement;
  "[role=status]": HTMLElement;
  "[type=file]": HTMLInputElement;
  "[type=search]": HTMLInputElement;
  "[value=\"filter\"]": HTMLElement;
  "[value=\"promote\"]": HTMLElement;
  "button.main": HTMLButtonElement;
  progress: HTMLProgressElement;
}

interface Document {
  getElementById<K extends keyof PageElements>(id: K): PageElements[K];
  getElementById(id: string): HTMLElement | null;
}

interface DocumentFragment {
  getElementById<K extends keyof PageElements>(id: K): PageElements[K];
  getElementById(id: string): HTMLElement | null;
}

/** Elements that are looked for are of HTML, not of SVG, unless a caller says otherwise. */
interface ParentNode {
  querySelector<K extends keyof PartElements>(selectors: K): PartElements[K];
  querySelector<K extends keyof HTMLElementTagNameMap>(selectors: K): HTMLElementTagNameMap[K] | null;
  querySelector<E extends Element = HTMLElement>(selectors: string): E | null;
  querySelectorAll<K extends keyof HTMLElementTagNameMap>(selectors: K): NodeListOf<HTMLElementTagNameMap[K]>;
  querySelectorAll<E extends Element = HTMLElement>(selectors: string): NodeListOf<E>;
}

interface Element {
  closest<K extends keyof HTMLElementTagNameMap>(selector: K): HTMLElementTagNameMap[K] | null;
  closest<E extends Element = HTMLElement>(selectors: string): E | null;
}

/** Acts of a person come from elements. */
interface UIEvent {
  readonly target: HTMLInputElement;
}

interface SubmitEvent {
  readonly target: HTMLFormElement;
}

/** The events by which scripts tell each other of changes; the script that sends one describes it. */
interface DocumentEventMap {
  "part:shown": CustomEvent<null>;
  "replay:analysed": CustomEvent<number[]>;
  "replay:more": CustomEvent<{ values: ChartValues; board: string }>;
  "replay:show": CustomEvent<number>;
  "replay:shown": CustomEvent<number>;
  "search:shown": CustomEvent<DocumentFragment>;
}

interface HTMLElementEventMap {
  position: CustomEvent<string>;
}

/** The values of a replay's chart by ply, as `chart.py` describes them; null where there is none. */
interface ChartValues {
  score: (number | null)[];
  nodes: (number | null)[];
  time: (number | null)[];
  first: string;
  since: number;
  points?: number[];
  analysis?: (number | null)[];
}

/** What is used of uPlot, which comes without types. */
interface Plot {
  bbox: { left: number; top: number; width: number; height: number };
  ctx: CanvasRenderingContext2D;
  cursor: { idx?: number | null };
  data: number[][];
  over: HTMLElement;
  scales: Record<string, { max: number }>;
  destroy(): void;
  redraw(rebuildPaths?: boolean): void;
  setSize(size: { width: number; height: number }): void;
  valToPos(value: number, scale: string, isCanvas?: boolean): number;
}

declare const uPlot: {
  new (options: object, columns: (number | null)[][], box: Element): Plot;
  paths: { bars(options: object): object };
};

interface Window {
  uPlot?: typeof uPlot;
}
