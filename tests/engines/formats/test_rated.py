"""Which games are rated."""

from __future__ import annotations

import pytest

from engines.formats.rated import LadderTerms, OwnedBot, why_unrated

LADDER = "dogon-kulei"
TERMS = LadderTerms("5+0.05", 4)


@pytest.mark.parametrize(
    ("time_control", "opening_plies", "ply_limit", "why"),
    [
        ("5+0.05", 4, None, None),
        ("20+0.2", 4, None, None),
        ("20+0.3", 4, None, "time-control"),
        ("4+0.05", 4, None, "time-control"),
        ("5/move", 4, None, "time-control"),
        ("5+0.05", 5, None, "openings"),
        ("5+0.05", None, None, "openings"),
        ("5+0.05", 4, 37, "ply-limit"),
    ],
)
def test_games_are_on_the_terms_of_a_ladder_if_they_are_played_so(
    time_control: str, opening_plies: int | None, ply_limit: int | None, why: str | None
) -> None:
    assert TERMS.why_off(LADDER, time_control, opening_plies, ply_limit) == why


@pytest.mark.parametrize(
    ("white", "black", "is_event_rated", "off_terms", "why"),
    [
        ((1, "ada"), (2, "bob"), True, None, None),
        ((1, None), (2, None), True, None, None),
        ((1, None), (1, None), True, None, "bot"),
        ((1, "ada"), (1, "ada"), False, None, "event"),
        ((1, "ada"), (2, "ada"), True, "openings", "owner"),
        ((1, "ada"), (2, None), True, "openings", "openings"),
    ],
)
def test_the_first_reason_is_why_a_game_is_not_rated(
    white: tuple[int, str | None],
    black: tuple[int, str | None],
    is_event_rated: bool,
    off_terms: str | None,
    why: str | None,
) -> None:
    players = OwnedBot(*white), OwnedBot(*black)
    assert why_unrated(*players, is_event_rated=is_event_rated, off_terms=off_terms) == why
