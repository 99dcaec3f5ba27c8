"""Which bot a form proposes to ask."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.door import DoorWorker
from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.schedule import open_door
from tournament.models import Bot, BotVersion, LadderRating
from workers.jobs import Work

BOARD, PLAY = f"/analyse/{LADDER}/", f"/play/{LADDER}/"


@pytest.fixture(autouse=True)
def _answering(site: Site) -> None:
    open_door(timezone.now())
    DoorWorker(takes=(Work.CHECKS, Work.ANALYSIS), slots=1).beat()
    Bot.objects.filter(pk__in=[site.white.bot_id, site.black.bot_id]).update(answers=True)


@pytest.fixture
def strongest(site: Site) -> BotVersion:
    """A bot of nobody's that leads, before White's in the middle and Black's without a rating."""
    version = add_version(None, "Zenith")
    LadderRating.objects.filter(ladder=LADDER).delete()
    for one, rating in ((site.white, 5.0), (version, 20.0)):
        LadderRating.objects.create(
            ladder_id=LADDER, version=one, mu=rating + 3, sigma=1, conservative=rating
        )
    return version


def offered(client: Client, page: str) -> list[int]:
    """The versions of the form of a page, the proposed one first."""
    chooser = re.findall(r'name="bot".*?</select>', client.get(page).content.decode(), re.DOTALL)[0]
    return [int(pk) for pk in re.findall(r'value="(\d+)"', chooser)]


@pytest.mark.parametrize("page", [BOARD, PLAY])
def test_the_strongest_bot_is_proposed_and_the_own_one_comes_last(
    site: Site, strongest: BotVersion, as_user: LogIn, page: str
) -> None:
    assert offered(as_user(site.rival), page) == [strongest.pk, site.white.pk, site.black.pk]
    assert offered(as_user(site.owner), page) == [strongest.pk, site.black.pk, site.white.pk]


def test_a_visitor_s_choice_is_proposed_the_next_time_on_that_ladder(
    site: Site, strongest: BotVersion, client: Client, as_user: LogIn
) -> None:
    assert offered(client, BOARD)[0] == strongest.pk
    client.post(f"{BOARD}search/", {"bot": site.white.pk, "seconds": "1", "moves": "c1+"})
    assert offered(client, BOARD) == [site.white.pk, strongest.pk, site.black.pk]
    assert offered(client, "/analyse/dogon-gagara/")[0] != site.white.pk
    player = as_user(site.rival)
    player.post(PLAY, {"bot": site.white.pk, "colour": "white", "ms": "2000"})
    assert offered(player, PLAY)[0] == offered(player, BOARD)[0] == site.white.pk
