"""Checks of an engine's play on each of its ladders: legal, in time and repeatable.

Each raises ``CheckFailed``, or returns if the engine passes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from engines.hard_positions import WON_POSITIONS
from engines.positions import read_hard_positions
from engines.protocol import RESIGN, SEED_OPTION, BestMove, Go, format_message
from engines.rules.history import History
from engines.rules.registry import Variant
from workers.check.account import has_free_core
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import CheckedProcess, CheckFailed, FaultKind
from workers.check.protocol_checks import ANSWER_SECONDS, LONG_SEARCH, SHORT_SEARCH, fail_if
from workers.check.situations import (
    Situation,
    draw_long_situation,
    draw_situation,
    given_as_text,
    parse_situation,
    start_of,
)
from workers.check.verdicts import (
    find_score,
    judge_end,
    judge_info,
    judge_log,
    judge_memory,
    judge_scores,
    judge_time,
)

GRACE_SECONDS = 2.0
"""The extra wait for an answer after its time, to distinguish a late answer from none."""
LATE_TIMES = 3
"""An answer must be late this many times in a row, because a delay of the machine may not be known as one.
Where none is known, it must be late while this program has a core to itself."""
STOP_SECONDS = 1.0
"""The time limit for the answer to ``stop``."""
SEARCHING_SECONDS = 0.2
"""The time of a search before it is stopped."""
GAME_PLIES = 40
GAME_SECONDS = 5.0
"""The whole game ends after this time, or after ``GAME_PLIES``."""
SHORT_TIMES_MS = (50, 100)
LOW_CLOCK_MS = 500
"""What may be left on a clock near the end of a game."""
WON_SEARCH = Go(movetime_ms=100)
OVER_SECONDS = 1.0
"""How long an answer is awaited where the game is over, and none is needed."""
FEW_NODES = Go(nodes=50)
_SEED = 2026


def plays_legally(engine: CheckedEngine, game: Variant) -> None:
    """Positions at the start and later, for both sides, also given as position strings."""
    process = engine.begin_game(game)
    for situation in (*_some_situations(game), *given_as_text(draw_situation(game, 6, _SEED), game)):
        process.search(situation, SHORT_SEARCH, ANSWER_SECONDS)


def writes_readable_info(engine: CheckedEngine, game: Variant) -> None:
    process = engine.begin_game(game)
    for situation in _some_situations(game):
        answer = process.search(situation, SHORT_SEARCH, ANSWER_SECONDS)
        for line in answer.lines:
            fail_if(judge_info(line, situation.position))


def follows_long_games(engine: CheckedEngine, game: Variant) -> None:
    situation = draw_long_situation(game, _SEED)
    engine.begin_game(game).search(situation, SHORT_SEARCH, ANSWER_SECONDS)


def obeys_time_controls(engine: CheckedEngine, game: Variant) -> None:
    """With either side's clock, a time for the move, nodes, depth, and several at once."""
    process = engine.begin_game(game)
    for situation, go, limit_ms in _time_controls(game):
        _search_in_time(process, situation, go, limit_ms)


def _time_controls(game: Variant) -> tuple[tuple[Situation, Go, int | None], ...]:
    """Searches and their time limits in milliseconds; None is only the limit of ``ANSWER_SECONDS``."""
    first, second, short = start_of(game), draw_situation(game, 1, _SEED), LOW_CLOCK_MS
    return (
        (first, Go(p1_time_ms=1000, p2_time_ms=1000, p1_inc_ms=500, p2_inc_ms=500), 1000),
        (first, Go(p1_time_ms=1500, p2_time_ms=60_000, p1_inc_ms=0, p2_inc_ms=0), 1500),
        (second, Go(p1_time_ms=60_000, p2_time_ms=1500, p1_inc_ms=0, p2_inc_ms=0), 1500),
        (first, Go(movetime_ms=1000), 1000),
        (first, Go(p1_time_ms=short, p2_time_ms=short, p1_inc_ms=0, p2_inc_ms=0), short),
        (first, Go(nodes=50), None),
        (first, Go(depth=1), None),
        (second, Go(movetime_ms=1000, nodes=50, depth=2), 1000),
    )


def _search_in_time(process: CheckedProcess, situation: Situation, go: Go, limit_ms: int | None) -> None:
    if limit_ms is None:
        process.search(situation, go, ANSWER_SECONDS)
        return
    for _ in range(LATE_TIMES):
        answer = process.search(situation, go, limit_ms / 1000 + GRACE_SECONDS, exactly=True)
        late = judge_time(answer.charge, limit_ms)
        if late is None or not (process.clock is not None or has_free_core()):
            return
    raise CheckFailed(f"to '{format_message(go)}' {late}, {LATE_TIMES} times in a row")


