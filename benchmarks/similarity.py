"""Measures what the similarity of bots tells apart: versions of one bot, clones with renamed parts, others.

Independent bots play a round robin, which gives their ratings and the sampled positions. Then they, later
versions of the bots, and clones answer every position: clones have another name, and constants of their
evaluation that are changed by up to the share of their name. Each version and each clone is compared with all
independent bots in turn, as if it had been uploaded by somebody else. It prints both errors: independent bots
that would be reported, and clones that would not.

    python -m benchmarks.similarity --ladder dogon-kulei
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.measuring import describe_machine, head, parser_of, row
from engines.hard_positions import HARD_POSITIONS
from engines.rules.base import Position, Result
from engines.rules.history import History
from engines.rules.registry import GAMES
from tournament.arithmetic.similarity import Answers, Similarity, compare

GAMES_SAMPLED: Final = 20
PLIES_A_GAME: Final = 8
GAME_MS: Final = 20
OPENING_PLIES: Final = 4

OWN_EVALUATIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "dogon-kulei": {
        "plain": "100 * (p.stores[0] - p.stores[1])",
        "own": "sum(p.holes[:6]) - sum(p.holes[6:])",
        "holes": "p.holes[6:].count(0) - p.holes[:6].count(0)",
        "spread": "60 * (p.stores[0] - p.stores[1]) + 40 * (p.holes[6:].count(0) - p.holes[:6].count(0))",
        "heavy": "50 * (p.stores[0] - p.stores[1]) - 9 * (max(p.holes[:6]) - max(p.holes[6:]))",
    },
    "duovallis": {
        "plain": "100 * (sum(p.holes[0]) - sum(p.holes[1]))",
        "own": "sum(p.holes[0][:6]) - sum(p.holes[1][-6:])",
        "holes": "p.holes[1].count(0) - p.holes[0].count(0)",
        "spread": "5 * (sum(p.holes[0]) - sum(p.holes[1])) + 9 * (p.holes[1].count(0) - p.holes[0].count(0))",
        "heavy": "30 * (sum(p.holes[0]) - sum(p.holes[1])) - 40 * (max(p.holes[0]) - max(p.holes[1]))",
    },
}
"""White's advantage in a position ``p``, as four authors might have it who do not know each other."""
COMPILED: Final[Mapping[str, tuple[str, str, str, Sequence[str]]]] = {
    "dogon-kulei": ("dogon.c", "AT_HOME = 10", "AT_HOME = 13", ("cc", "-O2")),
    "duovallis": (
        "duovallis.rs",
        "100 * (sum(self.side) - sum(1 - self.side))",
        "90 * sum(self.side) - 110 * sum(1 - self.side)",
        ("rustc", "-O"),
    ),
}
"""A program, a constant of its evaluation, its value in a clone, and the compiler."""
CONSTANTS: Final[Mapping[str, Sequence[str]]] = {
    "dogon-kulei": ("SEED", "HOME"),
    "duovallis": ("STONE", "NEUTRAL", "OPENING"),
}
"""Those of the sample bots' evaluation."""


MINIMAX: Final = """
def value(p, depth):
    outcome = p.outcome()
    if outcome.decided and outcome.result is Result.DRAW:
        return 0
    if outcome.decided:
        return 10**6 if outcome.result is Result.win_for(p.side) else -10**6
    if depth == 0:
        return evaluate(p)
    return max(-value(p.play(move), depth - 1) for move in p.legal_moves())
def choose(turn):
    values = {move: -value(turn.position.play(move), DEPTH - 1) for move in turn.position.legal_moves()}
    best = max(values.values())
    return turn.random.choice([move for move, found in values.items() if found == best])
"""
PLAYOUTS: Final = """
def playout(p, side):
    while not (outcome := p.outcome()).decided and p.ply < 200:
        p = p.play(p.move_at(random.randrange(p.count_moves())))
    if not outcome.decided or outcome.result is Result.DRAW:
        return 0.5
    return outcome.result is Result.win_for(side)
def choose(turn):
    moves = {move: [1, 1] for move in turn.position.legal_moves()}
    while not turn.should_stop():
        for move, found in moves.items():
            found[0] += playout(turn.position.play(move), turn.position.side)
            found[1] += 1
    return max(moves, key=lambda move: moves[move][0] / moves[move][1])
"""
"""Searches that share nothing with those of the sample bots."""


