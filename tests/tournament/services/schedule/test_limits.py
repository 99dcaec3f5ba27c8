"""Limits of what an account that is not staff may schedule."""

from __future__ import annotations

import re

import pytest
from pytest_django import Settings

from tests.support.schedule import make_tournament, make_user
from tournament.models import Tournament, User
from tournament.services.schedule.limits import longest_seconds
from tournament.services.schedule.tournaments import TournamentError, announce, cancel, extend, start

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return make_user("ada")


@pytest.mark.parametrize(
    ("time_control", "ply_limit", "seconds"),
    [
        ("60+1", None, 320.0),
        ("60+1", 100, 220.0),
        ("0.5/move", None, 100.0),
        ("600+0;0.5/move", None, 100.0),
        ("depth=4", None, 24_000.0),
        ("depth=4;1/move", None, 200.0),
    ],
)
def test_the_longest_game_follows_from_the_clock_and_the_ply_limit(
    time_control: str, ply_limit: int | None, seconds: float
) -> None:
    assert longest_seconds("duploline", time_control, ply_limit) == seconds


@pytest.mark.parametrize("time_control", ["999999+999999", "depth=4", "nodes=1000"])
def test_a_game_that_could_take_hours_is_refused_with_advice(user: User, time_control: str) -> None:
    with pytest.raises(TournamentError, match=r"^time control: with .* 180 are the most"):
        make_tournament(owner=user, time_control=time_control)
    assert not Tournament.objects.exists()
    make_tournament(owner=make_user("stan", staff=True), time_control=time_control)
    make_tournament(time_control=time_control)


def test_a_tournament_holds_a_limited_number_of_games(user: User, settings: Settings) -> None:
    settings.MAX_TOURNAMENT_GAMES = 10
    tournament = make_tournament(owner=user, pairs=5)
    with pytest.raises(TournamentError, match=r"^pairs: 12 games are too many, .* holds 10$"):
        extend(tournament, 1)
    with pytest.raises(TournamentError, match=r"^pairs: 12 games are too many"):
        make_tournament(owner=user, pairs=6)


def test_drafts_and_running_tournaments_are_limited(user: User, settings: Settings) -> None:
    settings.MAX_DRAFTS, settings.MAX_RUNNING = 2, 1
    first, second = (make_tournament(owner=user, running=False, name=name) for name in ("One", "Two"))
    with pytest.raises(TournamentError, match=re.escape("name: you have 2 drafts, and 2 are the most")):
        make_tournament(owner=user, running=False)
    start(first)
    third = make_tournament(owner=user, running=False, name="Three")
    for begin in (start, announce):
        Tournament.objects.filter(pk=second.pk).update(starts_at="2099-01-01T00:00Z")
        with pytest.raises(TournamentError, match=r"^state: 1 of your tournaments run, are paused"):
            begin(second)
    cancel(first)
    start(third)
