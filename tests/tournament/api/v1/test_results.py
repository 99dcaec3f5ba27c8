"""Results and comparisons as programs read them: the rows of the pages' files."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.support.filled_site import LADDER, STDERR, Site, add_version
from tests.support.rated_games import play_rated
from tests.support.remembered import remembered
from tournament.models import Bot, User
from tournament.services.accounts.tokens import create_token

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def games(site: Site) -> None:
    """Games against a third bot."""
    remembered(play_games, site)


def play_games(site: Site) -> None:
    play_rated(None, "Autumn", [site.white, add_version(site.rival, "Third")], pairs=3)


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("bots/stone-age/results", "results"),
        (f"bots/stone-age/results?ladder={LADDER}&version=1", "results"),
        ("bots/stone-age/against/third/results", "results"),
        (f"bots/stone-age/against/third/results?ladder={LADDER}&opponent_version=1", "results"),
        ("bots/stone-age/against/third/estimates", "estimates"),
    ],
)
def test_the_rows_are_those_of_the_file(client: Client, path: str, name: str) -> None:
    path, _, query = path.partition("?")
    rows = client.get(f"/api/v1/{path}/?{query}").json()["rows"]
    assert rows == client.get(f"/{path}.json?{query}").json()[name]
    assert rows


@pytest.mark.usefixtures("games")
@pytest.mark.parametrize(
    ("query", "status"), [("ladder=chess", 400), ("version=9", 404), ("version=x", 400), ("round=1", 400)]
)
def test_what_does_not_exist_has_no_results(client: Client, query: str, status: int) -> None:
    for path in ("bots/stone-age/results/", "bots/stone-age/against/third/results/"):
        answer = client.get(f"/api/v1/{path}?{query}")
        assert answer.status_code == status
        assert answer.json()["error"].endswith(".")


def test_a_bot_without_rated_games_has_no_rows(site: Site, client: Client) -> None:
    bot = add_version(site.owner, "New", state="refused").bot
    token = create_token(site.owner, "program", ["logs:read"])[1]
    answer = client.get(f"/api/v1/bots/{bot.slug}/results/", headers={"Authorization": f"Bearer {token}"})
    assert answer.json() == {"rows": [], "next": None}


# Logs of engines


def read_log(site: Site, side: str, user: User, *scopes: str, bot: Bot | None = None) -> Any:
    token = create_token(user, side, scopes, bot=bot)[1]
    address = f"/api/v1/games/{site.played.pk}/log/{side}/"
    return Client().get(address, headers={"Authorization": f"Bearer {token}"})


def test_a_log_is_for_the_owner_of_its_bot_and_the_text_of_the_page(site: Site) -> None:
    found = read_log(site, "white", site.owner, "logs:read")
    client = Client()
    client.force_login(site.owner)
    assert found.content == client.get(f"/games/{site.played.pk}/log/white/").content
    assert STDERR["white"] in found.content.decode()
    assert read_log(site, "white", site.staff, "logs:read").status_code == 200
    assert read_log(site, "white", site.rival, "logs:read").status_code == 404
    assert read_log(site, "referee", site.owner, "logs:read").status_code == 404
    assert read_log(site, "white", site.owner, "bots:upload", "play").status_code == 403


def test_a_token_of_another_bot_reads_no_log(site: Site) -> None:
    other = add_version(site.owner, "New").bot
    assert read_log(site, "white", site.owner, "logs:read", bot=other).status_code == 403
    assert read_log(site, "white", site.owner, "logs:read", bot=site.white.bot).status_code == 200


@pytest.mark.parametrize(
    ("name", "found"),
    [("stone age", ["stone-age"]), ("stone-age", ["stone-age"]), ("stone", []), ("Hopeless", []), ("\0", [])],
)
def test_one_bot_is_found_by_its_name(site: Site, client: Client, name: str, found: list[str]) -> None:
    add_version(site.owner, "Hopeless", state="refused")
    rows = client.get("/api/v1/bots/", {"called": name}).json()["rows"]
    assert [row["slug"] for row in rows] == found
