/* DuAlma and DuploLine in JavaScript, for Node: rules and a small search of its own.
 *
 * It needs only Node and no build. To make a bundle of it for a site:
 *
 *     cat > bot.toml <<'END'
 *     [bot]
 *     name = "Hexagons in JavaScript"
 *     version = "1"
 *     command = ["node", "hexagons.js"]
 *     games = ["dualma", "duploline"]
 *     END
 *     zip hexagons.zip bot.toml hexagons.js
 *
 * engines/PROTOCOL.md describes the protocol, the docstrings of engines/rules/dualma.py and
 * duploline.py the rules. Two additional commands help to check the rules: "perft N" counts the
 * sequences of N moves from the present position, and "fen" prints it.
 *
 * Sections: the boards, DuAlma, DuploLine, the search, the protocol.
 */

"use strict";

// ---- the boards

const DIRECTIONS = [[0, 1], [1, 1], [1, 0], [0, -1], [-1, -1], [-1, 0]]; // rows up, numbers up

class Hexagon {
  constructor(side) {
    this.rows = []; // the cells of each row, a first, left to right
    this.names = [];
    const places = new Map();
    for (let row = 0; row < 2 * side - 1; row++) {
      this.rows.push([]);
      for (let n = Math.max(1, row - side + 2); n <= Math.min(2 * side - 1, side + row); n++) {
        places.set(`${row},${n}`, this.names.length);
        this.rows[row].push(this.names.length);
        this.names.push("abcdefghi"[row] + n);
      }
    }
    this.numbers = new Map(this.names.map((name, cell) => [name, cell]));
    this.cells = [...this.names.keys()];
    this.centre = (this.names.length - 1) / 2;
    this.walk = (cell, [up, on], steps) => {
      const row = this.rows.findIndex((cells) => cells.includes(cell));
      return places.get(`${row + up * steps},${Number(this.names[cell].slice(1)) + on * steps}`);
    };
    this.near = this.cells.map((cell) => this.atDistance(cell, 1));
    this.far = this.cells.map((cell) => this.atDistance(cell, 2));
  }

  atDistance(cell, steps) {
    return DIRECTIONS.map((direction) => this.walk(cell, direction, steps)).filter((to) => to !== undefined);
  }

  /** Every line of `length` consecutive cells, once. */
  lines(length) {
    const from = (cell, direction) => Array.from({ length }, (_, steps) => this.walk(cell, direction, steps));
    return this.cells
      .flatMap((cell) => DIRECTIONS.slice(0, 3).map((direction) => from(cell, direction)))
      .filter((line) => !line.includes(undefined));
  }
}

/* A position is {cells, side, ply, winner}: a number for the contents of each cell, 0 for White or 1
 * for Black to move, and null or the side that has won. A move is {token, changes}: cells and their
 * new contents. */

const parsePosition = (game, text) => {
  const [rows, side, ply] = text.split(" ");
  const cells = [];
  for (const row of rows.split("/").reverse()) {
    for (const word of row.split(",")) {
      if (/^[0-9]+$/.test(word)) cells.push(...Array(Number(word)).fill(0));
      else cells.push(game.contents.indexOf(word));
    }
  }
  const position = { cells, side: side === "w" ? 0 : 1, ply: Number(ply), winner: null };
  for (const owner of [position.side, 1 - position.side]) {
    if (game.lines.some((line) => game.isWon(line, cells, owner))) position.winner = owner;
  }
  return position;
};

const formatPosition = (game, { cells, side, ply }) => {
  const formatRow = (row) => {
    const spelled = row.map((cell) => game.contents[cells[cell]] || "-").join(",");
    return spelled.replace(/-(,-)*/g, (run) => String((run.length + 1) / 2));
  };
  return `${game.board.rows.map(formatRow).reverse().join("/")} ${"wb"[side]} ${ply}`;
};

const play = (game, { cells, side, ply }, move) => {
  const after = cells.slice();
  for (const [cell, content] of move.changes) after[cell] = content;
  const won = move.changes.some(([cell]) => game.linesThrough[cell].some((line) => game.isWon(line, after, side)));
  return { cells: after, side: 1 - side, ply: ply + 1, winner: won ? side : null };
};

const through = (board, lines) => board.cells.map((cell) => lines.filter((line) => line.includes(cell)));

// ---- DuAlma

