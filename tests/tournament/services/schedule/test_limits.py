"""Limits of what an account that is not staff may schedule."""

from __future__ import annotations

import datetime
import re

import pytest
from django.utils import timezone
from pytest_django import Settings

from tests.support.schedule import make_event, make_tournament, make_user, make_version
from tournament.models import Notice, Tournament, User
from tournament.services.calendar import tend
from tournament.services.schedule.entries import enter
from tournament.services.schedule.limits import longest_seconds
from tournament.services.schedule.tournaments import (
    TournamentError,
    announce,
    cancel,
    extend,
    pause,
    resume,
    start,
)

pytestmark = pytest.mark.django_db
State = Tournament.State
NOW = timezone.now()
DAY = datetime.timedelta(days=1)


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


def over(tournament: Tournament) -> Tournament:
    Tournament.objects.filter(pk=tournament.pk).update(state=State.FINISHED)
    tournament.refresh_from_db()
    return tournament


def test_no_tournament_is_resumed_over_the_limit(user: User, settings: Settings) -> None:
    first, second = (make_tournament(owner=user, name=name) for name in ("One", "Two"))
    pause(second)
    settings.MAX_RUNNING = 1
    with pytest.raises(TournamentError, match=r"^state: 1 of your tournaments run, and 1 are the most"):
        resume(second)
    pause(first)
    resume(second)
    assert second.state == State.RUNNING


@pytest.mark.parametrize("kind", ["round-robin", "swiss"])
def test_an_extension_after_the_end_counts_as_one_more_running(
    user: User, settings: Settings, kind: str
) -> None:
    settings.MAX_RUNNING = 1
    ended = over(make_event(kind, owner=user))
    running = make_tournament(owner=user, name="Other", versions=[make_version("Cy"), make_version("Di")])
    with pytest.raises(TournamentError, match=r"^state: 1 of your tournaments run, .* 1 are the most"):
        extend(ended, 1)
    ended.refresh_from_db()
    assert ended.state == State.FINISHED
    cancel(running)
    extend(ended, 1)
    assert ended.state == State.RUNNING


def test_a_swiss_is_not_extended_past_the_games_of_an_account(user: User, settings: Settings) -> None:
    settings.MAX_TOURNAMENT_GAMES = 16
    swiss = make_event("swiss", owner=user, rounds=3)
    with pytest.raises(TournamentError, match=r"^pairs: 20 games are too many, .* holds 16$"):
        extend(swiss, 2)
    extend(swiss, 1)
    assert swiss.rounds == 4


@pytest.mark.parametrize("act", [resume, lambda tournament: extend(tournament, 1)])
def test_longer_games_than_the_limit_are_not_resumed_or_extended(
    user: User, settings: Settings, act: object
) -> None:
    tournament = make_tournament(owner=user, time_control="600+1")
    pause(tournament)
    settings.MAX_GAME_MINUTES = 10
    with pytest.raises(TournamentError, match=r"^time control: .* 10 are the most"):
        act(tournament)  # type: ignore[operator]


def test_the_extra_pairs_of_a_knock_out_count(user: User, settings: Settings) -> None:
    settings.MAX_TOURNAMENT_GAMES = 20
    with pytest.raises(TournamentError, match=r"^pairs: 24 games are too many"):
        make_event("knock-out", owner=user, extra_pairs=3)


def test_bots_are_entered_up_to_the_games_of_the_organizer(user: User, settings: Settings) -> None:
    settings.MAX_TOURNAMENT_GAMES = 6
    event = make_event("round-robin", bots=2, owner=user, running=False, entry_until=NOW + DAY)
    announce(event)
    enter(event, make_version("Cy").bot)
    with pytest.raises(TournamentError, match=r"^bot: 'Test event' would have 12 games, and 6 are the most"):
        enter(event, make_version("Di").bot)


def test_a_start_by_the_clock_over_the_limit_waits_and_loses_nothing(user: User, settings: Settings) -> None:
    event = make_event("round-robin", bots=2, owner=user, running=False, starts_at=NOW + DAY)
    announce(event)
    running = make_tournament(owner=user, name="Other", versions=[make_version("Cy"), make_version("Di")])
    settings.MAX_RUNNING = 1
    for _ in range(2):
        assert tend(NOW + DAY) == 0
    event.refresh_from_db()
    assert (event.state, event.starts_at, event.entries.count()) == (State.ANNOUNCED, NOW + DAY, 2)
    assert event.state_reason.startswith("its start waits: 1 of your tournaments run or are paused, and 1")
    (notice,) = Notice.objects.filter(tournament=event)
    assert "has not started yet. 1 of your tournaments run or are paused" in notice.text
    cancel(running)
    assert tend(NOW + DAY) == 1
    event.refresh_from_db()
    assert (event.state, event.state_reason, event.games.count()) == (State.RUNNING, "", 2)


def test_of_many_announced_before_the_limit_was_lowered_one_starts(user: User, settings: Settings) -> None:
    for name in ("One", "Two", "Three"):
        versions = [make_version(f"{name} {number}") for number in (1, 2)]
        event = make_event(
            "round-robin", versions=versions, owner=user, running=False, starts_at=NOW + DAY, name=name
        )
        announce(event)
    settings.MAX_RUNNING = 1
    tend(NOW + DAY)
    assert Tournament.objects.running().count() == 1
    assert Tournament.objects.announced().count() == 2
