// Duovallis in Rust: rules and a small alpha-beta search of its own.
//
// To build it, and to make a bundle of it for a site:
//
//     rustc -O -C target-feature=+crt-static -o duovallis duovallis.rs
//     cat > bot.toml <<'END'
//     [bot]
//     name = "Duovallis in Rust"
//     version = "1"
//     command = ["duovallis"]
//     games = ["duovallis"]
//     END
//     zip duovallis.zip bot.toml duovallis
//
// (crt-static, so that it runs on systems with other libraries.) engines/PROTOCOL.md describes the
// protocol, the docstring of engines/rules/duovallis.py the rules. Two additional commands help to check
// the rules: "perft N" counts the sequences of N moves from the present position, and "fen" prints it.
//
// Sections: the board, its moves, the search, the protocol.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{channel, Receiver, TryRecvError};
use std::time::{Duration, Instant};

const FILES: usize = 6;
const HOLES: usize = 4 * FILES;
const PATH: usize = 14;
const MOST_LAPS: u32 = 10_000;
const WIN: i64 = 1_000_000;
const MAX_DEPTH: u32 = 60;
const NODES_A_CHECK: u64 = 256;
const START: &str = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0";

// ---- the board

/// Holes count from a1 to f1, then a2, up to f4. `stones` are White's and Black's; `kept[side]` is the number
/// of the opponent's stones in front of a side.
#[derive(Clone)]
struct Board {
    stones: [[u32; 2]; HOLES],
    kept: [u32; 2],
    side: usize,
    ply: u32,
}

/// The holes on which a side sows, in their order.
fn path(side: usize) -> [usize; PATH] {
    let names: [&str; PATH] = if side == 0 {
        ["a1", "b1", "c1", "d1", "e1", "f1", "f2", "f3", "e3", "d3", "c3", "b3", "a3", "a2"]
    } else {
        ["f4", "e4", "d4", "c4", "b4", "a4", "a3", "a2", "b2", "c2", "d2", "e2", "f2", "f3"]
    };
    names.map(|name| hole_of(name).expect("a hole"))
}

fn hole_of(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    if bytes.len() != 2 || !(b'a'..=b'f').contains(&bytes[0]) || !(b'1'..=b'4').contains(&bytes[1]) {
        return None;
    }
    Some((bytes[1] - b'1') as usize * FILES + (bytes[0] - b'a') as usize)
}

fn name_of(hole: usize) -> String {
    format!("{}{}", (b'a' + (hole % FILES) as u8) as char, hole / FILES + 1)
}

/// Whose hole it is; None for the neutral ones, at both ends of the front rows.
fn owner(hole: usize) -> Option<usize> {
    let (rank, file) = (hole / FILES, hole % FILES);
    let is_end = file == 0 || file == FILES - 1;
    match rank {
        0 => Some(0),
        3 => Some(1),
        2 if !is_end => Some(0),
        1 if !is_end => Some(1),
        _ => None,
    }
}

/// The opponent's hole from which a sowing captures that ends in `hole`: across the valley.
fn opposite(hole: usize) -> Option<usize> {
    let other = [hole + FILES, hole.wrapping_sub(FILES)][(hole / FILES) % 2];
    let is_end = hole % FILES == 0 || hole % FILES == FILES - 1;
    if is_end { None } else { Some(other) }
}

impl Board {
    fn parse(text: &str) -> Option<Board> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        if fields.len() != 5 {
            return None;
        }
        let mut board = Board { stones: [[0; 2]; HOLES], kept: [0; 2], side: 0, ply: 0 };
        for (row, text) in fields[0].split('/').enumerate() {
            for (file, hole) in text.split(',').enumerate() {
                if row > 3 || file >= FILES {
                    return None;
                }
                board.stones[(3 - row) * FILES + file] = parse_hole(hole)?;
            }
        }
        board.side = if fields[1] == "w" { 0 } else { 1 };
        board.kept = [fields[2].parse().ok()?, fields[3].parse().ok()?];
        board.ply = fields[4].parse().ok()?;
        Some(board)
    }

    fn text(&self) -> String {
        let row = |rank: usize| {
            let holes = &self.stones[rank * FILES..(rank + 1) * FILES];
            holes.iter().map(format_hole).collect::<Vec<_>>().join(",")
        };
        let rows: Vec<String> = (0..4).rev().map(row).collect();
        let side = ["w", "b"][self.side];
        format!("{} {} {} {} {}", rows.join("/"), side, self.kept[0], self.kept[1], self.ply)
    }
}

fn parse_hole(text: &str) -> Option<[u32; 2]> {
    let mut found = [0; 2];
    let mut number = 0;
    for letter in text.chars() {
        match letter {
            '0'..='9' => number = number * 10 + letter.to_digit(10)?,
            'w' => { found[0] = number; number = 0 }
            'b' => { found[1] = number; number = 0 }
            _ => return None,
        }
    }
    Some(found)
}

