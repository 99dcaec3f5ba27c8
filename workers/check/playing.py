"""Checks of an engine's play: legal, in time and repeatable, on each of its ladders.

Each raises ``Misconduct``, or returns if all is well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engines.protocol import RESIGN, SEED_OPTION, Go, format_message
from engines.rules.history import History
from engines.rules.registry import Variant
from workers.check.bench import CheckedEngines
from workers.check.protocol_checks import LIGHT, LONG, PATIENCE_SECONDS, judge
from workers.check.situations import Situation, draw_long_situation, draw_situation, given_as_text, start_of
from workers.check.subject import Misconduct, Subject
from workers.check.verdicts import judge_info, judge_log, judge_time

GRACE_SECONDS = 2.0
"""After its time an answer is waited for so long, to tell a late one from none."""
LATE_TIMES = 3
"""So often in a row an answer must be late: this machine may have other work."""
STOP_SECONDS = 1.0
"""For the answer to ``stop``, which is to come at once."""
SEARCHING_SECONDS = 0.2
"""How long a search has been going on when it is stopped."""
GAME_PLIES = 40
GAME_SECONDS = 5.0
"""A whole game is broken off after either."""
FEW_NODES = Go(nodes=50)
_SEED = 2026


def plays_legally(bench: CheckedEngines, game: Variant) -> None:
    """From the start and later, for either side, from position strings too."""
    subject = bench.take()
    subject.begin_game(game)
    for situation in _some_situations(game):
        subject.search(situation, LIGHT, PATIENCE_SECONDS)
    for situation in given_as_text(draw_situation(game, 6, _SEED), game):
        subject.search(situation, LIGHT, PATIENCE_SECONDS)


def tells_readable_lines(bench: CheckedEngines, game: Variant) -> None:
    subject = bench.take()
    subject.begin_game(game)
    for situation in _some_situations(game):
        answer = subject.search(situation, LIGHT, PATIENCE_SECONDS)
        for line in answer.lines:
            judge(judge_info(line, situation.position))


def follows_long_games(bench: CheckedEngines, game: Variant) -> None:
    subject = bench.take()
    subject.begin_game(game)
    situation = draw_long_situation(game, _SEED)
    subject.search(situation, LIGHT, PATIENCE_SECONDS)


def keeps_its_time(bench: CheckedEngines, game: Variant) -> None:
    """By either clock, a time for the move, nodes, depth, and several at once."""
    subject = bench.take()
    subject.begin_game(game)
    for limits in _time_controls(game):
        _search_in_time(subject, limits)


@dataclass(frozen=True, slots=True)
class _Limits:
    """A search and the milliseconds it may take; None is as long as patience lasts."""

    situation: Situation
    go: Go
    limit_ms: int | None


def _time_controls(game: Variant) -> Iterator[_Limits]:
    first, second = start_of(game), draw_situation(game, 1, _SEED)
    yield _Limits(first, Go(p1_time_ms=1000, p2_time_ms=1000, p1_inc_ms=500, p2_inc_ms=500), 1000)
    yield _Limits(first, Go(p1_time_ms=1500, p2_time_ms=60_000, p1_inc_ms=0, p2_inc_ms=0), 1500)
    yield _Limits(second, Go(p1_time_ms=60_000, p2_time_ms=1500, p1_inc_ms=0, p2_inc_ms=0), 1500)
    yield _Limits(first, Go(movetime_ms=1000), 1000)
    yield _Limits(first, Go(nodes=50), None)
    yield _Limits(first, Go(depth=1), None)
    yield _Limits(second, Go(movetime_ms=1000, nodes=50, depth=2), 1000)


def _search_in_time(subject: Subject, limits: _Limits) -> None:
    if limits.limit_ms is None:
        subject.search(limits.situation, limits.go, PATIENCE_SECONDS)
        return
    for _ in range(LATE_TIMES):
        answer = subject.search(limits.situation, limits.go, limits.limit_ms / 1000 + GRACE_SECONDS)
        late = judge_time(answer.used_ms, limits.limit_ms)
        if late is None:
            return
    raise Misconduct(f"to '{format_message(limits.go)}' {late}, {LATE_TIMES} times in a row")


def stops_when_told(bench: CheckedEngines, game: Variant) -> None:
    """An answer that comes before it is stopped will do as well."""
    subject = bench.take()
    subject.begin_game(game)
    situation = draw_situation(game, 4, _SEED)
    asked_ns = time.monotonic_ns()
    subject.ask(situation, LONG)
    if subject.take_answer(situation, asked_ns, SEARCHING_SECONDS) is not None:
        return
    subject.send("stop")
    if subject.take_answer(situation, asked_ns, STOP_SECONDS) is None:
        raise Misconduct(f"no bestmove within {STOP_SECONDS:g} second of stop")


def plays_a_game(bench: CheckedEngines, game: Variant) -> None:
    """Both sides of it, as far as time allows; its log must be fit for the longest game."""
    subject = bench.take()
    subject.begin_game(game)
    subject.take_stderr()
    before = subject.stderr_size
    history = History(game)
    end = time.monotonic() + GAME_SECONDS
    while not history.outcome.decided and len(history.moves) < GAME_PLIES and time.monotonic() < end:
        situation = Situation(None, tuple(history.moves), history.position)
        answer = subject.search(situation, LIGHT, PATIENCE_SECONDS)
        if answer.move == RESIGN:
            break
        history.play(answer.move)
    subject.take_stderr()
    judge(judge_log(subject.stderr_size - before, len(history.moves), game.ply_limit))


def repeats_itself(bench: CheckedEngines, game: Variant) -> None:
    """The same seed gives the same moves in another process; asked only of engines that take a seed."""
    if SEED_OPTION not in bench.take().declared:
        return
    first, second = (_moves_of(bench.fresh(), game) for _ in range(2))
    if first != second:
        raise Misconduct(
            f"with the same {SEED_OPTION} and '{format_message(FEW_NODES)}' it played {_told(first)} "
            f"in one process and {_told(second)} in another"
        )


def forgets_earlier_games(bench: CheckedEngines, game: Variant) -> None:
    """What it plays after another game is what a fresh process plays.

    Where two fresh processes differ anyway, nothing can be said.
    """
    subject = bench.fresh()
    before = _moves_of(subject, game)
    subject.begin_game(game, _SEED + 1)
    for plies in (2, 5):
        subject.search(draw_situation(game, plies, _SEED + 1), FEW_NODES, PATIENCE_SECONDS)
    after = _moves_of(subject, game)
    if after != before and _moves_of(bench.fresh(), game) == before:
        raise Misconduct(
            f"after another game and uginewgame it played {_told(after)}, but {_told(before)} when fresh"
        )


def _moves_of(subject: Subject, game: Variant) -> list[str]:
    """Its choices in a new game, under few nodes and always the same seed."""
    subject.begin_game(game, _SEED)
    situations = _some_situations(game)
    return [subject.search(situation, FEW_NODES, PATIENCE_SECONDS).move for situation in situations]


def _some_situations(game: Variant) -> list[Situation]:
    """The start, and positions for both sides a little later."""
    return [start_of(game), *(draw_situation(game, plies, _SEED) for plies in (1, 6, 15))]


def _told(moves: Sequence[str]) -> str:
    return f"'{' '.join(moves)}'"
