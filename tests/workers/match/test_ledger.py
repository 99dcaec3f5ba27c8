"""Played, next and abandoned games, and the verdict of a test."""

from __future__ import annotations

import pytest

from tests.support.matches import game_of, terms_of
from workers.failures import MAX_LOST, MAX_VOIDS
from workers.jobs import BOTH_UNABLE
from workers.match.ledger import Ledger
from workers.match.options.options import Format, MatchOptionError
from workers.match.plan import PlannedPair, plan_pairs
from workers.sequential import Sprt


def next_pair(ledger: Ledger) -> PlannedPair:
    pair = ledger.next_pair()
    assert pair is not None
    return pair


def play(ledger: Ledger, pair: PlannedPair, *results: str, fault: str = "none") -> list[str | None]:
    """Record the games of a pair; returns the engine withdrawn by each game."""
    return [play_one(ledger, pair, number, result, fault) for number, result in enumerate(results)]


def play_one(ledger: Ledger, pair: PlannedPair, number: int, result: str, fault: str) -> str | None:
    game = pair.games[number]
    return ledger.record(game_of(game.key, *pair.players(game), result, fault=fault))


def keys(pair: PlannedPair | None) -> list[str]:
    return [] if pair is None else [game.key for game in pair.games]


def test_a_match_ends_when_every_pair_has_been_given_out() -> None:
    ledger = Ledger(terms_of(rounds=2))
    play(ledger, next_pair(ledger), "1-0", "0-1")
    assert (ledger.done, ledger.running, ledger.total) == (2, 0, 4)
    next_pair(ledger)
    assert ledger.running == 2
    assert ledger.next_pair() is None


def test_a_restored_match_goes_on_with_the_games_that_are_missing() -> None:
    ledger = Ledger(terms_of(rounds=3))
    ledger.restore([game_of("dogon-kulei/2/1/1", "B", "A"), game_of("dogon-kulei/1/1/2", "B", "A")])
    assert keys(ledger.next_pair()) == ["dogon-kulei/1/1/1"]
    assert keys(ledger.next_pair()) == ["dogon-kulei/2/1/2"]
    assert keys(ledger.next_pair()) == ["dogon-kulei/3/1/1", "dogon-kulei/3/1/2"]
    assert ledger.next_pair() is None
    assert ledger.done == 2


def test_a_void_in_the_file_is_played_again() -> None:
    ledger = Ledger(terms_of())
    ledger.restore([game_of("dogon-kulei/1/1/1", "A", "B", "*", termination="void", fault="infrastructure")])
    assert (ledger.done, len(next_pair(ledger).games)) == (0, 2)


FIRST = "dogon-kulei/1/1/1"


@pytest.mark.parametrize(
    ("games", "complaint"),
    [
        (["dogon-kulei/2/1/1 A B"], "game dogon-kulei/2/1/1 is not in this match"),
        ([f"{FIRST} B A"], f"{FIRST} is from another match: B and A played it"),
        ([f"{FIRST} A C", "dogon-kulei/1/1/2 C A"], f"{FIRST} is from another match: A and C played it"),
        ([f"{FIRST} A B", f"{FIRST} A B"], f"game {FIRST} is in the record file twice"),
        (["17 A B"], "game 17 is not in this match"),
        (["dogon-kulei/1/1/² A B"], "game dogon-kulei/1/1/² is not in this match"),
        (["dualma/1/1/1 A B"], "game dualma/1/1/1 is not in this match"),
    ],
)
def test_games_of_another_match_are_refused(games: list[str], complaint: str) -> None:
    with pytest.raises(MatchOptionError, match=complaint):
        Ledger(terms_of()).restore([game_of(*game.split()) for game in games])


def test_a_void_is_played_again_and_given_up_after_three() -> None:
    ledger = Ledger(terms_of())
    pair = next_pair(ledger)
    for _ in range(MAX_VOIDS - 1):
        assert not ledger.void(pair, pair.games[0], "no memory")
        pair = next_pair(ledger)
        assert keys(pair) == ["dogon-kulei/1/1/1"]
    assert ledger.void(pair, pair.games[0], "no memory")
    assert ledger.halted == {"dogon-kulei/1/1/1": "no memory"}
    assert ledger.left == 1
    assert ledger.next_pair() is None


def test_a_void_that_would_end_the_same_way_again_is_given_up_at_once() -> None:
    ledger = Ledger(terms_of(), withdraw_after=1)
    pair = next_pair(ledger)
    assert ledger.void(pair, pair.games[0], f"{BOTH_UNABLE}: no such program")
    assert ledger.withdrawn == ["A", "B"]


