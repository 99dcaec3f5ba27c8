"""Brackets, written out, and drawn for any number of players."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.pairing.knockout import (
    KnockoutMatch,
    Length,
    draw_bracket,
    note_withdrawn,
    pairs_due,
    rounds_survived,
    seed_lines,
)
from engines.pairing.results import MeetingResult

LENGTH = Length(pairs=1, extra=2)


def play_through(
    players: int, points: list[float], length: Length = LENGTH
) -> tuple[list[list[KnockoutMatch]], dict[tuple[int, int], MeetingResult]]:
    """All matches, pair of games by pair; the better seed's points of each pair are used in turn."""
    met: dict[tuple[int, int], MeetingResult] = {}
    taken = 0
    while True:
        bracket = draw_bracket(players, met.values(), length)
        due = [match for drawn in bracket for match in drawn if pairs_due(match, length)]
        if not due:
            return bracket, met
        for match in due:
            assert match.first is not None
            assert match.second is not None
            a, b = sorted((match.first, match.second))
            known = met.get((match.round, a), MeetingResult(match.round, a, b, 0, 0))
            for _ in range(pairs_due(match, length)):
                mine = points[taken % len(points)]
                taken += 1
                known = MeetingResult(
                    match.round, a, b, known.first_points + mine, known.second_points + 2 - mine
                )
            met[match.round, a] = known


def test_annulled_games_are_over_without_points() -> None:
    half = MeetingResult(1, 1, 2, 0.0, 1.0, annulled=1)
    ((match,),) = draw_bracket(2, [half], LENGTH)
    assert (match.winner, match.pairs, match.second_points) == (2, 1, 1.0)
    ((match,),) = draw_bracket(2, [MeetingResult(1, 1, 2, 0.0, 0.0, annulled=2)], LENGTH)
    assert (match.winner, pairs_due(match, LENGTH)) == (None, 1), "level: another pair is played"
    ((match,),) = draw_bracket(2, [MeetingResult(1, 1, 2, 0.0, 0.0, annulled=2)], Length(1, 0))
    assert (match.winner, match.by_last_resort) == (1, True)


def test_a_winner_who_is_paired_for_the_next_round_stays_there_if_his_games_are_annulled() -> None:
    met = [
        MeetingResult(1, 1, 4, 0.5, 0.0, annulled=1),
        MeetingResult(1, 2, 3, 2.0, 0.0),
        MeetingResult(2, 2, 4, 0.0, 1.0),
    ]
    first, final = draw_bracket(4, met, LENGTH)
    assert [match.winner for match in first] == [4, 2]
    assert (final[0].first, final[0].second, final[0].winner) == (4, 2, None)
    assert not any(pairs_due(match, LENGTH) for match in first)


@pytest.mark.parametrize(
    ("players", "lines"),
    [
        (2, [1, 2]),
        (3, [1, 4, 2, 3]),
        (4, [1, 4, 2, 3]),
        (6, [1, 8, 4, 5, 2, 7, 3, 6]),
        (8, [1, 8, 4, 5, 2, 7, 3, 6]),
        (16, [1, 16, 8, 9, 4, 13, 5, 12, 2, 15, 7, 10, 3, 14, 6, 11]),
    ],
)
def test_the_lines_are_those_of_the_usual_bracket(players: int, lines: list[int]) -> None:
    assert seed_lines(players) == lines


def test_the_best_seeds_rest_where_players_are_missing() -> None:
    first, semifinals, final = draw_bracket(6, [], LENGTH)
    assert [(match.first, match.second, match.winner) for match in first] == [
        (1, None, 1),
        (4, 5, None),
        (2, None, 2),
        (3, 6, None),
    ]
    assert [(match.first, match.second) for match in semifinals] == [(1, None), (2, None)]
    assert [(match.first, match.second) for match in final] == [(None, None)]
    assert [pairs_due(match, LENGTH) for match in first] == [0, 1, 0, 1]
    assert [pairs_due(match, LENGTH) for match in semifinals] == [0, 0]


def test_a_match_is_over_when_one_leads_after_a_pair() -> None:
    (semifinals, (final,)) = draw_bracket(
        4, [MeetingResult(1, 4, 1, 1.5, 0.5), MeetingResult(1, 2, 3, 1, 1)], LENGTH
    )
    assert [match.winner for match in semifinals] == [4, None]
    assert (semifinals[0].first_points, semifinals[0].second_points) == (0.5, 1.5)
    assert (final.first, final.second) == (4, None)
    assert pairs_due(semifinals[1], LENGTH) == 1


@pytest.mark.parametrize(("mine", "theirs"), [(1, 0), (2, 1), (0.5, 0.5), (0, 1)])
def test_a_match_is_not_decided_within_a_pair(mine: float, theirs: float) -> None:
    ((final,),) = draw_bracket(2, [MeetingResult(1, 1, 2, mine, theirs)], LENGTH)
    assert final.winner is None


def test_a_match_that_stays_level_goes_to_the_better_seed() -> None:
    for pairs, winner in ((1, None), (2, None), (3, 1)):
        ((final,),) = draw_bracket(2, [MeetingResult(1, 1, 2, pairs, pairs)], LENGTH)
        assert (final.winner, final.by_last_resort) == (winner, winner is not None)


