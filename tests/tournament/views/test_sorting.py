"""Tables that their headings sort, and lists that are searched by names."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.schedule import make_event
from tournament.models import LadderRating, Tournament

HEADING = re.compile(r'<th scope="col"([^>]*)><a href="([^"]*)"[^>]*>(?:<abbr[^>]*>)?([^<]*)')


def page_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def headings(client: Client, address: str) -> dict[str, tuple[str, str]]:
    """The order of each heading that sorts, "" for none, and the address to which it leads."""
    found = HEADING.findall(page_of(client, address))
    return {
        label: ("".join(re.findall(r'aria-sort="(\w+)"', attributes)), query.replace("&amp;", "&"))
        for attributes, query, label in found
    }


def order_of(client: Client, address: str, *names: str) -> list[str]:
    """The names in the order of the rows of the page's tables."""
    rows = " ".join(page_of(client, address).split("<tr")[2:])
    return sorted(names, key=rows.index)


@pytest.fixture
def rated(site: Site) -> Site:
    for name, mu, games in (("Third", 30.0, 70), ("Fourth", 28.0, 90)):
        version = add_version(site.rival, name)
        LadderRating.objects.create(
            ladder_id=LADDER, version=version, mu=mu, sigma=1.0, conservative=mu - 3, games=games, wins=games
        )
    return site


def test_a_ladder_is_sorted_by_its_headings(rated: Site, client: Client) -> None:
    address = f"/ladders/{LADDER}/"
    assert order_of(client, address, "Fourth", "Third") == ["Third", "Fourth"]
    assert headings(client, address)["Games"] == ("", "?sort=-games")
    assert headings(client, f"{address}?sort=-games")["Games"] == ("descending", "?sort=games")
    assert order_of(client, f"{address}?sort=-games", "Fourth", "Third") == ["Fourth", "Third"]
    assert order_of(client, f"{address}?sort=bot", "Third", "Fourth") == ["Fourth", "Third"]


def test_an_unknown_order_is_the_tables_own(rated: Site, client: Client) -> None:
    address = f"/ladders/{LADDER}/?sort=-password"
    assert order_of(client, address, "Fourth", "Third") == ["Third", "Fourth"]
    assert {order for order, _ in headings(client, address).values()} == {""}


def test_bots_are_searched_by_name_owner_and_ladder(rated: Site, client: Client) -> None:
    page = page_of(client, "/bots/?name=thi")
    assert "Third" in page
    assert "Fourth" not in page
    assert "<title>Bots with “thi” in their names" in page
    page = page_of(client, "/bots/?owner=olga")
    assert "Stone Age" in page
    assert "Third" not in page
    assert "No bots match." in page_of(client, "/bots/?name=nobody")


def test_the_list_of_bots_has_ratings_and_is_sorted_by_those_of_one_ladder(
    rated: Site, client: Client
) -> None:
    page = page_of(client, "/bots/")
    assert GAMES[LADDER].name in page
    assert re.search(r'<b class="tabular">27\.00</b>', page)
    assert "Ratings" not in headings(client, "/bots/")
    address = f"/bots/?ladder={LADDER}"
    assert headings(client, address)["Ratings"] == ("", f"?ladder={LADDER}&sort=-rating")
    names = ("Fourth", "Stone Age", "Third")
    assert order_of(client, f"{address}&sort=-rating", *names) == ["Third", "Fourth", "Stone Age"]


def test_tournaments_are_sorted_by_their_headings_on_every_page(site: Site, client: Client) -> None:
    make_event("round-robin", bots=3, owner=site.owner, name="Autumn")
    assert order_of(client, "/tournaments/", "Autumn", "Spring") == ["Autumn", "Spring"]
    assert order_of(client, "/tournaments/?sort=-name", "Autumn", "Spring") == ["Spring", "Autumn"]
    assert headings(client, "/tournaments/?sort=name")["Tournament"] == ("ascending", "?sort=-name")


def test_the_lines_of_a_crosstable_are_sorted_and_its_columns_stay(site: Site, client: Client) -> None:
    address = site.running.get_absolute_url()
    rows = re.findall(
        r'<span class="rank">(\d)</span>\s*<a class="bot"[^>]*>([^<]*)', page_of(client, address)
    )
    by_name = re.findall(
        r'<span class="rank">(\d)</span>\s*<a class="bot"[^>]*>([^<]*)',
        page_of(client, f"{address}?sort=bot"),
    )
    assert sorted(rows) == sorted(by_name)
    assert [name for _, name in by_name] == sorted((name for _, name in rows), key=str.casefold)
    assert headings(client, address)["Perf."] == ("", "?sort=-performance")


def test_an_empty_list_without_filters_says_that_there_is_nothing_yet(db: None, client: Client) -> None:
    assert "No games yet." in page_of(client, "/games/")
    assert "No games match." in page_of(client, "/games/?result=draw")


def test_a_tournament_without_games_says_that_there_are_none_yet(site: Site, client: Client) -> None:
    Tournament.objects.filter(pk=site.draft.pk).update(state=Tournament.State.RUNNING)
    address = site.draft.get_absolute_url()
    assert "No games yet." in page_of(client, address)
    assert "No games match." in page_of(client, f"{address}?result=draw")


def test_games_are_searched_by_the_names_of_bots(site: Site, client: Client) -> None:
    page = page_of(client, f"/games/?bot=stone%20AGE&ladder={LADDER}")
    assert f'href="{site.played.get_absolute_url()}' in page
    assert f"<title>Games of stone AGE on {GAMES[LADDER].name} ·" in page
    assert "No bot has the name “No Such Bot”." in page_of(client, "/games/?bot=No+Such+Bot")
