"""The order of an event's meetings."""

from __future__ import annotations

import pytest

from workers.pairing.berger import Pair, berger_rounds
from workers.pairing.gauntlet import gauntlet_rounds
from workers.pairing.meetings import plan_meetings


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
