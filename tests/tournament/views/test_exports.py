"""Lists as files: all rows, in parts, and only what the reader may see."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.schedule import make_event, make_test
from tournament.models import BotVersion, LadderRating, Tournament
from tournament.views.bots import bots, lists
from tournament.views.tournaments import tables as tournament_tables
from tournament.views.version_tests import version_tests

LISTS = {
    "/bots/bots": ("bots", lists.BotRow.__struct_fields__),
    "/tournaments/tournaments": ("tournaments", tournament_tables.TournamentRow.__struct_fields__),
    "/version-tests/version-tests": ("tests", version_tests.VersionTestRow.__struct_fields__),
    "/people/olga/ratings": ("ratings", bots.BotRatingRow.__struct_fields__),
}


@pytest.fixture
def tested(site: Site) -> Tournament:
    versions = [add_version(site.rival, f"Tested {name}") for name in ("one", "two")]
    return make_test(site.rival, baseline=versions[0], candidate=versions[1], ladder=LADDER)


@pytest.mark.usefixtures("tested")
@pytest.mark.parametrize("address", LISTS)
def test_a_list_has_the_same_columns_and_rows_as_csv_and_json(
    site: Site, client: Client, address: str
) -> None:
    name, columns = LISTS[address]
    text = client.get(f"{address}.csv").content.decode()
    assert text.splitlines()[0] == ",".join(columns)
    rows = client.get(f"{address}.json").json()[name]
    assert all(tuple(row) == columns for row in rows)
    assert list(csv.DictReader(io.StringIO(text))) == [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in rows
    ]
    assert client.get(f"{address}.xml").status_code == 404


@pytest.mark.usefixtures("tested")
@pytest.mark.parametrize("address", LISTS)
def test_the_page_of_a_list_links_to_its_files(site: Site, client: Client, address: str) -> None:
    page = client.get(f"{address.rpartition('/')[0]}/").content.decode()
    for kind in ("csv", "json"):
        assert f'href="{address}.{kind}"' in page


@pytest.mark.parametrize(
    ("module", "address", "name"),
    [
        (lists, "/bots/bots.json", "bots"),
        (tournament_tables, "/tournaments/tournaments.json", "tournaments"),
    ],
)
def test_a_long_list_names_the_address_of_its_next_part(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch, module: object, address: str, name: str
) -> None:
    bots = [add_version(site.owner, f"Bot {number}") for number in range(3)]
    for number in range(4):
        make_event("round-robin", versions=bots, name=f"Cup {number}")
    expected = client.get(address).json()[name]
    assert "Link" not in client.get(address).headers
    monkeypatch.setattr(module, "MAX_EXPORTED", 2)
    found, part = [], address
    while part:
        answer = client.get(part)
        rows = answer.json()[name]
        assert 0 < len(rows) <= 2
        found += rows
        part = answer.headers.get("Link", "").removeprefix("<http://testserver").removesuffix('>; rel="next"')
    assert found == expected
    assert len(found) >= 5


def test_lists_hold_what_the_reader_may_see(site: Site, as_user: LogIn) -> None:
    add_version(site.owner, "Novice", state=BotVersion.State.WAITING)
    add_version(site.owner, "Stone Age", state=BotVersion.State.REFUSED)
    for user, sees in ((None, False), (site.rival, False), (site.owner, True), (site.staff, True)):
        client = as_user(user)
        bots = {row["bot"]: row for row in client.get("/bots/bots.json").json()["bots"]}
        assert ("Novice" in bots) == sees
        assert bots["Stone Age"]["newest_version"] == (2 if sees else 1)
        cups = {
            row["tournament"] for row in client.get("/tournaments/tournaments.json").json()["tournaments"]
        }
        assert ("Draft" in cups, "Spring" in cups) == (sees, True)


def test_a_list_of_tournaments_has_neither_ladders_nor_validations(site: Site, client: Client) -> None:
    formats = {row["format"] for row in client.get("/tournaments/tournaments.json").json()["tournaments"]}
    assert formats == {"round-robin"}


def test_the_best_ratings_of_a_person_are_those_of_the_page(site: Site, client: Client) -> None:
    newer = add_version(site.owner, "Stone Age")
    for mu, version in ((40, newer), (30, site.white)):
        LadderRating.objects.create(
            ladder_id="dualma", version=version, mu=mu, sigma=1, conservative=mu - 3, games=9, wins=9
        )
    rows = client.get("/people/olga/ratings.json").json()["ratings"]
    assert [(row["bot"], row["ladder"], row["version"], row["rating"]) for row in rows] == [
        ("Stone Age", "dualma", 2, 37.0),
        ("Stone Age", "dogon-kulei", 1, 10.0),
    ]


@pytest.mark.parametrize("address", LISTS)
def test_a_list_costs_the_same_queries_at_any_length(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, address: str
) -> None:
    bots = [add_version(site.owner, f"Bot {number}") for number in range(5)]
    for number in range(3):
        make_event("round-robin", versions=bots, name=f"Cup {number}", owner=site.owner)
    with django_assert_max_num_queries(4):
        client.get(f"{address}.json")
