"""Measures the speed of the rules in the form in use: ``python -m engines bench``.

All figures are for one process and in processor time. Each is that of the fastest of five parts, because
other load of the machine can only slow a part down. The line of a ladder contains, measured one after the
other:

- random playouts a second, and their plies: games drawn by ``engines.rules.playout`` from the start
  position to the end by the rules or the ply limit, with each move spelled as a token and played;
- perft leaves a second from the start position, at the greatest depth that fits into the time.
  The last ply is counted, not played, as is usual;
- the referee's microseconds a move: ``History.play`` over random games drawn beforehand. It parses
  the token, plays it, finds the outcome by the rules and counts repetitions.
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from time import process_time
from typing import Final

from engines import compiled
from engines.counting import perft
from engines.rules.base import Position
from engines.rules.history import History
from engines.rules.playout import Dice, draw_game
from engines.rules.registry import Variant

SEED: Final = 1
REPLAYED_MOVES: Final = 2_000
"""The least number of moves that the referee replays; drawn beforehand, so that drawing is not measured."""
PARTS: Final = 5
"""Parts of the time for a figure; only the fastest counts."""
STARTS: Final = 5
"""Processes whose import of the rules is timed; only the fastest counts."""


COLUMNS: Final = (
    f"{'playouts/s':>11} {'plies/s':>12} {'perft leaves/s':>15} {'depth':>6} {'referee µs/move':>16}"
)
HEADER: Final = f"{'ladder':<12} {COLUMNS}"


def run_benchmark(games: Sequence[Variant], seconds: float) -> Iterator[str]:
    """Yields the benchmark's lines as they are measured; every figure takes about ``seconds``."""
    yield f"rules: {describe_form()}"
    yield f"importing them: {time_import() * 1000:.0f} ms"
    yield ""
    yield HEADER
    costs = []
    for game in games:
        line, referee_us = measure(game, seconds)
        costs.append(referee_us)
        yield line
    yield ""
    middle = statistics.median(costs)
    yield f"referee: {middle:.2f} µs a move at the median ladder, {max(costs):.2f} in the worst"


def describe_form() -> str:
    """Whether the rules run compiled, the reason if not, and the Python version."""
    why_plain = compiled.FINDER.why_plain
    machine = f"{platform.python_implementation()} {platform.python_version()} on {platform.machine()}"
    return f"plain Python, {machine}: {why_plain}" if why_plain else f"compiled, {machine}"


def time_import() -> float:
    """Seconds that a new process takes to import the rules, without its own start."""
    package = str(Path(__file__).parents[1])
    script = (
        f"import sys, time; sys.path.insert(0, {package!r}); start = time.process_time();"
        "import engines.rules; print(time.process_time() - start)"
    )
    return min(float(subprocess.check_output((sys.executable, "-c", script))) for _ in range(STARTS))


def measure(game: Variant, seconds: float) -> tuple[str, float]:
    """The line of a ladder, below ``HEADER``, and the referee's microseconds a move."""
    dice = Dice(SEED)
    start = game.position.initial()
    games, plies, playing = _repeat(lambda: len(draw_game(start, game.ply_limit, dice)), seconds)
    depth = deepest_perft(start, seconds)
    _, leaves, counting = _repeat(partial(perft, start, depth), seconds)
    recorded = _record_games(game, dice)
    _, moves, judging = _repeat(lambda: sum(_replay(game, tokens) for tokens in recorded), seconds)
    referee_us = judging / moves * 1e6
    rates = f"{games / playing:>11,.1f} {plies / playing:>12,.0f} {leaves / counting:>15,.0f}"
    return f"{game.code:<12} {rates} {depth:>6} {referee_us:>16.2f}", referee_us


def _repeat(work: Callable[[], int], seconds: float) -> tuple[int, int, float]:
    """Repeat ``work`` for the time; returns calls, the sum of results and seconds of the fastest part."""
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
    """The greatest depth at which a count can be expected to take at most ``seconds``."""
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