/* A cell holds its top disc, 1 for White and 2 for Black, and 3 or 6 more for the one beneath. */
const topOf = (content) => (content ? ((content - 1) % 3) + 1 : 0);
const isStack = (content) => content > 2;
const beneath = (content) => (content - topOf(content)) / 3;

const alma = new Hexagon(5);
const rowsOfThree = alma.lines(3);

const placements = ({ cells }) => {
  const empty = alma.cells.filter((cell) => !cells[cell] && cell !== alma.centre);
  const pair = (black, white) => ({
    token: `${alma.names[black]}:${alma.names[white]}`,
    changes: [[black, 2], [white, 1]],
  });
  return empty.flatMap((black) => empty.filter((white) => white !== black).map((white) => pair(black, white)));
};

const movements = ({ cells, side }) => {
  const disc = side + 1;
  const moves = [];
  for (const from of alma.cells) {
    const content = cells[from];
    if (topOf(content) !== disc) continue;
    const left = [from, beneath(content)];
    for (const to of isStack(content) ? alma.far[from] : alma.near[from]) {
      if (isStack(cells[to])) continue;
      const token = `${alma.names[from]}-${alma.names[to]}`;
      moves.push({ token, changes: [left, [to, disc + 3 * cells[to]]] });
      if (!isStack(content) || !cells[to]) continue;
      for (const landing of alma.near[to]) {
        if (!cells[landing]) moves.push({ token: `${token}-${alma.names[landing]}`, changes: [left, [landing, disc]] });
      }
    }
  }
  return moves.length ? moves : [{ token: "pass", changes: [] }];
};

const dualma = {
  code: "dualma",
  board: alma,
  lines: rowsOfThree,
  linesThrough: through(alma, rowsOfThree),
  contents: ["", "w", "b", "-", "ww", "wb", "-", "bw", "bb"],
  start: "5/6/7/8/9/8/7/6/5 b 0",
  first: 1,

  isWon: (line, cells, side) => line.every((cell) => isStack(cells[cell]) && topOf(cells[cell]) === side + 1),

  moves: (position) => {
    if (position.winner !== null) return [];
    return position.ply < 11 ? placements(position) : movements(position);
  },

  /** Neighbours in the placement phase; later discs on top, stacks and rows of three that lack one. */
  evaluate: ({ cells, side, ply }) => {
    let worth = 0;
    const own = side + 1;
    for (const cell of alma.cells) {
      const content = cells[cell];
      if (!content) continue;
      const sign = topOf(content) === own ? 1 : -1;
      if (ply < 12) for (const near of alma.near[cell]) worth += cells[near] === content ? sign : 0;
      worth += isStack(content) ? 5 * sign : 2 * sign;
    }
    for (const [a, b, c] of rowsOfThree) {
      const stacks = [cells[a], cells[b], cells[c]].filter(isStack);
      if (stacks.length === 2 && topOf(stacks[0]) === topOf(stacks[1])) worth += topOf(stacks[0]) === own ? 6 : -6;
    }
    return worth;
  },
};

// ---- DuploLine

/* A cell holds 1 or 2 for a white or black disc and 4 or 8 for a white or black ring, added up. */
const DISCS = 3;
const RINGS = 12;
const SUPPLY = 18;

const line = new Hexagon(4);
const rowsOfFour = line.lines(4);

const pieceOf = (kind, side) => (kind === DISCS ? 1 : 4) << side;

const isConnected = (cells, without) => {
  const occupied = line.cells.filter((cell) => cells[cell] && cell !== without);
  const reached = new Set(occupied.slice(0, 1));
  for (const cell of reached) for (const near of line.near[cell]) if (cells[near] && near !== without) reached.add(near);
  return reached.size === occupied.length;
};

/** The legal actions of a kind as {token, changes}, or the replacements if there are none. */
const actions = (cells, side, kind) => {
  const piece = pieceOf(kind, side);
  const opponent = 5 << (1 - side);
  const letter = kind === DISCS ? "D" : "R";
  const inSupply = cells.filter((content) => content & piece).length < SUPPLY;
  const canJoin = (cell) => cells[cell] && !(cells[cell] & kind);
  const add = (cell) => ({ token: letter + line.names[cell], changes: [[cell, cells[cell] | piece]] });
  const found = [];
  if (inSupply) {
    const beside = (cell) => !cells[cell] && line.near[cell].some((near) => cells[near] & opponent);
    found.push(...line.cells.filter(beside).map(add));
  }
  for (const from of line.cells.filter((cell) => cells[cell] === piece)) {
    const targets = line.near[from].filter(canJoin);
    if (!targets.length || !isConnected(cells, from)) continue;
    for (const to of targets) {
      const token = `${letter}${line.names[from]}-${line.names[to]}`;
      found.push({ token, changes: [[from, 0], [to, cells[to] | piece]] });
    }
  }
  return found.length || !inSupply ? found : line.cells.filter(canJoin).map(add);
};

