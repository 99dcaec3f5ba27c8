"""What a version's page says of the time after its validation: the queue, the first game, what to do."""

from __future__ import annotations

import datetime
import html
import re

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.parts import PART, seen_of
from tests.support.schedule import charge, make_worker, open_door
from tournament.caches import cache
from tournament.models import BotVersion, ComplianceCheck, Game, GameLog, Tournament
from tournament.models.compressed import pack_log
from tournament.services.bots.activity import activate, switch
from tournament.services.calendar import tend

SECOND = datetime.timedelta(seconds=1)


@pytest.fixture(autouse=True)
def a_site_that_plays(site: Site, settings: Settings) -> None:
    settings.LADDER_GAMES = 60
    open_door()
    make_worker()
    Tournament.objects.filter(pk=site.running.pk).update(state="cancelled")
    Game.objects.filter(tournament=site.running).exclude(state="done").update(state="cancelled", attempt=None)


def text_of(client: Client, address: str = "/bots/stone-age/1/") -> str:
    cache.clear()
    page = client.get(address).content.decode()
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def queue_check(version: BotVersion, minutes_ago: float = 0) -> ComplianceCheck:
    return ComplianceCheck.objects.create(version=version, sent_at=timezone.now() - minutes_ago * 60 * SECOND)


def test_an_active_version_s_page_names_its_next_game(site: Site, client: Client) -> None:
    assert "The next game: as soon as the matchmaker chooses it" in text_of(client)
    tend()
    assert "The next game: it is next" in text_of(client)
    open_door(timezone.now() - 300 * SECOND)
    assert "it is next (no games are started at the moment: the record keeper" in text_of(client)


def test_without_a_matchmaker_the_page_says_that_only_tournaments_are_played(
    site: Site, client: Client, settings: Settings
) -> None:
    settings.LADDER_GAMES = 0
    assert "only in tournaments (matchmaker off)" in text_of(client)


def test_the_owner_sees_which_version_is_active_instead(site: Site, as_user: LogIn) -> None:
    newer = add_version(site.owner, "Stone Age", [LADDER])
    owner, other = as_user(site.owner), as_user(site.rival)
    assert "v2 is active here instead" in text_of(owner)
    assert "choose the active version" in text_of(owner)
    assert "active here instead" not in text_of(other)
    activate(site.white, LADDER)
    assert "active here instead" not in text_of(owner)
    assert "v1 is active here instead" in text_of(owner, newer.get_absolute_url())
    switch(site.white.bot, LADDER, on=False)
    assert "You have switched this bot off here" in text_of(owner)


def test_the_owner_sees_that_today_s_time_for_validations_is_used_up(
    site: Site, as_user: LogIn, settings: Settings
) -> None:
    settings.VALIDATION_HOURS = 1
    mine = add_version(site.owner, "Stone Age", [LADDER], state="validating")
    queue_check(mine)
    owner, address = as_user(site.owner), mine.get_absolute_url()
    used_up = "have used 1.5 of 1 slot-hours today (UTC). This validation waits until tomorrow (UTC)"
    assert used_up not in text_of(owner, address)
    charge({site.owner.pk: 5400.0}, timezone.now(), is_validation=True)
    assert used_up in text_of(owner, address)
    assert used_up not in text_of(as_user(site.rival), address)


def test_the_owner_sees_the_place_in_the_queue_for_validation(site: Site, as_user: LogIn) -> None:
    owner = as_user(site.owner)
    mine = add_version(site.owner, "Stone Age", [LADDER], state="validating")
    address = mine.get_absolute_url()
    queue_check(mine)
    assert "This version is number 1 in the queue for validation. No worker validates" in text_of(
        owner, address
    )
    make_worker(1, name="checks@east", takes="checks")
    assert "No worker validates" not in text_of(owner, address)
    for number in range(2):
        queue_check(add_version(site.rival, f"Other {number}", [LADDER], state="validating"), 5 + number)
    text = text_of(owner, address)
    assert "number 3 in the queue" in text
    assert "in the queue for validation" not in text_of(as_user(site.rival), address)


def test_the_page_follows_the_queue(site: Site, as_user: LogIn) -> None:
    owner = as_user(site.owner)
    other = queue_check(add_version(site.rival, "Other", [LADDER], state="validating"), 5)
    mine = add_version(site.owner, "Stone Age", [LADDER], state="validating")
    queue_check(mine)
    address = mine.get_absolute_url()
    seen = seen_of(owner.get(address))
    assert owner.get(f"{address}?seen={seen}", headers=PART).status_code == 204
    ComplianceCheck.objects.filter(pk=other.pk).update(ended_at=timezone.now(), end=ComplianceCheck.End.DONE)
    assert "number 1 in the queue" in owner.get(f"{address}?seen={seen}", headers=PART).content.decode()


def test_the_owner_of_a_waiting_version_sees_its_place(site: Site, as_user: LogIn) -> None:
    add_version(site.rival, "Other", [LADDER], state="waiting")
    mine = add_version(site.owner, "Stone Age", [LADDER], state="waiting")
    assert "This is number 2 of the versions that wait." in text_of(
        as_user(site.owner), mine.get_absolute_url()
    )


def test_a_refused_version_says_what_to_do_and_shows_the_newest_log_first(site: Site, as_user: LogIn) -> None:
    for game in site.validation.games.order_by("id"):
        GameLog.objects.create(game=game, side="white", content=pack_log(f"log of {game.pk}", ""))
    BotVersion.objects.filter(pk=site.white.pk).update(state="refused", state_reason="it never answered")
    ComplianceCheck.objects.create(version=site.white, sent_at=timezone.now(), heard_at=timezone.now())
    text = text_of(as_user(site.owner))
    assert (
        "It never answered. Correct the bot, check it on your machine with python3 -m workers check" in text
    )
    logs = [int(pk) for pk in re.findall(r"log of (\d+)", text)]
    assert logs == sorted(logs, reverse=True)
    assert len(logs) > 1
    assert text.index("log of") < text.index("Compliance check")


def test_a_page_of_a_version_refused_in_the_meantime_is_loaded_anew(site: Site, client: Client) -> None:
    version = add_version(site.owner, "Stone Age", [LADDER], state="validating")
    address = version.get_absolute_url()
    seen = seen_of(client.get(address))
    BotVersion.objects.filter(pk=version.pk).update(state="refused")
    response = client.get(f"{address}?seen={seen}", headers=PART)
    assert (response["X-Reload"], response.content) == ("true", b"")
    assert client.get(address).status_code == 404
