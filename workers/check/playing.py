"""Checks of an engine's play on each of its ladders: legal, in time and repeatable.

Each raises ``CheckFailed``, or returns if the engine passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import itemgetter

from engines.hard_positions import WON_POSITIONS
from engines.positions import read_hard_positions
from engines.protocol import RESIGN, SEED_OPTION, BestMove, Go, format_message
from engines.rules.history import History
from engines.rules.registry import Variant
from workers.check.account import FILES, THREADS, has_free_core
from workers.check.checked_engine import CheckedEngine
from workers.check.checked_process import Answer, CheckedProcess, CheckFailed, FaultKind
from workers.check.protocol_checks import ANSWER_SECONDS, LONG_SEARCH, SHORT_SEARCH, fail_if
from workers.check.situations import (
    Situation,
    draw_situation,
    given_as_text,
    parse_situation,
    read_long_game,
    start_of,
)
from workers.check.verdicts import (
    find_score,
    judge_best_line,
    judge_end,
    judge_info,
    judge_leaks,
    judge_log,
    judge_memory,
    judge_scores,
    judge_time,
)
from workers.game.fastpath.clock import NS_PER_MS
from workers.sandbox.limits import Limits

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
SHORT_TIMES_MS = (20, 50, 100)
SHORT_CLOCK_MS = 90
EMPTY_CLOCKS_MS = (20, 1, 0)
FIRST_MOVE_MS = 1500
KEPT_CLOCK_MS = 1000
MAX_OF_CLOCK = 0.8
"""A move that takes more of a clock without increments loses the game with the next one."""
LATE_MOVES = (20, 30, 39, 40, 41, 50, 60, 61, 80, 100)
"""The numbers of a player's moves at which its use of the clock is looked at."""
LOW_CLOCK_MS = 500
"""What may be left on a clock near the end of a game."""
WON_SEARCH = Go(movetime_ms=100)
OVER_SECONDS = 1.0
"""How long an answer is awaited where the game is over, and none is needed."""
FEW_NODES = Go(nodes=50)
_SEED = 2026


def answers_its_first_move(engine: CheckedEngine, game: Variant) -> None:
    """The first move of a new process also fits into a short clock."""

    def search(go: Go, seconds: float) -> tuple[CheckedProcess, Answer]:
        process = engine.restart()
        process.begin_game(game)
        return process, process.search(start_of(game), go, seconds, exactly=True)

    _require_in_time(search, _clock(FIRST_MOVE_MS), FIRST_MOVE_MS, "its first move: ")


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
        if answer.move != RESIGN:
            fail_if(judge_best_line(answer.lines, answer.move))


def follows_long_games(engine: CheckedEngine, game: Variant) -> None:
    engine.begin_game(game).search(read_long_game(game)[-1], SHORT_SEARCH, ANSWER_SECONDS)


def obeys_time_controls(engine: CheckedEngine, game: Variant) -> None:
    """With either side's clock, a time for the move, nodes, depth, and several at once."""
    process = engine.begin_game(game)
    for situation, go, limit_ms in _time_controls(game):
        _search_in_time(process, situation, go, limit_ms)
    long_game = read_long_game(game)
    for number in (number for number in LATE_MOVES if 2 * number <= len(long_game)):
        _keeps_time(process, long_game[2 * (number - 1)], number)


def _clock(left_ms: int, inc_ms: int = 0) -> Go:
    return Go(p1_time_ms=left_ms, p2_time_ms=left_ms, p1_inc_ms=inc_ms, p2_inc_ms=inc_ms)


def _time_controls(game: Variant) -> tuple[tuple[Situation, Go, int | None], ...]:
    """Searches and their time limits in milliseconds; None is only the limit of ``ANSWER_SECONDS``."""
    first, second = start_of(game), draw_situation(game, 1, _SEED)
    return (
        (first, _clock(1000, 500), 1000),
        (first, Go(p1_time_ms=1500, p2_time_ms=60_000, p1_inc_ms=0, p2_inc_ms=0), 1500),
        (second, Go(p1_time_ms=60_000, p2_time_ms=1500, p1_inc_ms=0, p2_inc_ms=0), 1500),
        (first, Go(movetime_ms=1000), 1000),
        (first, _clock(LOW_CLOCK_MS), LOW_CLOCK_MS),
        (second, _clock(LOW_CLOCK_MS, 2000), LOW_CLOCK_MS),
        (first, Go(nodes=50), None),
        (first, Go(depth=1), None),
        (second, Go(movetime_ms=1000, nodes=50, depth=2), 1000),
    )


