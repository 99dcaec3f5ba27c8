"""The benchmark that kills a match, with few kills, and its detection of errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kills
from engines.records import Record
from engines.rules.base import Result
from tests.support.matches import QUICK, engine, run_match

pytestmark = pytest.mark.slow

Played = tuple[list[Record], list[dict[str, Any]]]


def test_a_match_killed_at_any_moment_leaves_nothing_and_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines are gone within a second of the match; ten times that here."""
    monkeypatch.setattr(kills, "MAX_RUN_GAMES", 5)
    monkeypatch.setattr(kills, "DEATH_SECONDS", 10.0)
    outcome = kills.run_kills(tmp_path, kills=4, games=90, seed=7)
    assert outcome.wrong == ()
    assert outcome.games == 90
    assert outcome.kills >= 2
    assert outcome.torn >= 1


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The games of a match of two rounds and what it told of them."""
    words = [*engine("A"), *engine("B"), *QUICK, "-rounds", "2", "-json"]
    finished = run_match(tmp_path_factory.mktemp("match"), *words)
    return list(finished.games.values()), finished.events


def test_games_missing_twice_or_of_no_plan_are_noticed(played: Played) -> None:
    games, events = played
    plan = [event for event in events if event["event"] == "game"]
    assert list(kills.compare_records(games, plan)) == []
    assert list(kills.compare_records(games[1:], plan)) == ["game dogon-kulei/1/1/1 is missing"]
    assert list(kills.compare_records([*games, games[0]], plan)) == [
        "game dogon-kulei/1/1/1 is there 2 times"
    ]
    assert list(kills.compare_records(games, plan[1:])) == ["game dogon-kulei/1/1/1 is not in the plan"]


def test_standings_that_the_records_do_not_bear_out_are_noticed(played: Played) -> None:
    games, events = played
    assert list(kills.compare_standings(games, events)) == []
    turned = replace(games[0], result=Result.DRAW)
    assert len(list(kills.compare_standings([turned, *games[1:]], events))) == 2
