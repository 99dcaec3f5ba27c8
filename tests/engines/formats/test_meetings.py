"""How games count for both players of a meeting."""

from __future__ import annotations

import pytest

from engines.arithmetic.standings import GameScore
from engines.formats import FORMATS
from engines.formats.meetings import PlayedMeeting, ScheduledGame, column_of, count_meetings, seeded_results
from engines.pairing.results import MeetingResult
from engines.rules.base import Result

GAMES = [
    ScheduledGame(1, 7, 3, "wins"),
    ScheduledGame(1, 3, 7, "draws"),
    ScheduledGame(2, 3, 7, "defaults"),
    ScheduledGame(2, 7, 3, "annulled"),
    ScheduledGame(2, 5, 3, ""),
]


@pytest.mark.parametrize(
    ("result", "fault", "is_annulled", "column"),
    [
        (Result.WHITE_WINS, "none", False, "wins"),
        (Result.BLACK_WINS, "white", False, "losses"),
        (Result.DRAW, "none", True, "annulled"),
        (None, "", False, "given_up"),
        (None, "infrastructure", False, "given_up"),
        (None, "white", False, "defaults"),
        (None, "black", False, "walkovers"),
    ],
)
def test_a_game_that_is_over_counts_in_one_column(
    result: Result | None, fault: str, is_annulled: bool, column: str
) -> None:
    assert column_of(result, fault, is_annulled=is_annulled) == column


def test_meetings_of_rounds_count_for_the_player_with_the_lower_number() -> None:
    assert count_meetings(FORMATS["swiss"], GAMES) == [
        PlayedMeeting(1, 3, 7, GameScore(draws=1, losses=1), 0),
        PlayedMeeting(2, 3, 5, GameScore(), 0),
        PlayedMeeting(2, 3, 7, GameScore(defaults=1), 1),
    ]


def test_without_rounds_of_their_own_two_players_have_one_meeting() -> None:
    both = PlayedMeeting(0, 3, 7, GameScore(draws=1, losses=1, defaults=1), 1)
    assert count_meetings(FORMATS["round-robin"], GAMES) == [PlayedMeeting(0, 3, 5, GameScore(), 0), both]


def test_the_better_seed_of_a_meeting_is_first() -> None:
    met = count_meetings(FORMATS["swiss"], GAMES)
    assert seeded_results([7, 5, 3], met) == [
        MeetingResult(1, 1, 3, 1.5, 0.5),
        MeetingResult(2, 2, 3, 0.0, 0.0),
        MeetingResult(2, 1, 3, 1.0, 0.0, 1),
    ]
