"""The ladders and their tables, as programs read them."""

from __future__ import annotations

import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, Site
from tournament.models import Ladder

pytestmark = pytest.mark.django_db


def test_ladders_are_in_the_order_of_the_site(site: Site, client: Client) -> None:
    rows = client.get("/api/v1/ladders/").json()["rows"]
    assert [row["code"] for row in rows] == list(GAMES)
    (row,) = [row for row in rows if row["code"] == LADDER]
    assert client.get(f"/api/v1/ladders/{LADDER}/").json() == row
    assert row["page"] == f"http://testserver/ladders/{LADDER}/"
    assert row["outdated"] is Ladder.objects.get(pk=LADDER).is_outdated


def test_ratings_are_those_of_the_file(site: Site, client: Client) -> None:
    rows = client.get(f"/api/v1/ladders/{LADDER}/ratings/").json()["rows"]
    assert rows == client.get(f"/ladders/{LADDER}/ratings.json").json()["ratings"]
    assert rows