fn format_hole(stones: &[u32; 2]) -> String {
    match stones {
        [0, 0] => "0".to_string(),
        [white, 0] => format!("{}w", white),
        [0, black] => format!("{}b", black),
        [white, black] => format!("{}w{}b", white, black),
    }
}

// ---- its moves

struct Rules {
    paths: [[usize; PATH]; 2],
}

impl Rules {
    /// The position after a move from a hole; None if the sowing does not end.
    fn play(&self, board: &Board, hole: usize) -> Option<Board> {
        let (side, other) = (board.side, 1 - board.side);
        let way = &self.paths[side];
        let mut next = board.clone();
        let mut at = way.iter().position(|&one| one == hole)?;
        let mut laps = 0;
        loop {
            laps += 1;
            if laps > MOST_LAPS {
                return None;
            }
            let hand = std::mem::replace(&mut next.stones[way[at]], [0; 2]);
            let mut was_empty = false;
            for number in 0..hand[0] + hand[1] {
                at = (at + 1) % PATH;
                let stones = &mut next.stones[way[at]];
                was_empty = stones[0] + stones[1] == 0;
                stones[if number < hand[other] { other } else { side }] += 1;
            }
            let stones = next.stones[way[at]];
            if was_empty {
                next.capture(way[at]);
                break;
            }
            if stones[side] < stones[other] {
                break;
            }
        }
        next.side = other;
        next.ply += 1;
        Some(next)
    }

