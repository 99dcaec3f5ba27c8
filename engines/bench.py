"""How fast the rules are here, in the form in which they are in use: ``python -m engines bench``.

All figures are for one process and of processor time, and each is that of the fastest of five parts,
so that what else the machine does disturbs them little: it can only slow the others. A ladder's line
holds, measured one after the other:

- random playouts a second, and their plies: games drawn by ``engines.rules.playout`` from the start
  position to the end by the rules or the ply limit, each move made as a token and played;
- perft leaves a second from the start position, at the deepest count that fits into the time.
  The last ply is counted, not played, as is usual;
- the referee's microseconds a move: ``History.play`` over random games drawn beforehand, which is
  reading the token, playing it, the outcome by the rules, and counting repetitions.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from time import process_time
from typing import Final

from engines import compiled
from engines.rules.base import Position
from engines.rules.history import History
from engines.rules.perft import perft
from engines.rules.playout import Dice, draw_game
from engines.rules.registry import Variant

SEED: Final = 1
REPLAYED_MOVES: Final = 2_000
"""Moves of the games the referee replays, at least; drawn once, so that drawing is not measured."""
PARTS: Final = 5
"""Of the time for a figure; the fastest counts, the others were disturbed."""
STARTS: Final = 5
"""Processes whose import of the rules is timed; the fastest counts, the others were disturbed."""


COLUMNS: Final = (
    f"{'playouts/s':>11} {'plies/s':>12} {'perft leaves/s':>15} {'depth':>6} {'referee µs/move':>16}"
)
HEADER: Final = f"{'ladder':<12} {COLUMNS}"


@dataclass(frozen=True, slots=True)
class Speed:
    """The figures of one ladder; rates are per second of processor time."""

    code: str
    playouts: float
    plies: float
    leaves: float
    depth: int
    """Plies of the perft."""
    referee_us: float
    """Microseconds of a referee for one move."""


def run_benchmark(games: Sequence[Variant], seconds: float) -> Iterator[str]:
    """The lines of the benchmark, each as soon as it is known; every figure takes about so many seconds."""
    yield f"rules: {describe_form()}"
    yield f"importing them: {time_import() * 1000:.0f} ms"
    yield ""
    yield HEADER
    costs = []
    for game in games:
        speed = measure(game, seconds)
        costs.append(speed.referee_us)
        yield format_speed(speed)
    yield ""
    middle = statistics.median(costs)
    yield f"referee: {middle:.2f} µs a move at the median ladder, {max(costs):.2f} in the worst"


def format_speed(speed: Speed) -> str:
    """The line of a ladder, below ``HEADER``."""
    rates = f"{speed.playouts:>11,.1f} {speed.plies:>12,.0f} {speed.leaves:>15,.0f}"
    return f"{speed.code:<12} {rates} {speed.depth:>6} {speed.referee_us:>16.2f}"


def describe_form() -> str:
    """Compiled or not, why not, and in which Python."""
    why_plain = compiled.FINDER.why_plain
    machine = f"{platform.python_implementation()} {platform.python_version()} on {platform.machine()}"
    return f"plain Python, {machine}: {why_plain}" if why_plain else f"compiled, {machine}"


def time_import() -> float:
    """Seconds that a fresh process takes to import the rules, after its own start."""
    package = str(Path(__file__).parents[1])
    script = (
        f"import sys, time; sys.path.insert(0, {package!r}); start = time.process_time();"
        "import engines.rules; print(time.process_time() - start)"
    )
    return min(float(subprocess.check_output((sys.executable, "-c", script))) for _ in range(STARTS))


def measure(game: Variant, seconds: float) -> Speed:
    """The speed of one ladder."""
    dice = Dice(SEED)
    start = game.position.initial()
    games, plies, playing = _repeat(lambda: len(draw_game(start, game.ply_limit, dice)), seconds)
    depth = deepest_perft(start, seconds)
    _, leaves, counting = _repeat(partial(perft, start, depth), seconds)
    recorded = _record_games(game, dice)
    _, moves, judging = _repeat(lambda: sum(_replay(game, tokens) for tokens in recorded), seconds)
    return Speed(
        code=game.code,
        playouts=games / playing,
        plies=plies / playing,
        leaves=leaves / counting,
        depth=depth,
        referee_us=judging / moves * 1e6,
    )


def _repeat(work: Callable[[], int], seconds: float) -> tuple[int, int, float]:
    """Repeat until the time is up: the times, what was done and the seconds, in the fastest part."""
    return max(
        (_repeat_once(work, seconds / PARTS) for _ in range(PARTS)), key=lambda part: part[1] / part[2]
    )


def _repeat_once(work: Callable[[], int], seconds: float) -> tuple[int, int, float]:
    times = done = 0
    spent = 0.0
    start = process_time()
    while not times or spent < seconds:
        done += work()
        times += 1
        spent = process_time() - start
    return times, done, spent


def deepest_perft(start: Position, seconds: float) -> int:
    """The deepest count that can be expected to take no longer than this."""
    leaves = 1
    for depth in count(1):
        _, counted, spent = _repeat_once(partial(perft, start, depth), 0)
        if not counted:
            return depth - 1
        if spent * counted / leaves > seconds:
            break
        leaves = counted
    return depth


def _record_games(game: Variant, dice: Dice) -> list[list[str]]:
    """Random games as a referee plays them, to the end by the match rules."""
    recorded: list[list[str]] = []
    while sum(map(len, recorded)) < REPLAYED_MOVES:
        history = History(game)
        while not history.outcome.decided:
            position = history.position
            history.play(position.move_at(dice.draw(position.count_moves())))
        recorded.append(history.moves)
    return recorded


def _replay(game: Variant, tokens: Sequence[str]) -> int:
    """Play a recorded game as the referee does; returns its moves."""
    play = History(game).play
    for token in tokens:
        play(token)
    return len(tokens)
