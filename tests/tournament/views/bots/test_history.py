"""The history of a bot's ratings."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from tests.support.filled_site import Site, add_version
from tournament.models import Game, RatingEvent
from tournament.views.bots import history

ADDRESS = "/bots/stone-age/ratings/dogon-kulei.json"


@pytest.fixture
def events(site: Site) -> list[RatingEvent]:
    """Two rated games of White's bot, an hour apart."""
    made = []
    for sequence, game in enumerate((site.played, site.live), start=1):
        Game.objects.filter(pk=game.pk).update(
            finished_at=timezone.now() + datetime.timedelta(hours=sequence)
        )
        made.append(
            RatingEvent.objects.create(
                ladder_id="dogon-kulei",
                sequence=sequence,
                game=game,
                version=site.white,
                mu_before=25,
                sigma_before=8,
                mu_after=25 + sequence,
                sigma_after=8 - sequence,
            )
        )
    return made


def test_the_points_are_the_ratings_after_each_game_with_the_game(
    site: Site, events: list[RatingEvent], client: Client
) -> None:
    answer = client.get(ADDRESS).json()
    assert answer["bot"] == "Stone Age"
    (version,) = answer["versions"]
    assert version["number"] == 1
    assert [point[1:] for point in version["points"]] == [[26, 7, site.played.pk], [27, 6, site.live.pk]]
    assert version["points"][1][0] - version["points"][0][0] == pytest.approx(3600, abs=1)


def test_a_ladder_without_games_has_no_versions_and_an_unknown_one_is_not_found(
    site: Site, client: Client
) -> None:
    assert client.get(ADDRESS.replace("dogon-kulei", "dualma")).json()["versions"] == []
    assert client.get(ADDRESS.replace("dogon-kulei", "chess")).status_code == 404


def test_the_points_of_all_versions_cost_the_same_queries(
    site: Site, events: list[RatingEvent], client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(3):
        client.get(ADDRESS)
    for number, game in enumerate(site.draft.games.all()[:2], start=10):
        Game.objects.filter(pk=game.pk).update(finished_at=timezone.now())
        RatingEvent.objects.create(
            ladder_id="dogon-kulei", sequence=number, game=game, version=add_version(site.owner, "Stone Age"),
            mu_before=25, sigma_before=8, mu_after=number, sigma_after=7,
        )  # fmt: skip
    with django_assert_num_queries(3):
        versions = client.get(ADDRESS).json()["versions"]
    assert [(one["number"], [mu for _, mu, *_ in one["points"]]) for one in versions] == [
        (1, [26, 27]),
        (2, [10]),
        (3, [11]),
    ]


@pytest.mark.parametrize(("count", "most"), [(0, 5), (5, 5), (6, 5), (1000, 5), (201, 200)])
def test_thinning_out_keeps_both_ends(count: int, most: int) -> None:
    kept = history.thin_out(range(count), most)
    assert len(kept) == min(count, most)
    assert kept == sorted(set(kept))
    if count:
        assert (kept[0], kept[-1]) == (0, count - 1)


def test_the_page_of_a_rated_bot_offers_its_ladders(site: Site, client: Client) -> None:
    page = client.get("/bots/stone-age/").content.decode()
    assert f'data-history="{ADDRESS}"' in page
