"""Two bots against each other: counts, estimates, filters, and the ways to the page."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from engines.arithmetic.intervals import interval
from engines.arithmetic.statistics import Wdl
from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.rated_games import play_rated
from tests.support.schedule import make_test
from tests.tournament.views.bots.test_results import check_numbers, text_of
from tournament.models import Game, LadderRating, PairScore
from tournament.views.bots import comparison
from tournament.views.games import search

pytestmark = pytest.mark.slow

PAGE = "/bots/stone-age/against/third/"


@pytest.fixture(autouse=True)
def games(site: Site, monkeypatch: pytest.MonkeyPatch) -> list[Game]:
    """Games between two versions of each bot, on two ladders."""
    monkeypatch.setattr(search, "PAGE_SIZE", 1000)
    LadderRating.objects.all().delete()
    Game.objects.filter(pk=site.played.pk).update(rated=False)
    played = play_rated(None, "Autumn", [site.white, add_version(site.rival, "Third")], pairs=3)
    versions = [add_version(site.owner, "Stone Age"), add_version(site.rival, "Third")]
    return played + play_rated(None, "Winter", versions, pairs=2, ladders=[LADDER, "dualma"], seed=8)


@pytest.mark.parametrize(
    "query", ["", "?version=1", "?opponent_version=2", "?ladder=dualma&version=2&opponent_version=2"]
)
def test_every_number_is_that_of_the_games_in_its_list(client: Client, query: str) -> None:
    assert check_numbers(client, text_of(client, f"{PAGE}{query}")) >= 6


def test_the_score_is_counted_from_the_first_bot_by_ladder_and_colour(client: Client) -> None:
    ladders = client.get(PAGE).context["ladders"]
    assert [one.game.code for one in ladders] == ["dualma", LADDER]
    for one in ladders:
        games = list(Game.objects.filter(ladder=one.game.code, rated=True).with_players())
        won = [
            game for game in games if game.result == ("1-0" if game.white.bot.name == "Stone Age" else "0-1")
        ]
        score = one.total.score
        assert (score.games, score.wins) == (len(games), len(won))
        assert [row.score.games for row in one.colours] == [len(games) // 2] * 2
        assert one.interval == interval(Wdl(score.losses, score.draws, score.wins))


@pytest.mark.parametrize("query", ["", f"?ladder={LADDER}&version=2", "?opponent_version=1"])
def test_both_tables_as_files_are_those_of_the_page(client: Client, query: str) -> None:
    page = client.get(f"{PAGE}{query}")
    (results,), (estimates,) = page.context["result_files"], page.context["estimate_files"]
    text = page.content.decode().replace("&amp;", "&")
    answer = client.get(results.json).json()
    assert (answer["bot"], answer["opponent"]) == ("Stone Age", "Third")
    expected = [
        (one.game.code, colour, row.score.games, row.score.wins)
        for one in page.context["ladders"]
        for colour, row in [(None, one.total), ("white", one.colours[0]), ("black", one.colours[1])]
    ]
    assert expected
    rows = answer["results"]
    assert [(row["ladder"], row["colour"], row["games"], row["won"]) for row in rows] == expected
    assert [row["superiority"] is None for row in rows] == [colour is not None for _, colour, *_ in expected]
    gaps = [(game.code, gap.elo) for game, *_, gap in page.context["gaps"]]
    found = client.get(estimates.json).json()["estimates"]
    assert [(row["ladder"], row["elo"]) for row in found] == gaps
    assert f'href="{results.csv}"' in text
    assert (f'href="{estimates.csv}"' in text) == bool(gaps)


def test_the_other_direction_has_the_opposite_results(client: Client) -> None:
    page = text_of(client, f"{PAGE}?version=1&ladder={LADDER}")
    address = f"/bots/third/against/stone-age/?ladder={LADDER}&opponent_version=1"
    assert address.replace("&", "&amp;") in page
    (there,) = client.get(f"{PAGE}?version=1&ladder={LADDER}").context["ladders"]
    (back,) = client.get(address).context["ladders"]
    assert (back.total.score.wins, back.total.score.losses) == (
        there.total.score.losses,
        there.total.score.wins,
    )
    assert back.interval.los == pytest.approx(1 - there.interval.los)


@pytest.mark.parametrize(
    "address",
    [
        f"{PAGE}?version=9",
        f"{PAGE}?version=x",
        f"{PAGE}?opponent_version=%00",
        f"{PAGE}?ladder=chess",
        "/bots/stone-age/against/nobody/",
        "/bots/nobody/against/third/",
    ],
)
def test_what_does_not_exist_is_not_found(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("name", ["third", "Third", "THIRD", " third "])
def test_the_form_finds_the_other_bot_by_its_name_or_address(client: Client, name: str) -> None:
    assert client.get("/bots/stone-age/compare/", {"with": name}).headers["Location"] == PAGE


@pytest.mark.parametrize("name", ["", "nobody", "Stone Age", "\0"])
def test_the_form_says_that_there_is_no_such_bot(client: Client, name: str) -> None:
    answer = client.get("/bots/stone-age/compare/", {"with": name}, follow=True)
    assert answer.redirect_chain == [("/bots/stone-age/", 302)]
    assert "There is no other bot with the name" in answer.content.decode()


def test_two_versions_of_a_bot_are_compared_by_the_estimates(client: Client) -> None:
    link = re.search(r'href="(/bots/stone-age/against/stone-age/[^"]*)"', text_of(client, "/bots/stone-age/"))
    assert link is not None
    page = client.get(link[1].replace("&amp;", "&"))
    assert [(one, other) for _, one, other, *_ in page.context["gaps"]] == [(2, 1)]
    (gap,) = [gap for *_, gap in page.context["gaps"]]
    (back,) = [gap for *_, gap in client.get(page.context["reversed"]).context["gaps"]]
    assert gap.superiority == pytest.approx(1 - back.superiority)
    same = client.get("/bots/stone-age/against/stone-age/?version=1&opponent_version=1")
    assert (same.status_code, same.context["gaps"]) == (200, [])
    assert "/bots/third/against/third/" in text_of(client, "/bots/third/")


def test_bots_without_rated_games_have_a_page_with_their_unrated_games(site: Site, client: Client) -> None:
    page = text_of(client, "/bots/stone-age/against/brivalb/")
    assert "They have played no rated games." in page
    unrated = re.search(r'href="(/games/[?][^"]*rated=no[^"]*)"', page)
    assert unrated is not None
    assert f"/games/{site.played.pk}/" in text_of(client, unrated[1].replace("&amp;", "&"))


def test_results_by_opponent_and_the_games_of_a_crosstable_s_cell_lead_to_the_comparison(
    client: Client,
) -> None:
    assert f'href="{PAGE}?ladder={LADDER}"' in " ".join(
        text_of(client, f"/bots/stone-age/?ladder={LADDER}").split()
    )
    crosstable = text_of(client, "/tournaments/autumn/")
    cell = re.search(r'<a href="(/games/[?][^"]*bot=stone-age[^"]*)"', crosstable)
    assert cell is not None
    games = text_of(client, cell[1].replace("&amp;", "&"))
    assert f'href="{PAGE}?ladder={LADDER}&amp;version=1&amp;opponent_version=1"' in games
    assert "Compare the two bots" not in text_of(client, "/games/?bot=stone-age")
    assert "Compare the two bots" not in text_of(client, "/games/?bot=stone-age&opponent=nobody")


def test_a_comparison_costs_the_same_queries_with_any_number_of_games(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        version = add_version(site.owner, "Stone Age")
        PairScore.objects.create(
            ladder_id="duovallis", white=version, black=site.black, wins=10**6, losses=number
        )
    text_of(client, PAGE)  # computes the estimates, which are kept
    with django_assert_max_num_queries(8 + len(GAMES)):
        text_of(client, PAGE)


def test_the_version_tests_of_two_versions_are_linked_whichever_is_first(client: Client, site: Site) -> None:
    newer = site.white.bot.versions.get(number=2)
    test = make_test(site.owner, candidate=newer, baseline=site.white, ladder=LADDER)
    own, link = "/bots/stone-age/against/stone-age/", f'href="{test.get_absolute_url()}"'
    for query in ("", "?version=1&opponent_version=2", "?version=2", f"?ladder={LADDER}"):
        assert link in text_of(client, f"{own}{query}"), query
    for query in ("?version=1&opponent_version=1", "?ladder=dualma"):
        assert link not in text_of(client, f"{own}{query}"), query
    assert link not in text_of(client, PAGE)


def test_few_games_are_said_to_be_few(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page = text_of(client, f"{PAGE}?ladder={LADDER}")
    (one,) = client.get(f"{PAGE}?ladder={LADDER}").context["ladders"]
    assert f"few games: {one.total.score.games}<" in page
    own = client.get("/bots/stone-age/against/stone-age/?version=2&opponent_version=1")
    games = [games for *_, games, _ in own.context["gaps"]]
    assert games
    assert f"few games: {games[0]}<" in own.content.decode()
    monkeypatch.setattr(comparison, "FEW_GAMES", 2)
    assert "few games" not in text_of(client, f"{PAGE}?ladder={LADDER}")
