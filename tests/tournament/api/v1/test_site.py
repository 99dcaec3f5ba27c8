"""Versions, people, the queue, workers and corrections, as programs read them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.addresses import example_worker
from tests.support.filled_site import LADDER, Site
from tournament.models import Correction, Game, RatingEvent, User
from tournament.services.accounts.tokens import create_token

pytestmark = pytest.mark.django_db


def read(path: str, user: User | None = None, scope: str = "logs:read") -> Any:
    """The answer at an address, with a token of the user."""
    headers = {"Authorization": f"Bearer {create_token(user, 'one', [scope])[1]}"} if user else {}
    answer = Client().get(f"/api/v1/{path}", headers=headers)
    assert answer.status_code == HTTPStatus.OK, answer.content
    return answer.json()


@pytest.mark.parametrize(
    ("path", "file", "name"),
    [
        ("bots/stone-age/ratings/", "/bots/stone-age/ratings.json", "ratings"),
        ("people/olga/ratings/", "/people/olga/ratings.json", "ratings"),
        ("queue/playing/", "/queue/playing.json", "playing"),
        ("queue/tournaments/", "/queue/tournaments.json", "tournaments"),
        ("queue/bots/", "/queue/bots.json", "bots"),
        ("workers/", "/workers/workers.json", "workers"),
    ],
)
def test_rows_are_those_of_the_file(site: Site, client: Client, path: str, file: str, name: str) -> None:
    example_worker()
    assert read(path)["rows"] == client.get(file).json()[name]


def test_the_overall_table_has_the_rows_of_its_file(site: Site, client: Client) -> None:
    rows = read("ladders/overall/")["rows"]
    for row in rows:
        row.update(row.pop("by_ladder"))
    assert rows == client.get("/ladders/overall/scores.json").json()["scores"]


def test_a_version_says_to_its_owner_alone_why_and_where_its_bundle_is(site: Site) -> None:
    type(site.white).objects.filter(pk=site.white.pk).update(state_reason="it waits")
    address = f"bots/{site.white.bot.slug}/{site.white.number}/"
    shown = read(address)
    assert (shown["reason"], shown["bundle"], shown["state"]) == ("", None, site.white.state)
    own = read(address, site.owner)
    assert (own["reason"], own["bundle"]) == ("It waits.", f"{own['page']}bundle.zip")
    assert read(address, site.owner, "play") == shown
    assert shown in read(f"bots/{site.white.bot.slug}/versions/")["rows"]


def test_the_history_of_ratings_goes_on_at_its_cursor(site: Site) -> None:
    address = f"bots/{site.white.bot.slug}/ratings/{LADDER}/"
    events = RatingEvent.objects.filter(version__bot=site.white.bot, ladder=LADDER)
    seen, path = [], f"{address}?limit=1"
    while path:
        page = read(path)
        seen += [(row["game"], row["mu"]) for row in page["rows"]]
        path = (page["next"] or "").partition("/api/v1/")[2]
    assert seen == list(events.order_by("version", "sequence").values_list("game", "mu_after"))
    assert read(f"{address}?version={site.white.number}")["rows"] == read(address)["rows"]
    assert Client().get(f"/api/v1/{address}?after=x").status_code == HTTPStatus.BAD_REQUEST


def test_people_are_counted_in_one_query(
    site: Site, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        assert len(read("people/")["rows"]) > 1


def test_people_are_those_with_something_to_see(site: Site) -> None:
    names = [row["name"] for row in read("people/")["rows"]]
    assert "olga" in names
    assert "stan" not in names
    assert read("people/olga/")["bots"] >= 1


def test_staff_sees_the_machines_of_workers(site: Site) -> None:
    example_worker()
    assert "host" not in read("workers/")["rows"][0]
    assert read("workers/", site.staff)["rows"][0]["host"] == "cellar-7"
    assert "host" not in read("workers/", site.staff, "play")["rows"][0]


def test_corrections_have_a_number_as_cursor(site: Site) -> None:
    for game in Game.objects.order_by("pk")[:2]:
        Correction.objects.create(
            game=game, effect="annulled", reason="A test.", was_rated=True, at=timezone.now()
        )
    page = read("corrections/?limit=1")
    first = page["rows"][0]
    assert (first["reason"], first["key"]) == ("A test.", Correction.objects.earliest("pk").game.key)
    following = read(page["next"].partition("/api/v1/")[2])
    assert (len(following["rows"]), following["next"]) == (1, None)
