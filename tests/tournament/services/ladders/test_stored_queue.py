"""The stored state of the queue is that of the queue, and pages read it."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import LADDER, Site, add_version, fill_site
from tests.support.schedule import make_worker
from tournament.models import BotVersion, QueueForecast
from tournament.services.bots.activity import switch
from tournament.services.dispatch.leases import keeper_started
from tournament.services.ladders.forecasts import NEVER_S, SWITCHED_OFF, describe_queue
from tournament.services.ladders.queue import look
from tournament.services.ladders.stored_queue import (
    TOO_OLD,
    UNKNOWN,
    next_games_of,
    queue_state,
    refresh_queue,
)

pytestmark = pytest.mark.django_db
SECOND = datetime.timedelta(seconds=1)


@pytest.fixture
def site(settings: Settings) -> Site:
    settings.LADDER_GAMES = 60
    site = fill_site()
    keeper_started()
    make_worker()
    return site


def test_the_stored_state_is_that_of_the_queue(site: Site) -> None:
    now = timezone.now()
    found = describe_queue(look(now))
    assert refresh_queue(now)
    stored = queue_state(now)
    rounded = {
        code: [one._replace(seconds=round(one.seconds, 1)) for one in games]
        for code, games in found.ladders.items()
    }
    assert stored == found._replace(ladders=rounded)
    assert len(stored.ladders[LADDER]) == 2
    assert stored.playing == found.playing
    assert any(one.seconds == NEVER_S for games in stored.ladders.values() for one in games) is False


def test_the_state_is_stored_again_only_when_it_is_due(site: Site) -> None:
    now = timezone.now()
    assert refresh_queue(now)
    assert not refresh_queue(now + SECOND)
    assert refresh_queue(now + 600 * SECOND)
    assert QueueForecast.objects.count() == 1


def test_an_old_state_is_not_shown(site: Site) -> None:
    now = timezone.now()
    refresh_queue(now)
    add_version(site.rival, "Newcomer")
    assert len(queue_state(now + SECOND).ladders[LADDER]) == 2
    assert len(queue_state(now + TOO_OLD).ladders[LADDER]) == 3


def test_the_pages_compute_no_forecast_while_the_keeper_stores_one(
    site: Site,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    refresh_queue(timezone.now())
    monkeypatch.setattr("tournament.services.ladders.stored_queue.look", None)
    with django_assert_max_num_queries(6):
        assert "Stone Age" in client.get("/queue/").content.decode()
    assert client.get("/bots/stone-age/").status_code == 200
    assert client.get("/bots/stone-age/1/").status_code == 200


def test_changes_since_the_last_state_are_not_shown_with_old_words(site: Site) -> None:
    now, bot = timezone.now(), site.white.bot
    refresh_queue(now)
    switch(bot, LADDER, on=False)
    assert next_games_of(queue_state(now), bot.activities.all())[LADDER].text == SWITCHED_OFF
    switch(bot, LADDER, on=True)
    newer = add_version(site.owner, "Stone Age")
    found = next_games_of(queue_state(now), bot.activities.all())[LADDER]
    assert (found.version, found.text) == (newer, UNKNOWN)


def test_a_version_that_is_hidden_since_is_not_listed(site: Site, client: Client) -> None:
    refresh_queue(timezone.now())
    BotVersion.objects.filter(pk=site.white.pk).update(state=BotVersion.State.REFUSED)
    ladders = client.get("/queue/").context["ladders"]
    listed = {one.version.bot.slug for row in ladders for one in row.bots}
    assert listed == {site.black.bot.slug}
