"""A match whose runner is killed by SIGKILL, and whose files are damaged, is continued without loss."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from engines.records import verify_record
from tests.support.jobs import processes_with, wait_until
from tests.support.matches import QUICK, engine, finish_match, read_games, run_match, start_match

pytestmark = pytest.mark.slow

GAMES = 40
KILLED_AFTER = (0, 3, 5, 4)
"""The number of games that each run reports before it is killed; 0: during its start."""
TORN_BYTES = 700
"""About half a game."""


def test_a_match_killed_again_and_again_plays_every_game_once(tmp_path: Path, mark: str) -> None:
    """Before the third run the end of the record file is cut off, before the fourth the state is deleted."""
    slow = ("go:1", "late", "0.01")
    words = [*engine("A", *slow, mark=mark), *engine("B", *slow, mark=mark), *QUICK]
    words += ["-rounds", str(GAMES // 2), "-concurrency", "2", "-json"]
    records = tmp_path / "match.pgn"
    for number, games in enumerate(KILLED_AFTER):
        if number == 2:
            os.truncate(records, records.stat().st_size - TORN_BYTES)
        if number == 3:
            (tmp_path / "match.pgn.state").unlink()
        match = start_match(tmp_path, *words, "-resume")
        assert match.stdout is not None
        reported = (line for line in match.stdout if json.loads(line)["event"] == "game")
        assert len(list(zip(range(games), reported, strict=False))) == games
        match.kill()
        assert match.communicate()[1] == ""
        assert wait_until(lambda: not processes_with(mark)), "engines outlive the match"
    ended = finish_match(start_match(tmp_path, *words, "-resume"), tmp_path)
    played = read_games(records)
    planned = run_match(tmp_path, *words, "-dry-run").events
    assert Counter(game.header("GameId") for game in played) == Counter(game["id"] for game in planned)
    assert [sentence for game in played for sentence in verify_record(game)] == []
    (table,) = (event for event in ended.events if event["event"] == "table")
    wins = Counter(game.header("White" if str(game.result) == "1-0" else "Black")
                   for game in played if str(game.result) in {"1-0", "0-1"})  # fmt: skip
    assert {row["name"]: row["wins"] for row in table["rows"]} == {name: wins[name] for name in "AB"}
    again = run_match(tmp_path, *words, "-resume")
    assert again.code == 0
    assert not any(event["event"] == "game" for event in again.events)