def _keeps_time(process: CheckedProcess, situation: Situation, number: int) -> None:
    """Fail if its move ``number`` of a game takes nearly the whole clock, so that the next one is late."""
    go = _clock(KEPT_CLOCK_MS)
    for _ in range(LATE_TIMES):
        answer = process.search(situation, go, KEPT_CLOCK_MS / 1000 + GRACE_SECONDS, exactly=True)
        used_ms = answer.charge.used_ns // NS_PER_MS
        if used_ms <= MAX_OF_CLOCK * KEPT_CLOCK_MS or not _is_measured(process):
            return
    raise CheckFailed(
        f"to '{format_message(go)}' move {number} of a game took {used_ms} ms, {LATE_TIMES} times in a row: "
        "too little is left for the moves that follow"
    )


def _search_in_time(process: CheckedProcess, situation: Situation, go: Go, limit_ms: int | None) -> None:
    def search(go: Go, seconds: float) -> tuple[CheckedProcess, Answer]:
        return process, process.search(situation, go, seconds, exactly=limit_ms is not None)

    if limit_ms is None:
        search(go, ANSWER_SECONDS)
    else:
        _require_in_time(search, go, limit_ms)


def _require_in_time(
    search: Callable[[Go, float], tuple[CheckedProcess, Answer]], go: Go, limit_ms: int, what: str = ""
) -> None:
    """Fail if the answer of ``search(go, seconds)`` is late ``LATE_TIMES`` times in a row."""
    for _ in range(LATE_TIMES):
        process, answer = search(go, limit_ms / 1000 + GRACE_SECONDS)
        late = judge_time(answer.charge, limit_ms)
        if late is None or not _is_measured(process):
            return
    raise CheckFailed(f"{what}to '{format_message(go)}' {late}, {LATE_TIMES} times in a row")


def _is_measured(process: CheckedProcess) -> bool:
    """Whether a long time is the engine's own: the machine's part is known, or it has a core to itself."""
    return process.clock is not None or has_free_core()


def obeys_short_times(engine: CheckedEngine, game: Variant) -> None:
    """A short time for the move, and the end of a clock: an engine must not always take the same time.

    On a clock that is as good as empty the answer may be late, but must come.
    """
    process = engine.begin_game(game)
    for situation in (start_of(game), draw_situation(game, 6, _SEED)):
        for limit_ms in SHORT_TIMES_MS:
            _search_in_time(process, situation, Go(movetime_ms=limit_ms), limit_ms)
        _search_in_time(process, situation, _clock(SHORT_CLOCK_MS), SHORT_CLOCK_MS)
        for left_ms in EMPTY_CLOCKS_MS:
            process.search(situation, _clock(left_ms), ANSWER_SECONDS)


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
    """The engine plays both sides; what it uses must stay small enough for a game."""
    process = engine.begin_game(game)
    process.take_stderr()
    before = process.engine.stderr.size
    history = History(game)
    end = time.monotonic() + GAME_SECONDS
    memory: list[int] = []
    counts: list[dict[str, int]] = []
    while not history.outcome.decided and len(history.moves) < GAME_PLIES and time.monotonic() < end:
        situation = Situation(None, tuple(history.moves), history.position)
        answer = process.search(situation, SHORT_SEARCH, ANSWER_SECONDS)
        if answer.move == RESIGN:
            break
        memory.append(process.account.memory_bytes())
        counts.append(process.account.count_things())
        history.play(answer.move)
    process.take_stderr()
    fail_if(judge_log(process.engine.stderr.size - before, len(history.moves), game.ply_limit))
    limits = Limits()
    grown = [judge_memory(memory, game.typical_plies // 2)]
    for what, most in ((THREADS, limits.processes), (FILES, limits.open_files)):
        grown.append(judge_leaks(what, [count[what] for count in counts], game.ply_limit // 2, most))
    for sentence, is_lost in sorted(filter(None, grown), key=itemgetter(1), reverse=True):
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
            fail_if(judge_end(lines[-1], row.result, over.position))


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
