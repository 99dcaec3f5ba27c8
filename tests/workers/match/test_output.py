"""What happens when nobody reads a match's output, and tables at intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.matches import QUICK, engine, finish_match, run_match, start_match

pytestmark = pytest.mark.slow


def test_a_match_whose_reader_has_gone_stops_and_can_be_resumed(tmp_path: Path, mark: str) -> None:
    words = [*engine("A", mark=mark), *engine("B", mark=mark), *QUICK, "-rounds", "200"]
    match = start_match(tmp_path, *words)
    assert match.stdout is not None
    match.stdout.readline()
    match.stdout.close()
    match.stdout = None
    stopped = finish_match(match, tmp_path)
    assert (stopped.code, stopped.err) == (3, "")
    assert len(stopped.games) < 400


def test_the_table_is_printed_after_a_number_of_games(tmp_path: Path) -> None:
    done = run_match(tmp_path, *engine("A"), *engine("B"), *QUICK, *"-rounds 3 -ratinginterval 2".split())
    lines = done.out.splitlines()
    tables = [number for number, line in enumerate(lines) if "LL-LD-DD-WD-WW" in line]
    assert len(tables) == 4
    assert "low   high" in " ".join(lines[tables[0]].split()).replace("low high", "low   high")


def test_copies_are_counted_also_after_a_resume(tmp_path: Path) -> None:
    words = [*engine("A"), *engine("B"), *QUICK, "-json"]
    run_match(tmp_path, *words)
    done = run_match(tmp_path, *words, "-rounds", "2", "-resume")
    (table,) = [event for event in map(json.loads, done.out.splitlines()) if event["event"] == "table"]
    assert table["copies"] == 3
    assert table["remarks"][0].startswith("Copies of other games: 3 of 4, 1 distinct.")


def test_more_games_at_a_time_than_cores_are_warned_of(tmp_path: Path) -> None:
    done = run_match(tmp_path, *engine("A"), *engine("B"), *QUICK, "-concurrency", "1000")
    assert done.code == 0
    assert done.err.startswith(
        ("warning: -concurrency 1000: there are ", "warning: -concurrency 1000: there is 1 core")
    )


def test_games_are_played_with_the_colours_that_were_chosen(tmp_path: Path) -> None:
    done = run_match(tmp_path, *engine("A"), *engine("B"), *QUICK, *"-noswap -reverse -wait 5".split())
    assert [record.header("White") for record in done.games.values()] == ["B", "B"]