/** The turns that begin with a disc action, or with a ring action. */
const turns = (position, kind) => {
  const { cells, side } = position;
  return actions(cells, side, kind).flatMap((first) => {
    const after = play(duploline, position, first);
    const seconds = after.winner === null ? actions(after.cells, side, DISCS + RINGS - kind) : [];
    if (!seconds.length) return [first];
    return seconds.map((second) => ({
      token: `${first.token}:${second.token}`,
      changes: [...first.changes, ...second.changes],
    }));
  });
};

const ROW = [0, 1, 4, 20, 0]; // by the number of pieces in a row with one kind and colour only

const duploline = {
  code: "duploline",
  board: line,
  lines: rowsOfFour,
  linesThrough: through(line, rowsOfFour),
  contents: ["", "D", "d", "", "R", "DR", "dR", "", "r", "Dr", "dr"],
  start: "4/5/6/7/6/5/4 w 0",
  first: 0,

  isWon: (row, cells, side) =>
    [DISCS, RINGS].some((kind) => row.every((cell) => cells[cell] & pieceOf(kind, side))),

  moves: (position) => {
    const { cells, side, winner } = position;
    if (winner !== null || cells.every((content) => content)) return [];
    if (cells.some((content) => content)) return [...turns(position, DISCS), ...turns(position, RINGS)];
    return [1, 4].flatMap((piece) =>
      line.cells.map((cell) => ({ token: "D__R"[piece - 1] + line.names[cell], changes: [[cell, piece << side]] })),
    );
  },

  evaluate: ({ cells, side }) => {
    let worth = 0;
    for (const [a, b, c, d] of rowsOfFour) {
      for (const kind of [DISCS, RINGS]) {
        let mine = 0;
        let theirs = 0;
        for (const content of [cells[a], cells[b], cells[c], cells[d]]) {
          if (content & pieceOf(kind, side)) mine++;
          else if (content & kind) theirs++;
        }
        if (!theirs) worth += ROW[mine];
        else if (!mine) worth -= ROW[theirs];
      }
    }
    return worth;
  },
};

const GAMES = [dualma, duploline];

const perft = (game, position, depth) =>
  depth === 0
    ? 1
    : game.moves(position).reduce((sum, move) => sum + perft(game, play(game, position, move), depth - 1), 0);

// ---- the search

/* All moves are sorted by the score of the next position. Then, from the best on, the replies to each
 * are searched, and the move whose best reply is worst for the opponent is played. The program reads its
 * input between two moves, so a move with its replies is the unit of its work. */

const WIN = 1e6;

class OutOfNodes extends Error {}

class Search {
  constructor(game, position, limits) {
    Object.assign(this, { game, position, limits });
    this.started = performance.now();
    this.nodes = 0;
    this.stopped = false;
  }

  get mustEnd() {
    return this.stopped || performance.now() - this.started >= this.limits.budget;
  }

  /** A move, the position after it, and its score for the mover before a reply. */
  look(position, move) {
    if (this.nodes >= this.limits.nodes) throw new OutOfNodes();
    this.nodes++;
    const after = play(this.game, position, move);
    return { move, after, worth: after.winner === null ? -this.game.evaluate(after) : WIN };
  }

  /** The score of a move after the best reply; stops when it is known to be worse than `enough`. */
  answered({ after, worth }, enough) {
    if (worth === WIN) return WIN;
    let least = Infinity;
    for (const reply of this.game.moves(after)) {
      least = Math.min(least, -this.look(after, reply).worth);
      if (least <= enough) break;
      if (this.mustEnd) return -Infinity;
    }
    return least === Infinity ? 0 : least; // nobody can move: a draw
  }

