"""Swiss events: rounds that depend on the results of earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.matches import QUICK, engine, game_of, run_match, terms_of
from workers.jobs import BOTH_UNABLE
from workers.match.ledger import Ledger
from workers.match.options.options import Format
from workers.match.options.words import MatchOptionError
from workers.match.results import GameResult


def swiss(names: str = "A B C D E", ladders: str = "dogon-kulei", rounds: int = 3) -> Ledger:
    return Ledger(terms_of(names, ladders, format=Format.SWISS, rounds=rounds))


def play_out(ledger: Ledger) -> list[GameResult]:
    """Play the games that the ledger gives, one pair at a time; the first of the alphabet wins."""
    played: list[GameResult] = []
    while (pair := ledger.next_pair()) is not None:
        for game in pair.games:
            white, black = ledger.players(pair, game)
            result = game_of(game.key, white, black, "1-0" if white < black else "0-1")
            ledger.record(result)
            played.append(result)
    return played


def lines(ledger: Ledger) -> list[str]:
    assert ledger.swiss is not None
    return list(ledger.swiss.lines())


def test_a_swiss_event_pairs_leaders_and_counts_byes() -> None:
    ledger = swiss()
    played = play_out(ledger)
    assert (ledger.done, ledger.total, ledger.left) == (len(played), 12, 0)
    meetings = [frozenset((game.white, game.black)) for game in played[::2]]
    assert len(set(meetings)) == 6
    assert lines(ledger)[0].startswith("dogon-kulei, points with byes: A 6")


def test_a_round_waits_for_the_last_game_of_the_one_before() -> None:
    ledger = swiss("A B C D", "dualma dogon-kulei")
    first = list(iter(ledger.next_pair, None))
    assert {pair.round for pair in first} == {1}
    assert {pair.opening for pair in first} == {0}
    assert len(first) == 4
    for pair in first:
        for game in pair.games:
            assert ledger.next_pair() is None
            ledger.record(game_of(game.key, *ledger.players(pair, game)))
    following = ledger.next_pair()
    assert following is not None
    assert (following.round, following.opening) == (2, 1)


@pytest.mark.parametrize("done", [0, 1, 2, 3, 5, 7, 8, 11, 12])
def test_a_restored_event_goes_on_where_it_was(done: int) -> None:
    whole = play_out(swiss())
    ledger = swiss()
    ledger.restore(whole[:done])
    assert ledger.done == done
    rest = play_out(ledger)
    assert {game.key for game in [*whole[:done], *rest]} == {game.key for game in whole}
    assert (ledger.done, ledger.left) == (12, 0)


def test_games_of_another_event_are_refused() -> None:
    for game in (game_of("dogon-kulei/2/1/1", "A", "B"), game_of("dogon-kulei/1/1/1", "E", "D")):
        with pytest.raises(MatchOptionError, match=r"is not in this match|is from another match"):
            swiss().restore([game])


def test_a_game_that_is_given_up_is_half_a_point_also_after_a_restoration() -> None:
    ledger = swiss("A B", rounds=1)
    pair = ledger.next_pair()
    assert pair is not None
    lost, won = pair.games
    assert ledger.void(pair, lost, BOTH_UNABLE)
    ledger.record(game_of(won.key, *ledger.players(pair, won), "0-1"))
    assert lines(ledger) == ["dogon-kulei, points with byes: A 1.5, B 0.5"]
    again = swiss("A B", rounds=1)
    void = game_of(lost.key, *ledger.players(pair, lost), "*", termination="void", fault="infrastructure")
    again.restore([void, game_of(won.key, *ledger.players(pair, won), "0-1")])
    assert (lines(again), again.left) == (lines(ledger), 0)
    assert list(again.halted) == [lost.key]


@pytest.mark.slow
def test_a_swiss_event_is_played_on_this_machine_and_resumed(tmp_path: Path) -> None:
    others = [*engine("B", "go:2", "leave", "3"), *engine("C")]
    words = [*engine("A"), *others, *QUICK, "-tournament", "swiss"]
    done = run_match(tmp_path, *words, "-concurrency", "2")
    assert done.code == 0, done
    assert "points with byes: " in done.out
    done.records.write_text(done.records.read_text().split("\n\n[Event")[0] + "\n\n")
    again = run_match(tmp_path, *words, "-resume")
    assert again.code == 0
    assert len(again.games) == 4
