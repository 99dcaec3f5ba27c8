"""Terms of the ladders: which tournaments are rated, and where it is said."""

from __future__ import annotations

import datetime
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from engines.records import Record, read_records
from tests.support.schedule import (
    LADDER,
    Deal,
    make_event,
    make_tournament,
    make_user,
    make_version,
    play_all,
    play_short,
    record,
    record_all,
)
from tournament.models import Game, Ladder, Matchmaking, Notice, RatingEvent, Tournament
from tournament.services.schedule.publishing import tell_changed
from tournament.services.schedule.tournaments import TournamentError, extend, start

pytestmark = pytest.mark.django_db
ON_TERMS: dict[str, Any] = {"time_control": "5+0.05", "opening_plies": 4, "rated_off_terms": False}
OTHER = "dualma"


def set_terms(ladder: str, **terms: Any) -> None:
    Ladder.objects.ensure()
    Matchmaking.objects.update_or_create(ladder_id=ladder, defaults=terms)


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        ({}, None),
        ({"time_control": "20+0.2"}, None),
        ({"time_control": "20.001+0.2"}, "time-control"),
        ({"time_control": "4.999+0.05"}, "time-control"),
        ({"time_control": "5+0"}, "time-control"),
        ({"time_control": "5+0.201"}, "time-control"),
        ({"time_control": "0.5/move"}, "time-control"),
        ({"time_control": "5+0.05;depth=9"}, "time-control"),
        ({"opening_plies": 0}, "openings"),
        ({"opening_plies": 5}, "openings"),
        ({"book": "Da1\n"}, "openings"),
        ({"ply_limit": 50}, "ply-limit"),
        ({"ply_limit": 200}, None),  # the ladder's own
    ],
)
def test_a_tournament_is_rated_on_the_terms_of_its_ladder(terms: dict[str, Any], why: str | None) -> None:
    event = make_tournament(**(ON_TERMS | terms))
    assert event.off_terms == ({LADDER: why} if why else {})
    assert event.is_rated == event.rates_on(LADDER) == (why is None)


def test_limits_without_a_clock_are_compared_too() -> None:
    set_terms(LADDER, time_control="nodes=1000;depth=4", opening_plies=0)
    for control, is_rated in {
        "nodes=1000;depth=4": True,
        "nodes=4000;depth=16": True,
        "nodes=4001;depth=4": False,
        "nodes=1000": False,
        "nodes=1000;depth=4;1+0": False,
    }.items():
        event = make_tournament(**(ON_TERMS | {"time_control": control, "opening_plies": 0}))
        assert event.is_rated == is_rated, control


def test_a_tournament_may_be_rated_on_one_of_its_ladders(deal: Deal) -> None:
    set_terms(OTHER, time_control="1+0.01", opening_plies=4)
    event = make_tournament(**ON_TERMS, ladders=[LADDER, OTHER])
    assert event.off_terms == {OTHER: "time-control"}
    while jobs := deal():
        record_all([report for job in jobs for report in play_all(job)])
    assert set(Game.objects.filter(rated=True).values_list("ladder", flat=True)) == {LADDER}
    assert set(RatingEvent.objects.values_list("game__ladder", flat=True)) == {LADDER}


def test_the_record_and_the_page_of_a_game_say_why_it_is_not_rated(deal: Deal, client: Client) -> None:
    make_tournament(**(ON_TERMS | {"opening_plies": 0}))
    (job,) = deal()
    record_all(list(play_short(job)))
    game = Game.objects.done().earliest("id")
    (written,) = read_records(StringIO(game.record.text), "test")
    assert isinstance(written, Record)
    assert (written.header("Rated"), written.header("Unrated")) == ("no", "openings")
    page = client.get(game.get_absolute_url()).content.decode()
    assert "no: the openings are not on the ladder&#x27;s terms" in page