def obeys_short_times(engine: CheckedEngine, game: Variant) -> None:
    """A short time for the move: an engine must not always take the same time."""
    process = engine.begin_game(game)
    for situation in (start_of(game), draw_situation(game, 6, _SEED)):
        for limit_ms in SHORT_TIMES_MS:
            _search_in_time(process, situation, Go(movetime_ms=limit_ms), limit_ms)


def answers_stop(engine: CheckedEngine, game: Variant) -> None:
    """An answer before the ``stop`` passes as well."""
    process = engine.begin_game(game)
    situation = draw_situation(game, 4, _SEED)
    process.start_search(situation, LONG_SEARCH)
    if process.take_answer(situation, SEARCHING_SECONDS) is not None:
        return
    process.send("stop")
    if process.take_answer(situation, STOP_SECONDS) is None:
        raise CheckFailed(f"no bestmove within {STOP_SECONDS:g} second of stop")


def plays_a_game(engine: CheckedEngine, game: Variant) -> None:
    """The engine plays both sides; its standard error and memory must stay small enough for a game."""
    process = engine.begin_game(game)
    process.take_stderr()
    before = process.engine.stderr.size
    history = History(game)
    end = time.monotonic() + GAME_SECONDS
    memory = []
    while not history.outcome.decided and len(history.moves) < GAME_PLIES and time.monotonic() < end:
        situation = Situation(None, tuple(history.moves), history.position)
        answer = process.search(situation, SHORT_SEARCH, ANSWER_SECONDS)
        if answer.move == RESIGN:
            break
        memory.append(process.account.memory_bytes())
        history.play(answer.move)
    process.take_stderr()
    fail_if(judge_log(process.engine.stderr.size - before, len(history.moves), game.ply_limit))
    if (grown := judge_memory(memory, game.typical_plies // 2)) is not None:
        sentence, is_lost = grown
        raise CheckFailed(sentence, FaultKind.MEMORY if is_lost else FaultKind.GROWTH)


def scores_from_its_own_side(engine: CheckedEngine, game: Variant) -> None:
    """Positions that the mover wins at once, for both sides; ends at the first answer without a score."""
    process = engine.begin_game(game)
    scores = []
    for text in WON_POSITIONS.get(game.code, ()):
        situation = parse_situation(game, text)
        score = find_score(process.search(situation, WON_SEARCH, ANSWER_SECONDS).lines)
        if score is None:
            return
        scores.append((situation.position.side, score))
    fail_if(judge_scores(scores))


def knows_the_end(engine: CheckedEngine, game: Variant) -> None:
    """In positions that are over it answers no move. A server never asks, so any other behaviour passes."""
    process = engine.begin_game(game)
    for row in read_hard_positions(game.code):
        if row.result:
            over = Situation(row.position, (), game.position.parse(row.position))
            try:
                process.start_search(over, WON_SEARCH)
                lines = process.read_until(BestMove, OVER_SECONDS)
            except CheckFailed:
                lines = None
            if lines is None:
                engine.clear()
                return
            fail_if(judge_end(lines[-1], row.result))


def is_repeatable(engine: CheckedEngine, game: Variant) -> None:
    """The same seed gives the same moves in another process; only for engines with ``UGI_Seed``."""
    if SEED_OPTION not in engine.running().declared:
        return
    first, second = (_moves_of(engine.restart(), game) for _ in range(2))
    if first != second:
        raise CheckFailed(
            f"with the same {SEED_OPTION} and '{format_message(FEW_NODES)}' it played {_quoted(first)} "
            f"in one process and {_quoted(second)} in another"
        )


def forgets_earlier_games(engine: CheckedEngine, game: Variant) -> None:
    """After another game it plays the same moves as a new process.

    Passes if two new processes differ from each other.
    """
    process = engine.restart()
    before = _moves_of(process, game)
    process.begin_game(game, _SEED + 1)
    for plies in (2, 5):
        process.search(draw_situation(game, plies, _SEED + 1), FEW_NODES, ANSWER_SECONDS)
    after = _moves_of(process, game)
    if after != before and _moves_of(engine.restart(), game) == before:
        raise CheckFailed(
            f"after another game and uginewgame it played {_quoted(after)}, but {_quoted(before)} when fresh"
        )


def _moves_of(process: CheckedProcess, game: Variant) -> list[str]:
    """Its moves in a new game, with few nodes and always the same seed."""
    process.begin_game(game, _SEED)
    situations = _some_situations(game)
    return [process.search(situation, FEW_NODES, ANSWER_SECONDS).move for situation in situations]


def _some_situations(game: Variant) -> list[Situation]:
    """The start, and later positions for both sides."""
    return [start_of(game), *(draw_situation(game, plies, _SEED) for plies in (1, 6, 15))]


def _quoted(moves: Sequence[str]) -> str:
    return f"'{' '.join(moves)}'"
