"""Swiss rounds, against all possible pairings of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.pairing.berger import Pair
from engines.pairing.results import MeetingResult, find_byes
from engines.pairing.swiss import (
    CANDIDATES,
    MAX_PLAYERS,
    SwissPlayer,
    bye_cost,
    pair_cost,
    rank_players,
    swiss_points,
    swiss_round,
)

GAMES = 2


def play(pairs: Sequence[Pair], number: int, points: Sequence[float]) -> list[MeetingResult]:
    """A round in which the first of each pair makes these points of two games."""
    return [
        MeetingResult(number, first, second, mine, GAMES - mine)
        for (first, second), mine in zip(pairs, points, strict=True)
    ]


def play_on(
    players: int, rounds: int, points: Sequence[float]
) -> Iterator[tuple[list[MeetingResult], list[Pair]]]:
    """An event round by round: what was played before, and the round it led to; points are used in turn."""
    met: list[MeetingResult] = []
    taken = 0
    for number in range(1, rounds + 1):
        pairs = swiss_round(players, met, GAMES)
        yield list(met), pairs
        made = [points[(taken + place) % len(points)] for place in range(len(pairs))]
        taken += len(pairs)
        met += play(pairs, number, made)


def all_rounds(seats: Sequence[SwissPlayer]) -> Iterator[list[tuple[SwissPlayer, SwissPlayer | None]]]:
    """Every possible round of these players, the better one of each pair first; None for a bye."""
    if not seats:
        yield []
        return
    first, rest = seats[0], seats[1:]
    if len(seats) % 2:
        for others in all_rounds(rest):
            yield [(first, None), *others]
    for place, second in enumerate(rest):
        for others in all_rounds([*rest[:place], *rest[place + 1 :]]):
            yield [(first, second), *others]


def cost(round_: Sequence[tuple[SwissPlayer, SwissPlayer | None]], players: int) -> tuple[int, ...]:
    costs = [bye_cost(a, players) if b is None else pair_cost(a, b) for a, b in round_]
    return tuple(map(sum, zip(*costs, strict=True)))


def seated(
    pairs: Sequence[Pair], seats: Sequence[SwissPlayer]
) -> list[tuple[SwissPlayer, SwissPlayer | None]]:
    """A round in the form of ``all_rounds``."""
    by_player = {seat.player: seat for seat in seats}
    found: list[tuple[SwissPlayer, SwissPlayer | None]] = []
    for first, second in pairs:
        a, b = sorted((by_player.pop(first), by_player.pop(second)), key=lambda seat: seat.place)
        found.append((a, b))
    return found + [(seat, None) for seat in by_player.values()]


events = {
    "players": st.integers(2, 8),
    "rounds": st.integers(1, 9),
    "points": st.lists(st.sampled_from([0, 0.5, 1, 1.5, 2]), min_size=1, max_size=20),
}


@given(**events)
def test_everybody_is_in_one_pair_a_round_or_rests_alone(
    players: int, rounds: int, points: list[float]
) -> None:
    for _, pairs in play_on(players, rounds, points):
        seats = [player for pair in pairs for player in pair]
        assert len(seats) == len(set(seats)) == players - players % 2


@given(**events)
def test_no_round_is_better_than_the_one_that_is_paired(
    players: int, rounds: int, points: list[float]
) -> None:
    for met, pairs in play_on(players, rounds, points):
        seats = rank_players(players, met, GAMES)
        best = min(cost(other, players) for other in all_rounds(seats))
        assert cost(seated(pairs, seats), players) == best


@given(**events)
def test_nobody_meets_anybody_again_while_that_can_be_avoided(
    players: int, rounds: int, points: list[float]
) -> None:
    for met, pairs in play_on(players, rounds, points):
        known = Counter(one.players for one in met)
        fewest = min(
            sum(known[frozenset((a.player, b.player))] for a, b in other if b is not None)
            for other in all_rounds(rank_players(players, met, GAMES))
        )
        assert sum(known[frozenset(pair)] for pair in pairs) == fewest


@given(players=st.sampled_from([3, 5, 7, 9]), points=events["points"])
def test_everybody_rests_once_before_anybody_rests_twice(players: int, points: list[float]) -> None:
    """This holds as long as the others can be given new opponents."""
    met: list[MeetingResult] = []
    for met, pairs in play_on(players, (players + 1) // 2, points):  # noqa: B007
        pass
    byes = [len(rests) for rests in find_byes(players, met).values()]
    assert max(byes) <= 1


def test_the_last_one_rests_and_scores_as_if_he_had_won_all_games() -> None:
    pairs = swiss_round(5, [], GAMES)
    assert pairs == [(1, 3), (2, 4)]
    met = play(pairs, 1, [2, 2])
    assert swiss_points(5, met, GAMES) == {1: 2, 2: 2, 3: 0, 4: 0, 5: 2}
    (one, two) = swiss_round(5, met, GAMES)
    assert {*one, *two} == {1, 2, 3, 5}, "the fourth is the last who has not rested"


def test_the_first_half_meets_the_second_half_of_those_with_equal_points() -> None:
    first = swiss_round(8, [], GAMES)
    assert first == [(1, 5), (2, 6), (3, 7), (4, 8)]
    met = play(first, 1, [2, 2, 2, 2])
    second = swiss_round(8, met, GAMES)
    assert second == [(3, 1), (4, 2), (7, 5), (8, 6)], "in even rounds the better placed is second"
    third = swiss_round(8, met + play(second, 2, [0, 0, 0, 0]), GAMES)
    assert third[0] == (1, 2)


def test_the_leaders_meet_when_they_have_not_met() -> None:
    met = play([(1, 3), (2, 4)], 1, [1.5, 1.5])
    assert swiss_round(4, met, GAMES) == [(2, 1), (4, 3)]


def test_more_rounds_than_opponents_start_over() -> None:
    pairs = [frozenset(pair) for _, pairs in play_on(4, 6, [1.5, 0.5, 1]) for pair in pairs]
    assert len(set(pairs[:6])) == 6
    assert set(Counter(pairs).values()) == {2}


def test_a_large_field_is_paired_anew_every_round() -> None:
    """The field is larger than those that are first searched exhaustively."""
    players = 4 * CANDIDATES + 1
    met: list[MeetingResult] = []
    for met, pairs in play_on(players, 9, [2, 0.5, 1.5, 1, 0]):
        known = {one.players for one in met}
        assert len(pairs) == players // 2
        assert not known & {frozenset(pair) for pair in pairs}
    assert max(len(rests) for rests in find_byes(players, met).values()) == 1


def test_a_large_field_that_cannot_do_with_cheap_opponents_is_paired_all_the_same() -> None:
    """Everybody but two has met everybody, so there is no round without meeting again."""
    players = 2 * CANDIDATES + 2
    met = [
        MeetingResult(number, a, b, 1, 1)
        for number, a in enumerate(range(1, players + 1), start=1)
        for b in range(a + 1, players + 1)
        if (a, b) != (1, 2)
    ]
    pairs = swiss_round(players, met, GAMES)
    assert {1, 2} in [set(pair) for pair in pairs]
    assert len(pairs) == players // 2


def test_the_same_history_is_paired_the_same() -> None:
    histories = [list(play_on(11, 6, [2, 1, 0, 1.5])) for _ in range(2)]
    assert histories[0] == histories[1]


@pytest.mark.parametrize("players", [-1, 0, 1, MAX_PLAYERS + 1])
def test_too_few_or_too_many_players_have_no_swiss(players: int) -> None:
    with pytest.raises(ValueError, match=f"from 2 to {MAX_PLAYERS} players"):
        swiss_round(players, [], GAMES)


@given(st.integers(3, 9), st.sets(st.integers(1, 9), max_size=8), st.integers(0, 3))
def test_who_is_absent_is_neither_paired_nor_has_a_bye(players: int, gone: set[int], rounds: int) -> None:
    met = [one for now, _ in play_on(players, rounds + 1, [2, 0, 1]) for one in now]
    met = [one for number, one in enumerate(met) if one not in met[:number]]
    gone &= set(range(1, players + 1))
    number = 1 + max((one.round for one in met), default=0)
    pairs = swiss_round(players, met, GAMES, {number: gone})
    left = set(range(1, players + 1)) - gone
    paired = [player for pair in pairs for player in pair]
    assert len(paired) == len(set(paired)) == (len(left) // 2 * 2)
    assert set(paired) <= left
    if pairs:
        after = find_byes(players, [*met, *play(pairs, number, [1] * len(pairs))], {number: gone})
        assert {player for player, byes in after.items() if number in byes} == left - set(paired)


def test_a_bye_before_the_withdrawal_keeps_its_points() -> None:
    met = play([(1, 2)], 1, [1]) + play([(1, 2)], 2, [1])
    assert swiss_points(3, met, GAMES, {2: {3}}) == {1: 2, 2: 2, 3: 2}
    assert swiss_points(3, met, GAMES) == {1: 2, 2: 2, 3: 4}