def test_staff_can_rate_other_terms_and_every_page_says_so(deal: Deal, client: Client) -> None:
    event = make_tournament(**(ON_TERMS | {"opening_plies": 0, "rated_off_terms": True}))
    (job,) = deal()
    record_all(list(play_short(job)))
    game = Game.objects.done().earliest("id")
    assert game.rated
    assert '[Rated "no"]' not in game.record.text
    said = "yes; staff rates it although the openings are not on the ladder&#x27;s terms"
    for page in (game.get_absolute_url(), event.get_absolute_url()):
        assert said in client.get(page).content.decode()
    assert "rated on other terms" in client.get("/tournaments/").content.decode()


def test_what_was_rated_at_the_start_stays_so_when_the_ladder_has_other_terms(deal: Deal) -> None:
    draft = make_tournament(**ON_TERMS, running=False)
    event = make_tournament(**ON_TERMS, name="Begun")
    set_terms(LADDER, time_control="60+0.5", opening_plies=4)
    start(draft)
    for one in (draft, event):
        one.refresh_from_db()
    assert (draft.off_terms, event.off_terms) == ({LADDER: "time-control"}, {})
    while jobs := deal():
        for report in (report for job in jobs for report in play_all(job)):
            record(report)
    assert not draft.games.filter(rated=True).exists()
    assert event.games.filter(rated=True).exists()


def test_an_event_is_not_extended_with_rated_games_off_the_present_terms(deal: Deal) -> None:
    event = make_tournament(**ON_TERMS)
    extend(event, 1)
    set_terms(LADDER, time_control="60+0.5", opening_plies=4)
    with pytest.raises(
        TournamentError, match=r"rated: the time control is not on the ladder's terms \(Duplo"
    ):
        extend(event, 1)
    assert Tournament.objects.get(pk=event.pk).pairs == 2
    for freed in ({"rated": False}, {"rated": True, "rated_off_terms": True}):
        Tournament.objects.filter(pk=event.pk).update(**freed)
        extend(event, 1)


def test_an_event_that_was_off_the_terms_at_its_start_is_extended_unrated(deal: Deal) -> None:
    event = make_tournament(**ON_TERMS | {"opening_plies": 0})
    extend(event, 1)
    assert event.off_terms == {LADDER: "openings"}
    assert not event.is_rated


def test_a_draft_s_page_knows_the_present_terms(client: Client) -> None:
    olga = make_user("olga")
    draft = make_tournament(**ON_TERMS, running=False, owner=olga)
    client.force_login(olga)
    set_terms(LADDER, time_control="60+0.5", opening_plies=4)
    page = client.get(draft.get_absolute_url()).content.decode()
    assert "no: the time control is not on the ladder&#x27;s terms (DuploLine)" in page


def test_owners_hear_nothing_of_changed_tournaments_that_are_not_rated_because_of_their_terms() -> None:
    """Otherwise everybody could send them any number of notices."""
    ada = make_version("Ada", owner=make_user("ada"))
    versions = [ada, make_version("Bob")]
    starts_at = timezone.now() + datetime.timedelta(days=1)
    for plies, told in ((0, 0), (4, 1)):
        terms = ON_TERMS | {"opening_plies": plies, "starts_at": starts_at, "versions": versions}
        event = make_event("round-robin", running=False, owner=make_user(f"olga-{plies}"), **terms)
        tell_changed(event, ["pairs"], [])
        assert Notice.objects.filter(user=ada.bot.owner).count() == told


def test_a_tournament_of_before_the_terms_stays_rated() -> None:
    event = Tournament(ladders=[LADDER], time_control="0.05/move", opening_plies=0)
    assert event.is_rated


def test_the_page_of_the_ratings_states_the_terms_of_each_ladder(client: Client) -> None:
    set_terms(LADDER, time_control="60+0.5", opening_plies=7)
    page = client.get("/ratings/").content.decode()
    assert '<code>60+0.5</code> to <code>240+2</code></td><td class="num">7</td>' in page
    assert page.count("<code>5+0.05</code> to <code>20+0.2</code>") == 4