@dataclass(frozen=True, slots=True)
class Program:
    """A bot: its command, and the program that it comes from."""

    name: str
    command: Sequence[str]
    origin: str = ""
    """Such as ``clone of Alphabeta``; empty: none."""
    ms: int = 0
    """Its time for a position; 0 is that of all."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("similarity", __doc__)
    parser.add_argument("--ladder", choices=list(CONSTANTS), default="dogon-kulei")
    parser.add_argument("--ms", type=int, default=100, help="for a position (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (default %(default)s)")
    parser.add_argument("--pairs", action="store_true", help="print every pair")
    options = parser.parse_args(arguments)
    print(*describe_machine(), "", sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        independent = list(_independent(options.ladder, Path(folder)))
        games = list(pool.map(lambda pair: _play(options.ladder, *pair), _meetings(independent)))
        positions = _sample(options.ladder, [line for line, _ in games])
        programs = [*independent, *_related(options.ladder, Path(folder))]
        begun = time.monotonic()
        moves = pool.map(lambda one: _answer(options.ladder, one, positions, options.ms), programs)
        found = dict(zip([one.name for one in programs], moves, strict=True))
    seconds = options.jobs * (time.monotonic() - begun) / len(programs)
    print(f"{len(positions)} positions, {seconds:.0f} s of a slot a version", "", sep="\n")
    ratings = _ratings(independent, [points for _, points in games])
    _report(programs, found, ratings, {name: players for name, (_, players) in positions.items()}, options)
    return 0


def _independent(ladder: str, folder: Path) -> Iterator[Program]:
    yield Program("Random", _sample_bot("random"))
    yield Program("Alphabeta", _sample_bot("alphabeta"))
    yield Program("Compiled", _compiled(ladder, folder))
    yield Program("MCTS", _sample_bot("mcts", _own_evaluation(ladder, "plain")))
    yield Program("Greedy", _sample_bot("greedy", _own_evaluation(ladder, "heavy")))
    yield Program("Playouts", _python("import random", PLAYOUTS))
    for depth, name in ((1, "holes"), (2, "plain"), (3, "spread"), (4, "own")):
        evaluation = f"e.EVALUATIONS[{ladder!r}]"
        change = f"{_own_evaluation(ladder, name)}\nevaluate, DEPTH = {evaluation}, {depth}"
        yield Program(f"Minimax {depth}", _python(change, MINIMAX))


def _related(ladder: str, folder: Path) -> Iterator[Program]:
    """Later versions of Alphabeta; clones of it, of the compiled program and of MCTS."""
    version = "version of Alphabeta"
    yield Program("half the time", _sample_bot("alphabeta"), version, 50)
    yield Program("twice the time", _sample_bot("alphabeta"), version, 200)
    yield Program("a term less", _sample_bot("alphabeta", _scaled(ladder, [1, 0])), version)
    yield Program("another evaluation", _sample_bot("alphabeta", _own_evaluation(ladder, "spread")), version)
    for share in (0.0, 0.1, 0.2, 0.3):
        for number in range(3 if share else 1):
            chance = random.Random(f"{share} {number}")
            factors = [1 + share * chance.uniform(-1, 1) for _ in CONSTANTS[ladder]]
            changed = _sample_bot("alphabeta", _scaled(ladder, factors))
            yield Program(f"{share:.0%} {number}", changed, "clone of Alphabeta")
    mcts = _own_evaluation(ladder, "plain")
    yield Program("0% mcts", _sample_bot("mcts", mcts), "clone of MCTS")
    yield Program(
        "30% mcts",
        _sample_bot("mcts", f"{mcts}\nimport engines.bots.tree as t\nt.EXPLORATION *= 1.3"),
        "clone of MCTS",
    )
    yield Program("30% compiled", _compiled(ladder, folder, changed=True), "clone of Compiled")


def _compiled(ladder: str, folder: Path, *, changed: bool = False) -> Sequence[str]:
    """The bot in C or Rust, which shares nothing with those in Python; ``changed``: its evaluation."""
    name, old, new, compiler = COMPILED[ladder]
    text = (Path("engines/bots/languages") / name).read_text()
    assert old in text
    source = folder / f"{'changed_' if changed else ''}{name}"
    source.write_text(text.replace(old, new) if changed else text)
    subprocess.run([*compiler, "-o", source.with_suffix(".run"), source], check=True)
    return (str(source.with_suffix(".run")),)


def _sample_bot(search: str, change: str = "") -> Sequence[str]:
    return _python(change, f"import engines.bots.{search}_bot as b\nchoose = b.choose")


def _python(change: str, search: str) -> Sequence[str]:
    lines = (
        "import engines.bots.evaluation as e",
        "from engines.bots.evaluation import Result, Side",
        "from engines.sdk import run",
        change,
        search,
        "run(choose, name='One', author='Anybody')",
    )
    return sys.executable, "-c", "\n".join(lines)


def _own_evaluation(ladder: str, name: str) -> str:
    own = OWN_EVALUATIONS[ladder][name]
    return f"e.EVALUATIONS[{ladder!r}] = lambda p: ({own}) * (1 if p.side is e.Side.WHITE else -1)"


def _scaled(ladder: str, factors: Sequence[float]) -> str:
    pairs = zip(CONSTANTS[ladder], factors, strict=False)
    return "; ".join(f"e.{name} = round(e.{name} * {factor})" for name, factor in pairs)


class Engine:
    """A process that speaks the protocol."""

    def __init__(self, ladder: str, program: Program) -> None:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(program.command, bufsize=1, **pipes)
        self._ask("ugi", "ugiok")
        self._say(f"setoption name UGI_Variant value {ladder}")
        self._say("uginewgame")
        self._ask("isready", "readyok")

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def choose(self, start: str, moves: Sequence[str], ms: int) -> str:
        given = f"fen {start}" if start else "startpos"
        self._say(f"position {given} moves {' '.join(moves)}" if moves else f"position {given}")
        return self._ask(f"go movetime {ms}", "bestmove").split()[1]

    def _say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")

    def _ask(self, line: str, answer: str) -> str:
        assert self._process.stdout
        self._say(line)
        for said in self._process.stdout:
            if said.startswith(answer):
                return str(said)
        raise SystemExit(f"an engine ended after {line!r}")


def _meetings(programs: Sequence[Program]) -> list[tuple[Program, Program, int]]:
    pairs = enumerate(combinations(programs, 2))
    return [(other, one, at) if at % 2 else (one, other, at) for at, (one, other) in pairs]


Line = tuple[Sequence[str], tuple[str, str]]


def _play(ladder: str, white: Program, black: Program, seed: int) -> tuple[Line, dict[str, float]]:
    """A game: its moves and players, and the points of both."""
    rules, chance = GAMES[ladder], random.Random(seed)
    history = History(rules)
    moves: list[str] = []
    with Engine(ladder, white) as first, Engine(ladder, black) as second:
        while not history.outcome.decided:
            if len(moves) < OPENING_PLIES:
                move = chance.choice(list(history.position.legal_moves()))
            else:
                move = (first, second)[len(moves) % 2].choose("", moves, GAME_MS)
            history.play(move)
            moves.append(move)
    result = history.outcome.result
    first_won = {Result.DRAW: 0.5, Result.win_for(rules.first): 1.0}.get(result or Result.DRAW, 0.0)
    return (moves, (white.name, black.name)), {white.name: first_won, black.name: 1 - first_won}


Sampled = dict[str, tuple[tuple[str, Sequence[str]], Sequence[str]]]
"""By name: start and moves of a position, and the players of its game."""


def _sample(ladder: str, lines: Sequence[Line]) -> Sampled:
    rules = GAMES[ladder]
    found: Sampled = {}
    for number, text in enumerate(HARD_POSITIONS[ladder]):
        start, _, moves = text.partition(" moves ")
        position: Position = rules.position.parse(start)
        for token in moves.split():
            position = position.play(token)
        if _is_choice(position):
            found[f"hard {number}"] = (start, moves.split()), ()
    for played, players in random.Random(1).sample(lines, min(GAMES_SAMPLED, len(lines))):
        position, choices = rules.position.initial(), []
        for ply, token in enumerate(played):
            if ply > OPENING_PLIES and _is_choice(position):
                choices.append(ply)
            position = position.play(token)
        step = max(1, len(choices) // PLIES_A_GAME)
        for ply in choices[::step][:PLIES_A_GAME]:
            found[f"{players} {len(found)}"] = ("", played[:ply]), players
    return found


def _is_choice(position: Position) -> bool:
    return not position.outcome().decided and position.count_moves() > 1


def _answer(ladder: str, program: Program, positions: Sampled, ms: int) -> dict[str, str]:
    with Engine(ladder, program) as engine:
        return {name: engine.choose(*line, program.ms or ms) for name, (line, _) in positions.items()}


def _ratings(programs: Sequence[Program], points: Sequence[dict[str, float]]) -> dict[str, float]:
    return {one.name: sum(game.get(one.name, 0.0) for game in points) for one in programs}


def _report(
    programs: Sequence[Program],
    moves: Mapping[str, Mapping[str, str]],
    ratings: Mapping[str, float],
    players: Mapping[str, Sequence[str]],
    options: Any,
) -> None:
    numbers = {one.name: number for number, one in enumerate(programs, start=1)}
    own = {name: [numbers[player] for player in of] for name, of in players.items()}

    def answers(one: Program) -> Answers:
        base = one.origin.partition(" of ")[2] or one.name
        number = numbers[one.name]
        return Answers(number, number, number, ratings[base], moves[one.name])

    independent = [one for one in programs if not one.origin]
    population = [answers(one) for one in independent]
    kinds: dict[str, list[Similarity]] = {"independent": list(compare(population, own))}
    for one in programs[len(independent) :]:
        kind, _, base = one.origin.partition(" of ")
        named = f"clone, {one.name.split()[0]}" if kind == "clone" else f"version, {one.name}"
        for pair in compare([*population, answers(one)], own):
            if {pair.one, pair.other} == {numbers[one.name], numbers[base]}:
                kinds.setdefault(named, []).append(pair)
    print(head("pairs", "number", "same moves, %", "expected, %", "excess, %", "told"))
    for kind, pairs in kinds.items():
        known = [pair for pair in pairs if pair.expected is not None]
        print(
            row(
                kind,
                len(known),
                _range([100 * pair.share for pair in known]),
                _range([100 * (pair.expected or 0) for pair in known]),
                _range([100 * (pair.excess or 0) for pair in known]),
                sum(pair.is_striking for pair in known),
            )
        )
    if options.pairs:
        _list_pairs(kinds, {number: name for name, number in numbers.items()})


def _list_pairs(kinds: Mapping[str, Sequence[Similarity]], names: Mapping[int, str]) -> None:
    for kind, pairs in kinds.items():
        for pair in sorted(pairs, key=lambda one: one.excess or 0):
            players = names[pair.one], names[pair.other]
            numbers = (f"{number or 0:.2f}" for number in (pair.share, pair.expected, pair.excess))
            print(row(kind, *players, pair.positions, *numbers))


def _range(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{min(values):.0f} to {max(values):.0f}, median {median(values):.0f}"


if __name__ == "__main__":
    sys.exit(main())
