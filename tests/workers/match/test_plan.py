"""The schedule of a match, written out."""

from __future__ import annotations

from itertools import islice

from tests.support.matches import terms_of
from workers.match.options.options import Format, MatchTerms
from workers.match.plan import count_games, pair_key, plan_pairs


def written(terms: MatchTerms) -> list[str]:
    return [
        f"{game.key} {'-'.join(pair.players(game))} opening {pair.opening}"
        for pair in plan_pairs(terms)
        for game in pair.games
    ]


def test_colours_are_not_swapped_or_begin_with_black_on_request() -> None:
    whites = {
        (swaps, reverse): [
            game.white for pair in plan_pairs(terms_of(swaps=swaps, reverse=reverse)) for game in pair.games
        ]
        for swaps in (True, False)
        for reverse in (True, False)
    }
    assert whites == {
        (True, False): [0, 1],
        (True, True): [1, 0],
        (False, False): [0, 0],
        (False, True): [1, 1],
    }


def test_everybody_meets_everybody_with_both_colours_and_one_opening_before_anybody_meets_again() -> None:
    assert written(terms_of("A B C", rounds=2)) == [
        "dogon-kulei/1/1/1 B-C opening 0",
        "dogon-kulei/1/1/2 C-B opening 0",
        "dogon-kulei/2/1/1 A-B opening 0",
        "dogon-kulei/2/1/2 B-A opening 0",
        "dogon-kulei/3/1/1 C-A opening 0",
        "dogon-kulei/3/1/2 A-C opening 0",
        "dogon-kulei/4/1/1 C-B opening 1",
        "dogon-kulei/4/1/2 B-C opening 1",
        "dogon-kulei/5/1/1 B-A opening 1",
        "dogon-kulei/5/1/2 A-B opening 1",
        "dogon-kulei/6/1/1 A-C opening 1",
        "dogon-kulei/6/1/2 C-A opening 1",
    ]


def test_a_gauntlet_takes_the_ladders_in_turn() -> None:
    assert written(terms_of("A B C", "dualma duploline", format=Format.GAUNTLET, games=1)) == [
        "dualma/1/1/1 A-B opening 0",
        "duploline/1/2/1 A-B opening 0",
        "dualma/2/1/1 A-C opening 0",
        "duploline/2/2/1 A-C opening 0",
    ]


def test_of_three_games_the_third_has_a_separate_opening() -> None:
    assert written(terms_of(games=3, rounds=2)) == [
        "dogon-kulei/1/1/1 A-B opening 0",
        "dogon-kulei/1/1/2 B-A opening 0",
        "dogon-kulei/1/1/3 A-B opening 1",
        "dogon-kulei/2/1/1 B-A opening 2",
        "dogon-kulei/2/1/2 A-B opening 2",
        "dogon-kulei/2/1/3 B-A opening 3",
    ]


def test_the_games_are_counted_without_being_planned() -> None:
    for terms in (terms_of("A B C D", "dualma duploline", rounds=3), terms_of("A B C", games=3)):
        assert count_games(terms).total() == len(written(terms))
    assert count_games(terms_of(rounds=1_000_000)).total() == 2_000_000


def test_only_what_is_asked_for_is_planned() -> None:
    pairs = islice(plan_pairs(terms_of(rounds=1_000_000)), 3)
    assert [pair.key for pair in pairs] == [f"dogon-kulei/{round_}/1/0" for round_ in (1, 2, 3)]


def test_more_rounds_only_make_the_schedule_longer() -> None:
    assert written(terms_of("A B C", rounds=5))[:12] == written(terms_of("A B C", rounds=2))


def test_both_games_of_a_pair_share_its_key_and_no_others_do() -> None:
    games = written(terms_of("A B C", "dualma duploline", rounds=2, games=4))
    keys = [pair_key(game.partition(" ")[0]) for game in games]
    assert keys[0::2] == keys[1::2]
    assert len(set(keys)) == len(keys) / 2