def test_all_pairs_a_match_begins_with_are_played() -> None:
    length = Length(pairs=3, extra=0)
    ((final,),) = draw_bracket(2, [], length)
    assert pairs_due(final, length) == 3
    ((final,),) = draw_bracket(2, [MeetingResult(1, 1, 2, 4, 0)], length)
    assert (final.winner, pairs_due(final, length)) == (None, 1)
    ((final,),) = draw_bracket(2, [MeetingResult(1, 1, 2, 3, 3)], length)
    assert (final.winner, final.by_last_resort) == (1, True)


@given(st.integers(2, 40), st.lists(st.sampled_from([0, 0.5, 1, 1.5, 2]), min_size=1, max_size=30))
def test_one_player_is_left_and_everybody_else_lost_one_match(players: int, points: list[float]) -> None:
    bracket, met = play_through(players, points)
    assert len(met) == players - 1
    (final,) = bracket[-1]
    beaten = sorted(
        match.second if match.winner == match.first else match.first
        for drawn in bracket
        for match in drawn
        if match.first is not None and match.second is not None
    )
    assert final.winner is not None
    assert sorted([*beaten, final.winner]) == list(range(1, players + 1))
    assert max(match.pairs for drawn in bracket for match in drawn) <= LENGTH.pairs + LENGTH.extra


@given(st.integers(2, 64))
def test_where_the_better_seed_always_wins_the_seeds_are_the_places(players: int) -> None:
    bracket, _ = play_through(players, [2])
    won = rounds_survived(players, bracket)
    ranking = sorted(won, key=lambda player: -won[player])
    for place in (2**power for power in range(len(bracket) + 1)):
        assert sorted(ranking[:place]) == list(range(1, min(place, players) + 1))


@pytest.mark.parametrize("players", [-1, 0, 1])
def test_a_lone_player_has_no_bracket(players: int) -> None:
    with pytest.raises(ValueError, match="at least two"):
        seed_lines(players)


ROUND_1 = [MeetingResult(1, 1, 4, 2, 0), MeetingResult(1, 2, 3, 2, 0)]


def winners(bracket: list[list[KnockoutMatch]]) -> list[list[int | None]]:
    return [[match.winner for match in drawn] for drawn in bracket]


def test_the_opponent_of_a_withdrawn_player_goes_on_without_a_game() -> None:
    absent = note_withdrawn(4, ROUND_1, LENGTH, {}, {1})
    bracket = draw_bracket(4, ROUND_1, LENGTH, absent)
    assert (absent, winners(bracket)) == ({2: {1}}, [[1, 2], [2]])
    assert bracket[1][0].by_withdrawal
    assert not any(pairs_due(match, LENGTH) for drawn in bracket for match in drawn)


def test_a_level_match_is_not_extended_if_a_player_was_withdrawn() -> None:
    met = [MeetingResult(1, 1, 2, 1, 1)]
    absent = note_withdrawn(2, met, LENGTH, {}, {1})
    ((match,),) = draw_bracket(2, met, LENGTH, absent)
    assert (match.winner, match.by_withdrawal, pairs_due(match, LENGTH)) == (2, True, 0)


def test_nobody_wins_a_knock_out_of_which_everybody_was_withdrawn() -> None:
    absent = note_withdrawn(4, ROUND_1, LENGTH, {}, {1, 2, 3, 4})
    bracket = draw_bracket(4, ROUND_1, LENGTH, absent)
    assert winners(bracket) == [[1, 2], [None]]
    assert bracket[1][0].is_over
    assert rounds_survived(4, bracket) == {1: 1, 2: 1, 3: 0, 4: 0}


def test_the_next_opponent_of_two_withdrawn_players_has_a_bye_unless_withdrawn_too() -> None:
    first = [MeetingResult(1, a, 9 - a, 2, 0) for a in (1, 2, 3, 4)]
    second = [*first, MeetingResult(2, 2, 3, 2, 0)]
    absent = note_withdrawn(8, first, LENGTH, {}, {1, 4})
    bracket = draw_bracket(8, second, LENGTH, absent)
    assert winners(bracket) == [[1, 4, 2, 3], [None, 2], [2]]
    assert bracket[2][0].is_bye
    later = note_withdrawn(8, second, LENGTH, absent, {1, 4, 2})
    bracket = draw_bracket(8, second, LENGTH, later)
    assert winners(bracket) == [[1, 4, 2, 3], [None, 2], [None]]


def test_a_match_that_was_decided_stays_so_whoever_is_withdrawn_later() -> None:
    absent = note_withdrawn(4, ROUND_1, LENGTH, {}, {1})
    again = note_withdrawn(4, ROUND_1, LENGTH, absent, {1, 2})
    assert again == absent
    assert winners(draw_bracket(4, ROUND_1, LENGTH, again)) == [[1, 2], [2]]


def test_a_place_that_nobody_takes_is_open_until_its_match_is_decided() -> None:
    met: list[MeetingResult] = []
    (final,) = draw_bracket(4, met, LENGTH, {1: [1, 4]})[1]
    assert (final.first, final.second, final.is_over) == (None, None, False)
    met.append(MeetingResult(1, 2, 3, 2.0, 0.0))
    (final,) = draw_bracket(4, met, LENGTH, {1: [1, 4]})[1]
    assert (final.first, final.second, final.winner) == (2, None, 2)
