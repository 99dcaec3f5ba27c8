"""The order of an event's meetings, and the Berger tables as printed in the FIDE Handbook."""

from __future__ import annotations

import itertools

import pytest

from engines.pairing.berger import Pair, berger_rounds
from engines.pairing.gauntlet import gauntlet_rounds
from engines.pairing.meetings import plan_meetings

TABLES = {
    2: "1-2",
    4: "1-4 2-3 / 4-3 1-2 / 2-4 3-1",
    6: "1-6 2-5 3-4 / 6-4 5-3 1-2 / 2-6 3-1 4-5 / 6-5 1-4 2-3 / 3-6 4-2 5-1",
    8: "1-8 2-7 3-6 4-5 / 8-5 6-4 7-3 1-2 / 2-8 3-1 4-7 5-6 / 8-6 7-5 1-4 2-3 / "
    "3-8 4-2 5-1 6-7 / 8-7 1-6 2-5 3-4 / 4-8 5-3 6-2 7-1",
    3: "2-3 / 1-2 / 3-1",
    5: "2-5 3-4 / 5-3 1-2 / 3-1 4-5 / 1-4 2-3 / 4-2 5-1",
}


@pytest.mark.parametrize("players", TABLES)
def test_the_tables_are_those_of_the_handbook(players: int) -> None:
    written = " / ".join(" ".join(f"{a}-{b}" for a, b in pairs) for pairs in berger_rounds(players))
    assert written == TABLES[players]


@pytest.mark.parametrize("players", range(2, 30))
def test_everybody_meets_everybody_once_and_plays_once_a_round(players: int) -> None:
    rounds = berger_rounds(players)
    assert len(rounds) == players - 1 + players % 2
    met = sorted(tuple(sorted(pair)) for pairs in rounds for pair in pairs)
    assert met == list(itertools.combinations(range(1, players + 1), 2))
    for pairs in rounds:
        seated = [player for pair in pairs for player in pair]
        assert len(seated) == len(set(seated)) == players - players % 2


@pytest.mark.parametrize("players", range(2, 30))
def test_nobody_is_first_much_more_often_than_second(players: int) -> None:
    firsts = [pair[0] for pairs in berger_rounds(players) for pair in pairs]
    seconds = [pair[1] for pairs in berger_rounds(players) for pair in pairs]
    for player in range(1, players + 1):
        assert abs(firsts.count(player) - seconds.count(player)) <= 1


@pytest.mark.parametrize("players", [-1, 0, 1])
def test_a_lone_player_has_no_round_robin(players: int) -> None:
    with pytest.raises(ValueError, match="at least two"):
        berger_rounds(players)


def written(tables: dict[str, list[list[Pair]]], cycles: int) -> list[str]:
    return [
        f"{meeting.cycle} {meeting.ladder} {meeting.round}.{meeting.number} {meeting.first}-{meeting.second}"
        for meeting in plan_meetings(tables, cycles)
    ]


def test_everybody_meets_on_every_ladder_before_anybody_meets_again_with_the_first_second() -> None:
    assert written({"dualma": berger_rounds(3), "duploline": berger_rounds(2)}, 2) == [
        "0 dualma 1.1 2-3",
        "0 duploline 1.2 1-2",
        "0 dualma 2.1 1-2",
        "0 dualma 3.1 3-1",
        "1 dualma 4.1 3-2",
        "1 duploline 4.2 2-1",
        "1 dualma 5.1 2-1",
        "1 dualma 6.1 1-3",
    ]


def test_in_a_gauntlet_the_first_meets_all_others_and_they_do_not_meet() -> None:
    assert gauntlet_rounds(4) == [[(1, 2)], [(1, 3)], [(1, 4)]]


@pytest.mark.parametrize("players", [-1, 0, 1])
def test_a_lone_player_has_no_gauntlet(players: int) -> None:
    with pytest.raises(ValueError, match="at least two"):
        gauntlet_rounds(players)
