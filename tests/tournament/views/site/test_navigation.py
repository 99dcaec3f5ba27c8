"""The main navigation, and the page that leads to boards, explorers and tasks."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, LogIn, Site
from tournament.models import LiveGame


def navigation(client: Client, address: str) -> dict[str, str]:
    """The text of each entry by its address; the current one has a * before it."""
    page = client.get(address).content.decode()
    entries = re.findall(
        r'<a href="([^"]+)"( aria-current="page")?>(.*?)</a>', page.partition('id="menu"')[2], re.DOTALL
    )
    return {
        address: ("*" if current else "") + " ".join(re.sub("<[^>]*>", " ", text).split())
        for address, current, text in entries[:8]
    }


def test_every_page_leads_to_watching_playing_and_analysing(site: Site) -> None:
    assert navigation(Client(), "/about/") == {
        "/tv/": "Watch 1 being played",
        "/play/": "Play",
        "/analyse/": "Analyse",
        "/ladders/": "Ladders",
        "/tournaments/": "Tournaments",
        "/bots/": "Bots",
        "/games/": "Games",
        "/rules/": "Rules",
    }


def test_no_number_stands_beside_watch_while_nothing_is_played(site: Site) -> None:
    LiveGame.objects.all().delete()
    assert navigation(Client(), "/about/")["/tv/"] == "Watch"


@pytest.mark.parametrize(
    ("address", "entry"),
    [
        ("/tv/", "/tv/"),
        ("/queue/", "/tv/"),
        ("/analyse/", "/analyse/"),
        (f"/explore/{LADDER}/", "/analyse/"),
        (f"/ladders/{LADDER}/", "/ladders/"),
        ("/version-tests/", "/tournaments/"),
        ("/start/", "/bots/"),
        ("/games/", "/games/"),
        (f"/rules/{LADDER}/", "/rules/"),
    ],
)
def test_the_entry_of_a_page_is_marked(site: Site, address: str, entry: str) -> None:
    marked = [one for one, text in navigation(Client(), address).items() if text.startswith("*")]
    assert marked == [entry]


def test_the_page_of_analysis_links_board_explorer_and_tasks_of_every_ladder(site: Site) -> None:
    page = Client().get("/analyse/").content.decode()
    for code in GAMES:
        for address in (f"/analyse/{code}/", f"/explore/{code}/", f"/rules/{code}/tasks/1/"):
            assert f'href="{address}"' in page


def test_a_ladder_leads_to_playing_watching_and_analysing(site: Site) -> None:
    page = Client().get(f"/ladders/{LADDER}/").content.decode()
    for address in (f"/play/{LADDER}/", f"/tv/{LADDER}/", f"/analyse/{LADDER}/", f"/explore/{LADDER}/"):
        assert f'href="{address}"' in page


def test_the_page_of_a_bot_offers_a_game_against_it_to_those_who_may_ask_it(
    site: Site, as_user: LogIn
) -> None:
    bot = site.white.bot
    offer = f'href="/play/{LADDER}/?bot={site.white.pk}"'
    assert offer not in Client().get(bot.get_absolute_url()).content.decode()
    assert offer in as_user(site.owner).get(bot.get_absolute_url()).content.decode()
    bot.answers = True
    bot.save()
    assert offer in Client().get(bot.get_absolute_url()).content.decode()
