"""The table, and the estimate of the remaining time."""

from __future__ import annotations

import pytest

from engines.arithmetic.intervals import interval
from engines.arithmetic.statistics import Pentanomial, Wdl
from tests.support.matches import game_of
from workers.match.reports import remaining_seconds
from workers.match.results import Scores, format_table, rank_rows, remarks

KULEI = ("dogon-kulei",)


def scores_of(*games: str) -> Scores:
    """Games as ``round game white black result``."""
    scores = Scores(["A", "B", "C"])
    for text in games:
        meeting, number, white, black, result = text.split()
        scores.add(game_of(f"dogon-kulei/{meeting}/1/{number}", white, black, result))
    return scores


PLAYED = ("1 1 A B 1-0", "1 2 B A 1/2-1/2", "2 1 C A 0-1", "2 2 A C 1-0", "3 1 B C 0-1")


def test_engines_are_ranked_by_their_share_of_points() -> None:
    rows = rank_rows(scores_of(*PLAYED), KULEI)
    assert [(row.name, row.games) for row in rows] == [
        ("A", Wdl(0, 1, 3)),
        ("C", Wdl(2, 0, 1)),
        ("B", Wdl(2, 1, 0)),
    ]
    assert (rows[0].white, rows[0].black) == (Wdl(0, 0, 2), Wdl(0, 1, 1))


def test_pairs_count_for_both_players_in_any_order_of_their_games() -> None:
    for games in (PLAYED, PLAYED[::-1]):
        pairs = {row.name: row.pairs for row in rank_rows(scores_of(*games), KULEI)}
        assert pairs == {
            "A": Pentanomial(wd=1, ww=1),
            "B": Pentanomial(ld=1),
            "C": Pentanomial(ll=1),
        }


def test_strength_is_estimated_from_pairs_and_without_any_from_games() -> None:
    rows = rank_rows(scores_of(*PLAYED), KULEI)
    assert rows[0].interval == interval(Pentanomial(wd=1, ww=1))
    (row, *_) = rank_rows(scores_of("1 1 A B 1-0"), KULEI)
    assert row.interval == interval(Wdl(0, 0, 1))


def test_a_table_that_rests_on_forfeits_says_so() -> None:
    scores = scores_of(*PLAYED)
    assert list(remarks(scores, KULEI, rank_rows(scores, KULEI))) == []
    scores.add(game_of("dogon-kulei/3/1/2", "C", "B", "0-1", termination="crash", fault="white"))
    assert list(remarks(scores, KULEI, rank_rows(scores, KULEI))) == [
        "1 of 6 games are forfeits (C 1): the table shows faults, not strength."
    ]


def test_copies_of_games_are_counted() -> None:
    scores = scores_of()
    for number, line in enumerate(["a", "a", "b", "a", "c"], 1):
        white, black = ("A", "B") if number % 2 else ("B", "A")
        scores.add(game_of(f"dogon-kulei/{number}/1/1", white, black)._replace(line=line))
    scores.add(game_of("dogon-kulei/6/1/1", "A", "C")._replace(line="a"))
    assert list(remarks(scores, KULEI, rank_rows(scores, KULEI))) == [
        "Copies of other games: 2 of 6, 4 distinct. The interval is too narrow; use more openings."
    ]


def test_the_table_has_columns() -> None:
    rows = rank_rows(scores_of(*PLAYED), KULEI, withdrawn=["B"])
    lines = list(format_table(rows))
    assert (
        lines[0].split()
        == "engine games points score Elo low high LOS draws LL-LD-DD-WD-WW white forfeits".split()
    )
    assert lines[1].split()[:5] == ["1", "A", "4", "3.5", "87.5%"]
    assert lines[1].split()[-4:] == ["25.0%", "0-0-0-1-1", "100.0%", "0"]
    assert "B (withdrawn)" in lines[3]
    assert lines[4] == "White scored 50.0% of 5 games."


def test_a_table_before_the_first_game_has_the_names() -> None:
    assert [line.split() for line in format_table(rank_rows(Scores(["A", "B"]), KULEI))][1:] == [
        ["1", "A", "0"],
        ["2", "B", "0"],
    ]


def test_a_forfeit_is_counted_against_the_engine_at_fault() -> None:
    scores = Scores(["A", "B"])
    scores.add(game_of("dogon-kulei/1/1/1", "A", "B", "0-1", termination="crash", fault="white"))
    scores.add(game_of("dogon-kulei/1/1/2", "B", "A", "1-0", termination="crash", fault="black"))
    assert {row.name: row.forfeits for row in rank_rows(scores, KULEI)} == {"A": 2, "B": 0}


def test_a_table_can_be_of_some_ladders_alone() -> None:
    scores = scores_of(*PLAYED)
    scores.add(game_of("dualma/1/1/1", "B", "A", "1-0"))
    games = {ladders: rank_rows(scores, ladders)[0].games.games for ladders in (KULEI, ("dualma", *KULEI))}
    assert games == {KULEI: 4, ("dualma", *KULEI): 5}


def test_no_remaining_time_is_shown_before_some_games_are_played() -> None:
    assert remaining_seconds(100.0, games=7, left=10, running=4, slots=4) is None


def test_running_games_count_as_half_played() -> None:
    assert remaining_seconds(100.0, games=9, left=21, running=2, slots=2) == pytest.approx(200.0)
