"""The public page of a person, and the links to it."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.rated_games import play_rated
from tests.support.seats import seat
from tests.tournament.views.bots.test_results import text_of
from tournament.models import ComplianceCheck, Game, LadderRating, Notice, Token, User
from tournament.services.accounts.tokens import create_token

PAGE = "/people/olga/"
LINK = '<a href="/people/olga/"><bdi>olga</bdi></a>'


def test_a_person_s_bots_have_the_best_rating_of_each_ladder(site: Site, client: Client) -> None:
    better = add_version(site.owner, "Stone Age")
    for version, ladder, points in (
        (better, LADDER, 12.5),
        (better, "dualma", 3.25),
        (site.white, "dualma", 4.75),
    ):
        LadderRating.objects.create(
            ladder_id=ladder, version=version, mu=30, sigma=2, conservative=points, games=1, wins=1
        )
    add_version(site.owner, "Idle")
    answer = client.get(PAGE)
    assert [game.code for game in answer.context["ladders"]] == ["dualma", LADDER]
    best = {bot.name: [one and one.conservative for one in best] for bot, best in answer.context["bots"]}
    assert best == {"Stone Age": [4.75, 12.5], "Idle": [None, None]}
    assert (
        f">{site.owner.date_joined:%-d %b %Y}</time>" in answer.content.decode().partition("member since")[2]
    )


def test_a_person_s_games_are_the_newest_of_all_bots(site: Site, client: Client) -> None:
    sister = add_version(site.owner, "Sister")
    played = play_rated(None, "Autumn", [sister, site.black, add_version(None, "Other")], pairs=4)
    own = [game.pk for game in played if "Sister" in {game.white.bot.name, game.black.bot.name}]
    assert [game.pk for game in client.get(PAGE).context["games"]] == [*sorted(own)[:-16:-1]]


def test_games_whose_end_is_not_known_come_last(site: Site, client: Client) -> None:
    sister = add_version(site.owner, "Sister")
    played = play_rated(None, "Autumn", [sister, site.black, add_version(None, "Other")])
    own = [game.pk for game in played if "Sister" in {game.white.bot.name, game.black.bot.name}]
    Game.objects.filter(pk=own[-1]).update(finished_at=None)
    seat(pk=own[-1])
    shown = [game.pk for game in client.get(PAGE).context["games"]]
    assert [pk for pk in shown if pk in own] == [*own[-2::-1], own[-1]]


@pytest.mark.parametrize("visitor", ["anonymous", "another", "owner", "staff"])
def test_a_profile_shows_nothing_private_to_anybody(site: Site, as_user: LogIn, visitor: str) -> None:
    User.objects.filter(pk=site.owner.pk).update(email="olga@example.org", first_name="Olga-Maria")
    Notice.objects.create(user=site.owner, text="a private notice")
    _, token = create_token(site.owner, "my laptop", [Token.Scope.LOGS])
    ComplianceCheck.objects.create(version=site.white, sent_at=site.owner.date_joined, why="a private reason")
    users = {"anonymous": None, "another": site.rival, "owner": site.owner, "staff": site.staff}
    page = text_of(as_user(users[visitor]), PAGE)
    for secret in ("example.org", "Olga-Maria", "private", token, "my laptop", "stderr"):
        assert secret not in page


@pytest.mark.parametrize(
    ("visitor", "shown"), [("anonymous", False), ("another", False), ("owner", True), ("staff", True)]
)
def test_a_draft_is_listed_for_those_who_see_it(
    site: Site, as_user: LogIn, visitor: str, shown: bool
) -> None:
    users = {"anonymous": None, "another": site.rival, "owner": site.owner, "staff": site.staff}
    page = text_of(as_user(users[visitor]), PAGE)
    assert "/tournaments/spring/" in page
    assert (f"/tournaments/{site.draft.slug}/" in page) is shown
    assert f"/tournaments/{site.validation.slug}/" not in page


def test_a_person_with_a_draft_alone_has_a_page_for_those_who_see_the_draft(
    site: Site, as_user: LogIn
) -> None:
    dora = User.objects.create_user("dora")
    site.draft.owner = dora
    site.draft.save()
    statuses = [
        as_user(user).get("/people/dora/").status_code for user in (None, site.rival, dora, site.staff)
    ]
    assert statuses == [404, 404, 200, 200]


@pytest.mark.parametrize("name", ["Olga", "nobody", "olga%00", "the%20site", "x" * 200])
def test_a_name_of_nobody_is_not_found(site: Site, client: Client, name: str) -> None:
    assert client.get(f"/people/{name}/").status_code == 404


@pytest.mark.parametrize("name", ["a.b", "a@b+c", "İlker", "_"])
def test_every_name_of_an_account_has_an_address(site: Site, client: Client, name: str) -> None:
    person = User.objects.create_user(name)
    add_version(person, "Named")
    assert f"<h1><bdi>{name}</bdi></h1>" in text_of(client, person.get_absolute_url())


@pytest.mark.parametrize(
    "address",
    [
        "/bots/",
        "/bots/stone-age/",
        "/bots/stone-age/1/",
        "/ladders/dogon-kulei/",
        "/tournaments/",
        "/tournaments/spring/",
    ],
)
def test_the_name_of_an_owner_leads_to_the_profile(site: Site, client: Client, address: str) -> None:
    assert LINK in text_of(client, address)


def test_the_site_has_no_profile(site: Site, client: Client) -> None:
    add_version(None, "House")
    page = text_of(client, "/bots/house/")
    assert "the site" in page
    assert "/people/" not in page
    assert client.get("/people/the site/").status_code == 404


def test_an_account_leads_to_its_profile(site: Site, as_user: LogIn) -> None:
    assert f'href="{PAGE}"' in text_of(as_user(site.owner), "/account/")


def test_a_profile_costs_the_same_queries_with_any_number_of_bots(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(10):
        add_version(site.owner, f"Bot {number}")
    play_rated(site.owner, "Autumn", [site.white, site.black, add_version(site.owner, "Sister")])
    with django_assert_max_num_queries(10):
        text_of(client, PAGE)
