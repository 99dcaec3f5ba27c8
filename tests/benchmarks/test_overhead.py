"""The benchmark of the overhead measures whole games of the expected line, refereed and recorded."""

from __future__ import annotations

import os

import pytest

from benchmarks.overhead import PLIES, Bench, compile_engine, draw_line, seconds_a_game, time_bare, time_match
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.support.needs import need

PLIES_ALLOWED = {"duploline": 50}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    need("cc")
    folder = tmp_path_factory.mktemp("overhead")
    return Bench(GAMES["duploline"], compile_engine(folder), folder)


@pytest.mark.parametrize("code", GAMES)
def test_a_line_is_legal_and_as_long_as_the_game_allows(code: str) -> None:
    line = draw_line(GAMES[code])
    history = History(GAMES[code], ply_limit=PLIES)
    for token in line:
        history.play(token)
    assert history.outcome.decided
    assert len(line) == PLIES_ALLOWED.get(code, PLIES)


@pytest.mark.parametrize("group", [1, 7, 40])
def test_games_that_are_reported_together_are_not_counted_without_their_time(group: int) -> None:
    games = range(1, 551)
    ends = [float(min(game + -game % group, 550)) for game in games]
    assert seconds_a_game(ends) == pytest.approx(1.0)


@pytest.mark.slow
def test_a_match_and_a_bare_loop_are_timed(bench: Bench) -> None:
    core = max(os.sched_getaffinity(0))
    seconds = (time_match(bench, 12, cores=[core], infos=2), time_bare(bench, 12, core=core, infos=2))
    assert all(taken > 0 for taken in seconds)