    /// All moves with the positions after them; only the front row has moves if the back row has none.
    fn moves(&self, board: &Board) -> Vec<(usize, Board)> {
        let (side, other) = (board.side, 1 - board.side);
        for is_back in [true, false] {
            let mut found = Vec::new();
            for hole in 0..HOLES {
                let stones = board.stones[hole];
                let is_row = (hole / FILES == 0 || hole / FILES == 3) == is_back;
                let is_enough = stones[0] + stones[1] >= 2 && stones[side] >= stones[other];
                if owner(hole) == Some(side) && is_row && is_enough {
                    if let Some(next) = self.play(board, hole) {
                        found.push((hole, next));
                    }
                }
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn perft(&self, board: &Board, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        self.moves(board).iter().map(|(_, next)| self.perft(next, depth - 1)).sum()
    }
}

impl Board {
    /// Capture if the last stone of the side to move fell into an empty hole of its own.
    fn capture(&mut self, hole: usize) {
        let (side, other) = (self.side, 1 - self.side);
        if owner(hole) != Some(side) {
            return;
        }
        if let Some(from) = opposite(hole) {
            let taken = std::mem::replace(&mut self.stones[from], [0; 2]);
            self.kept[side] += taken[other];
            self.stones[hole][side] += taken[side] + self.kept[side] / 3;
            self.kept[side] %= 3;
        }
    }

    /// The stones of the side to move, less those of the other.
    fn value(&self) -> i64 {
        let sum = |side: usize| self.stones.iter().map(|hole| hole[side] as i64).sum::<i64>();
        100 * (sum(self.side) - sum(1 - self.side))
    }
}

// ---- the search

struct Limits {
    end: Option<Instant>,
    nodes: u64,
    depth: u32,
}

struct Search<'a> {
    rules: &'a Rules,
    input: &'a mut Input,
    limits: Limits,
    nodes: u64,
    is_over: bool,
}

impl Search<'_> {
    /// Whether the search must end: a limit is reached, or `stop` or `quit` has arrived.
    fn must_end(&mut self) -> bool {
        if self.nodes >= self.limits.nodes {
            self.is_over = true;
        } else if self.nodes % NODES_A_CHECK == 0 {
            let is_late = self.limits.end.map_or(false, |end| Instant::now() >= end);
            self.is_over |= is_late || self.input.has_stop();
        }
        self.is_over
    }

    fn value(&mut self, board: &Board, depth: u32, ply: i64, mut alpha: i64, beta: i64) -> i64 {
        if self.must_end() {
            return 0;
        }
        self.nodes += 1;
        let moves = self.rules.moves(board);
        if moves.is_empty() {
            return ply - WIN;
        }
        if depth == 0 {
            return board.value() + 10 * moves.len() as i64;
        }
        for (_, next) in &moves {
            let value = -self.value(next, depth - 1, ply + 1, -beta, -alpha);
            if self.is_over {
                return 0;
            }
            alpha = alpha.max(value);
            if alpha >= beta {
                break;
            }
        }
        alpha
    }

    /// The best move by iterative deepening; None if there is no move.
    fn run(&mut self, board: &Board) -> Option<usize> {
        let mut moves = self.rules.moves(board);
        let begun = Instant::now();
        let mut best = moves.first()?.0;
        for depth in 1..=self.limits.depth.min(MAX_DEPTH) {
            let mut alpha = -2 * WIN;
            let mut found = best;
            for (hole, next) in &moves {
                let value = -self.value(next, depth - 1, 1, -2 * WIN, -alpha);
                if self.is_over {
                    return Some(best);
                }
                if value > alpha {
                    alpha = value;
                    found = *hole;
                }
            }
            best = found;
            let ms = begun.elapsed().as_millis();
            let score = format_score(alpha);
            say(&format!("info depth {} score {} nodes {} time {} pv {}", depth, score, self.nodes, ms, name_of(best)));
            if alpha.abs() > WIN - 1000 {
                break;
            }
            moves.sort_by_key(|(hole, _)| *hole != best);
        }
        self.input.wait_if_endless(&self.limits);
        Some(best)
    }
}

fn format_score(value: i64) -> String {
    if value.abs() < WIN - 1000 {
        return format!("cp {}", value);
    }
    format!("mate {}", if value > 0 { WIN - value } else { -WIN - value })
}

// ---- the protocol

/// The lines of standard input, read in a thread, so that a search sees `stop`.
struct Input {
    lines: Receiver<String>,
    waiting: VecDeque<String>,
    is_closed: bool,
}

impl Input {
    fn new() -> Input {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).trim().to_string()).is_err() {
                    break;
                }
            }
        });
        Input { lines, waiting: VecDeque::new(), is_closed: false }
    }

    fn next(&mut self) -> Option<String> {
        self.waiting.pop_front().or_else(|| self.lines.recv().ok())
    }

    /// Whether `stop` or `quit` has arrived, or the input has ended. Answers `isready`; keeps other lines.
    fn has_stop(&mut self) -> bool {
        if let Some(at) = self.waiting.iter().position(|line| line == "stop") {
            self.waiting.remove(at);
            return true;
        }
        loop {
            match self.lines.try_recv() {
                Ok(line) if line == "isready" => say("readyok"),
                Ok(line) if line == "stop" => return true,
                Ok(line) => {
                    let is_end = line == "quit";
                    self.waiting.push_back(line);
                    if is_end {
                        return true;
                    }
                }
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => {
                    self.is_closed = true;
                    return true;
                }
            }
        }
    }

    /// A search without any limit answers only after `stop`, also if there is nothing left to search.
    fn wait_if_endless(&mut self, limits: &Limits) {
        let is_endless = limits.end.is_none() && limits.nodes == u64::MAX && limits.depth == u32::MAX;
        while is_endless && !self.has_stop() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn say(line: &str) {
    let mut out = io::stdout().lock();
    // An error means that nobody reads any more; the input then ends too.
    let _ = writeln!(out, "{}", line).and_then(|_| out.flush());
}

/// The limits of a `go` line for the side to move; White is p1.
fn read_limits(words: &[&str], side: usize) -> Limits {
    let number = |name: &str| -> Option<u64> {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse::<i64>().ok().map(|value| value.max(0) as u64)
    };
    let clock = number(["p1time", "p2time"][side]);
    let increment = number(["p1inc", "p2inc"][side]).unwrap_or(0);
    let share = clock.map(|left| (left / 25 + increment / 2).min(left / 3));
    let budget = [share, number("movetime").map(|ms| ms.saturating_sub(10 + ms / 10))];
    let ms = budget.iter().flatten().min().copied();
    Limits {
        end: ms.map(|ms| Instant::now() + Duration::from_millis(ms)),
        nodes: number("nodes").unwrap_or(u64::MAX),
        depth: number("depth").map_or(u32::MAX, |depth| depth.clamp(1, MAX_DEPTH as u64) as u32),
    }
}

/// The board of a `position` line; None if a word of it is not understood.
fn read_position(words: &[&str], rules: &Rules) -> Option<Board> {
    let end = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
    let mut board = match words.first() {
        Some(&"fen") => Board::parse(&words[1..end].join(" "))?,
        _ => Board::parse(START)?,
    };
    for token in words.iter().skip(end + 1) {
        board = rules.play(&board, hole_of(token)?)?;
    }
    Some(board)
}

fn introduce() {
    say("id name Duovallis in Rust");
    say("id author Duarena");
    say("option name UGI_Variant type combo default duovallis var duovallis");
    say("ugiok");
}

fn main() {
    let rules = Rules { paths: [path(0), path(1)] };
    let mut input = Input::new();
    let mut board = Board::parse(START).expect("the start");
    while let Some(line) = input.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first().copied() {
            Some("ugi") => introduce(),
            Some("isready") => say("readyok"),
            Some("position") => board = read_position(&words[1..], &rules).unwrap_or(board),
            Some("perft") => {
                let depth = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(1);
                say(&rules.perft(&board, depth).to_string());
            }
            Some("fen") => say(&board.text()),
            Some("go") => {
                let limits = read_limits(&words[1..], board.side);
                let mut search = Search { rules: &rules, input: &mut input, limits, nodes: 0, is_over: false };
                let best = search.run(&board).map_or("none".to_string(), name_of);
                say(&format!("bestmove {}", best));
            }
            Some("quit") => return,
            _ => {}
        }
        if input.is_closed && input.waiting.is_empty() {
            return;
        }
    }
}