  async choose() {
    const moves = this.game.moves(this.position);
    let best = moves[0];
    try {
      const prospects = [];
      for (const move of moves) {
        prospects.push(this.look(this.position, move));
        if (this.mustEnd) break;
      }
      prospects.sort((one, other) => other.worth - one.worth);
      best = prospects[0].move;
      this.report(1, prospects[0].worth, best);
      let most = -Infinity;
      for (const prospect of this.limits.depth > 1 ? prospects : []) {
        await new Promise(setImmediate);
        const worth = this.answered(prospect, most);
        if (this.mustEnd) break;
        if (worth > most) {
          most = worth;
          best = prospect.move;
          this.report(2, worth, best);
        }
        if (worth === WIN) break;
      }
    } catch (error) {
      if (!(error instanceof OutOfNodes)) throw error;
    }
    return best;
  }

  report(depth, worth, { token }) {
    const score = Math.abs(worth) === WIN ? `mate ${worth > 0 ? 1 : -2}` : `cp ${5 * worth}`;
    const ms = Math.round(performance.now() - this.started);
    say(`info depth ${depth} score ${score} time ${ms} nodes ${this.nodes} pv ${token}`);
  }
}

// ---- the protocol

const say = (text) => process.stdout.write(`${text}\n`);

let game = GAMES[0];
let position = parsePosition(game, game.start);
let played = { start: "", tokens: [] }; // the start and the moves of the position
let search = null;

/** The limits of a search by the numbers of "go". */
const limitsOf = (words) => {
  const number = (name) => (words.includes(name) ? Number(words[words.indexOf(name) + 1]) : undefined);
  const player = position.side === game.first ? "p1" : "p2";
  const left = number(`${player}time`);
  const increment = number(`${player}inc`) ?? 0;
  const share = left === undefined ? Infinity : Math.min(left / 25 + increment * 0.75, left * 0.8);
  return {
    budget: Math.min(share, (number("movetime") ?? Infinity) * 0.8),
    nodes: number("nodes") ?? Infinity,
    depth: number("depth") ?? Infinity,
  };
};

/** Plays only the new moves: finding a move among a thousand is slow. */
const setPosition = (text) => {
  const [where, moves = ""] = text.split(/ *\bmoves\b */);
  const start = where.startsWith("fen ") ? where.slice(4) : game.start;
  const tokens = moves.split(" ").filter((token) => token);
  if (start !== played.start || played.tokens.some((token, ply) => token !== tokens[ply])) {
    played = { start, tokens: [] };
    position = parsePosition(game, start);
  }
  for (const token of tokens.slice(played.tokens.length)) {
    const move = game.moves(position).find((legal) => legal.token === token);
    if (!move) return say(`info string illegal move ${token}`);
    position = play(game, position, move);
    played.tokens.push(token);
  }
  return undefined;
};

const setVariant = (code) => {
  game = GAMES.find((known) => known.code === code) ?? game;
  setPosition("startpos");
};

const go = async (words) => {
  if (!game.moves(position).length) return say("bestmove none");
  search = new Search(game, position, limitsOf(words));
  const { token } = await search.choose();
  search = null;
  return say(`bestmove ${token}`);
};

const COMMANDS = {
  ugi: () => {
    const codes = GAMES.map(({ code }) => code);
    say("id name Hexagons in JavaScript\nid author Duarena");
    say(`option name UGI_Variant type combo default ${codes[0]} var ${codes.join(" var ")}\nugiok`);
  },
  setoption: (words) => words[1] === "UGI_Variant" && setVariant(words[3]),
  position: (words) => setPosition(words.join(" ")),
  isready: () => say("readyok"),
  go,
  perft: ([depth]) => say(String(perft(game, position, Number(depth)))),
  fen: () => say(formatPosition(game, position)),
};

/** Lines that arrive during a search wait for its end, except those that concern it. */
const waiting = [];
let busy = false;

const answerAll = async () => {
  if (busy) return;
  busy = true;
  while (waiting.length) {
    const [word, ...words] = waiting.shift().trim().split(/ +/);
    const answered = Object.hasOwn(COMMANDS, word) && COMMANDS[word](words);
    if (word === "go") await answered; // everything else is finished already
  }
  busy = false;
};

const hear = (text) => {
  const word = text.trim();
  if (word === "quit") process.exit(0);
  else if (word === "isready" && search) say("readyok");
  else if (word === "stop" && search) search.stopped = true;
  else waiting.push(text);
};

let pending = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (pending + chunk).split("\n");
  pending = lines.pop();
  for (const each of lines) {
    hear(each);
    answerAll();
  }
});
process.stdin.on("end", () => {
  if (search) search.stopped = true;
});