def test_games_of_a_lost_slot_are_played_again_the_first_a_limited_number_of_times() -> None:
    ledger = Ledger(terms_of())
    for _ in range(MAX_LOST):
        pair = next_pair(ledger)
        assert len(pair.games) == 2
        ledger.give_back(pair, list(pair.games), lost=True)
    assert keys(ledger.next_pair()) == ["dogon-kulei/1/1/2"]
    assert list(ledger.halted) == ["dogon-kulei/1/1/1"]


def test_games_given_back_on_request_are_not_counted_as_lost() -> None:
    ledger = Ledger(terms_of())
    for _ in range(2 * MAX_LOST):
        pair = next_pair(ledger)
        ledger.give_back(pair, list(pair.games), lost=False)
    assert ledger.halted == {}
    assert (ledger.running, ledger.done) == (0, 0)


def test_an_engine_is_withdrawn_after_forfeits_in_a_row_and_its_games_are_left_out() -> None:
    ledger = Ledger(terms_of("A B C", rounds=2), withdraw_after=2)
    assert play(ledger, next_pair(ledger), "1-0", "1-0") == [None, None]  # B - C
    pair = next_pair(ledger)
    assert pair.players(pair.games[0]) == ("A", "B")
    forfeits = (("0-1", "white"), ("1-0", "black"))
    withdrawn = [play_one(ledger, pair, number, *how) for number, how in enumerate(forfeits)]
    assert withdrawn == [None, "A"]
    assert (ledger.left_out, ledger.left) == (6, 2), "known at once, for the time that is left"
    play(ledger, next_pair(ledger), "1-0", "1-0")  # C - B
    assert ledger.next_pair() is None
    assert (ledger.done, ledger.left_out, ledger.left, ledger.total) == (6, 6, 0, 12)


def test_a_clean_game_resets_the_count_of_forfeits() -> None:
    ledger = Ledger(terms_of(rounds=4), withdraw_after=2)
    for _ in range(4):
        pair = next_pair(ledger)
        assert play_one(ledger, pair, 0, "0-1", "white") is None
        assert play_one(ledger, pair, 1, "0-1", "none") is None
    assert ledger.withdrawn == []


def test_withdrawals_are_the_same_after_a_restoration() -> None:
    forfeits = [
        game_of("dogon-kulei/1/1/1", "A", "B", "0-1", fault="white"),
        game_of("dogon-kulei/1/1/2", "B", "A", "1-0", fault="black"),
    ]
    ledger = Ledger(terms_of(rounds=2), withdraw_after=2)
    ledger.restore(forfeits)
    assert ledger.withdrawn == ["A"]
    assert ledger.next_pair() is None
    assert ledger.left_out == 2


# Tests


def make_test() -> Ledger:
    return Ledger(terms_of(format=Format.SPRT, sprt=Sprt(-50.0, 50.0), rounds=1000))


def test_a_test_ends_when_it_is_decided() -> None:
    ledger = make_test()
    pairs = 0
    while (pair := ledger.next_pair()) is not None:
        first_is_a = pair.first == "A"
        play(ledger, pair, *(("1-0", "0-1") if first_is_a else ("0-1", "1-0")))
        pairs += 1
    assert ledger.is_decided
    assert ledger.test is not None
    assert ledger.test.verdict == "H1"
    assert ledger.test.counts.cells == (0, 0, 0, 0, pairs)


def test_pairs_count_in_the_order_of_the_schedule_not_of_their_ends() -> None:
    ledger = make_test()
    one, two = next_pair(ledger), next_pair(ledger)
    assert ledger.test is not None
    play(ledger, two, "1/2-1/2", "1/2-1/2")
    assert ledger.test.counts.cells == (0, 0, 0, 0, 0)
    play(ledger, one, "1-0", "0-1")
    assert ledger.test.counts.cells == (0, 0, 1, 0, 1)


def test_a_pair_that_cannot_be_completed_holds_up_no_test() -> None:
    ledger = make_test()
    one, two = next_pair(ledger), next_pair(ledger)
    play(ledger, two, "1-0", "1-0")
    ledger.void(one, one.games[0], BOTH_UNABLE)
    assert ledger.test is not None
    assert ledger.test.counts.games == 2


def test_the_first_engine_is_the_tested_one_with_either_colour() -> None:
    ledger = make_test()
    order = list(zip(range(2), plan_pairs(ledger.terms), strict=False))
    assert [pair.first for _, pair in order] == ["A", "B"]
    for results in (("1-0", "1/2-1/2"), ("0-1", "1/2-1/2")):
        play(ledger, next_pair(ledger), *results)
    assert ledger.test is not None
    assert ledger.test.counts.cells == (0, 0, 0, 2, 0)
