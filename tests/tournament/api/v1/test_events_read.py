"""Tournaments and version tests as programs read them."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LADDER, Site, add_version
from tests.support.schedule import make_event, make_test

pytestmark = pytest.mark.django_db


def test_the_list_has_the_tournaments_of_the_file_the_oldest_first(site: Site, client: Client) -> None:
    for number in range(3):
        make_event("round-robin", versions=[site.white, site.black], name=f"Cup {number}")
    expected = client.get("/tournaments/tournaments.json").json()["tournaments"]
    rows = client.get("/api/v1/tournaments/").json()["rows"]
    assert rows == expected[::-1]
    first = client.get("/api/v1/tournaments/?limit=2").json()
    assert first["rows"] == rows[:2]
    assert client.get(first["next"]).json()["rows"] == rows[2:4]


@pytest.mark.parametrize("order", ["name", "-name", "bots", "-games", "started"])
def test_the_list_is_sorted_as_the_page(site: Site, client: Client, order: str) -> None:
    for number in range(3):
        make_event("round-robin", versions=[site.white, site.black], name=f"Cup {number}", pairs=number + 1)
    listed = client.get(f"/tournaments/?sort={order}").context["page"].rows
    first = client.get(f"/api/v1/tournaments/?sort={order}&limit=3").json()
    rows = first["rows"] + client.get(first["next"]).json()["rows"]
    assert [row["slug"] for row in rows] == [one.tournament.slug for one in listed]
    for query in ("sort=size", f"sort={order}&after=x"):
        assert client.get(f"/api/v1/tournaments/?{query}").status_code == 400
    assert client.get(f"/api/v1/tournaments/?sort={order}&after=9999999").json()["rows"] == []


def test_one_tournament_has_its_terms_and_its_entries(site: Site, client: Client) -> None:
    (row,) = [
        row for row in client.get("/api/v1/tournaments/").json()["rows"] if row["slug"] == site.running.slug
    ]
    answer = client.get(f"/api/v1/tournaments/{site.running.slug}/").json()
    assert row.items() <= answer.items()
    assert answer["ladders"] == site.running.ladders
    entries = client.get(f"/api/v1/tournaments/{site.running.slug}/entries/").json()["rows"]
    assert [(one["slug"], one["version"]) for one in entries] == [
        (one.version.bot.slug, one.version.number) for one in site.running.entries.order_by("number")
    ]


@pytest.mark.parametrize("name", ["standings", "crosstable", "pairings"])
def test_the_tables_are_those_of_the_files(site: Site, client: Client, name: str) -> None:
    swiss = make_event(
        "swiss",
        versions=[site.white, site.black, add_version(None, "Third")],
        rounds=2,
        name="S",
        ladders=[LADDER],
    )
    expected = client.get(f"/tournaments/{swiss.slug}/{name}.json").json()[name]
    address = f"/api/v1/tournaments/{swiss.slug}/{name}/"
    assert client.get(address).json()["rows"] == expected
    assert client.get(f"{address}?ladder={LADDER}").json()["rows"] == expected
    missing = client.get(f"{address}?ladder=chess")
    assert (missing.status_code, missing.json()["ok"]) == (404, False)


def test_a_draft_is_not_found(site: Site, client: Client) -> None:
    for rest in ("", "entries/", "standings/", "crosstable/", "pairings/"):
        answer = client.get(f"/api/v1/tournaments/{site.draft.slug}/{rest}")
        assert (answer.status_code, answer.json()["ok"]) == (404, False)


def test_a_version_test_has_its_question_its_verdict_and_its_pairs(site: Site, client: Client) -> None:
    versions = [add_version(site.rival, f"Tested {name}") for name in ("one", "two")]
    test = make_test(site.rival, baseline=versions[0], candidate=versions[1], ladder=LADDER)
    rows = client.get("/api/v1/version-tests/").json()["rows"]
    assert rows == client.get("/version-tests/version-tests.json").json()["tests"]
    assert client.get("/api/v1/version-tests/?owner=olga").json()["rows"] == []
    answer = client.get(f"/api/v1/version-tests/{test.slug}/").json()
    assert rows[0].items() <= answer.items()
    assert (answer["candidate"]["slug"], answer["baseline"]["slug"]) == ("tested-two", "tested-one")
    assert (answer["verdict"], answer["is_over"]) == ("Not decided yet", False)
    pairs = client.get(f"/api/v1/version-tests/{test.slug}/pairs/").json()["rows"]
    assert pairs == client.get(f"/version-tests/{test.slug}/pairs.json").json()["pairs"]
