"""The results on the pages of a bot and its versions: each number is that of the list it leads to."""

from __future__ import annotations

import datetime
import re
from html import escape, unescape

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.records import Record, read_records
from engines.rules.base import Side
from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.rated_games import play_rated
from tests.support.remembered import remembered
from tests.support.seats import seat
from tournament.models import Game, GameRecord, LadderRating, PairOutcome, PairScore, RatingEvent, User
from tournament.services.results.rebuilding import rebuild
from tournament.views.bots import recent
from tournament.views.bots.results import MAX_OPPONENTS
from tournament.views.games import search
from tournament.views.games.replay import format_seconds

pytestmark = pytest.mark.slow

PAGE = "/bots/stone-age/"


@pytest.fixture
def games(site: Site) -> list[Game]:
    """Games of two versions of White's bot on two ladders; none is rated between bots of one owner."""
    return remembered(make_games, site)


def make_games(site: Site) -> list[Game]:
    for table in (LadderRating, RatingEvent, PairScore, PairOutcome):
        table.objects.all().delete()
    Game.objects.filter(pk=site.played.pk).update(rated=False)
    walter = User.objects.create_user("walter")
    others = [site.black, add_version(walter, "Third"), add_version(site.owner, "Sister")]
    played = play_rated(None, "Autumn", [site.white, *others])
    second = add_version(site.owner, "Stone Age")
    played += play_rated(None, "Winter", [second, *others], pairs=2, seed=8)
    return played + play_rated(None, "Dual", [second, site.black], pairs=1, ladders=["dualma"], seed=9)


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def numbers(page: str) -> list[tuple[str, int]]:
    """The numbers that lead to lists of games, with the addresses."""
    found = re.findall(r'<a href="(/games/[?][^"]*)">(\d+)</a>', page)
    return [(unescape(address), int(number)) for address, number in found]


def check_numbers(client: Client, page: str) -> int:
    """Compare each number with the rows of its list; returns how many numbers there are."""
    found = numbers(page)
    for address, number in found:
        rows = re.findall(r'<a href="/games/(\d+)/">', text_of(client, address))
        assert len(set(rows)) == number, address
    return len(found)


@pytest.fixture(autouse=True)
def _whole_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 1000)


ADDRESSES = [
    PAGE,
    f"{PAGE}?version=1",
    f"{PAGE}?ladder={LADDER}&version=2",
    f"{PAGE}?ladder=dualma",
    f"{PAGE}1/",
    f"{PAGE}2/?ladder=dualma",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_number_is_that_of_the_games_in_its_list(
    games: list[Game], client: Client, address: str
) -> None:
    page = text_of(client, address)
    assert check_numbers(client, page) >= 15


@pytest.mark.parametrize("address", ADDRESSES[:4])
def test_the_numbers_of_the_latest_games_are_those_of_their_lists(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(recent, "MAX_COUNTED", 2)
    page = text_of(client, address)
    assert "openings and forfeits the latest 2." in " ".join(page.split()) or "dualma" in address
    check_numbers(client, page)
    openings = client.get(address).context["results"]["openings"]
    assert sum(row.score.games for row in openings) == 2


def test_the_results_are_those_of_the_rated_games(games: list[Game], client: Client) -> None:
    results = client.get(f"{PAGE}?ladder={LADDER}").context["results"]
    own = [
        game
        for game in Game.objects.filter(rated=True, ladder=LADDER).with_players()
        if "Stone Age" in {game.white.bot.name, game.black.bot.name}
    ]
    as_white = [game for game in own if game.white.bot.name == "Stone Age"]
    white, black = results["colours"]
    assert white.score.games == len(as_white) > 0
    assert black.score.games == len(own) - len(as_white) > 0
    assert white.score.wins == sum(game.result == "1-0" for game in as_white)
    assert {row.opponent.name for row in results["opponents"]} == {"Third", site_rival(games)}
    assert sum(count for _, count, _ in results["forfeits"]) == sum(
        game.fault == ("white" if game in as_white else "black") for game in own
    )
    assert sum(row.score.games for row in results["openings"]) == len(own)


def site_rival(games: list[Game]) -> str:
    return next(game.black.bot.name for game in games if "Rival" in game.black.bot.name)


@pytest.mark.parametrize(
    "query", ["", "?ladder=dualma", f"?ladder={LADDER}&version=1", f"?ladder={LADDER}&version=2"]
)
def test_the_results_as_files_are_those_of_the_page(games: list[Game], client: Client, query: str) -> None:
    results = client.get(f"{PAGE}{query}").context["results"]
    (links,) = results["files"]
    assert f'href="{links.csv}"' in unescape(text_of(client, f"{PAGE}{query}"))
    answer = client.get(links.json).json()
    assert (answer["ladder"], answer["bot"]) == (results["ladder"].code, "Stone Age")
    kinds = [row["by"] for row in answer["results"]]
    assert [kinds.count(kind) for kind in ("all", "opponent", "colour", "opening", "forfeit")] == [
        1,
        len(results["opponents"]),
        2,
        len(results["openings"]),
        len(results["forfeits"]),
    ]
    for row in answer["results"]:
        assert len(client.get(row["list"]).context["page"].rows) == row["games"]
    by_name = {row["name"]: row["score"] for row in answer["results"] if row["by"] == "opponent"}
    assert by_name == {row.opponent.name: row.score.share for row in results["opponents"]}
    assert len(text_of(client, links.csv).splitlines()) == 1 + len(kinds)


def test_the_file_of_the_results_has_all_opponents(games: list[Game], site: Site, client: Client) -> None:
    for number in range(MAX_OPPONENTS + 1):
        other = add_version(None, f"Other {number}")
        PairScore.objects.create(ladder_id=LADDER, white=site.white, black=other, wins=number + 100)
    rows = client.get(f"{PAGE}results.json").json()["results"]
    assert [row["by"] for row in rows].count("opponent") == MAX_OPPONENTS + 3


def test_the_ratings_as_files_are_those_of_the_page(games: list[Game], client: Client) -> None:
    ratings = client.get(PAGE).context["ratings"]
    rows = client.get(f"{PAGE}ratings.json").json()["ratings"]
    assert [(row["ladder"], row["version"], row["rating"], row["won"]) for row in rows] == [
        (one.ladder_id, one.version.number, one.conservative, one.wins) for one in ratings
    ]
    assert 'href="/bots/stone-age/ratings.csv"' in text_of(client, PAGE)


def test_the_sums_of_the_pairs_are_those_of_a_rebuild(games: list[Game], client: Client) -> None:
    before = numbers(text_of(client, PAGE))
    assert not any(one.changed for one in rebuild())
    assert numbers(text_of(client, PAGE)) == before


def test_the_time_used_is_that_of_the_own_moves_in_the_records(games: list[Game], client: Client) -> None:
    used = client.get(f"{PAGE}?ladder=dualma").context["results"]["time"]
    times: list[tuple[int, int, int]] = []
    for record in GameRecord.objects.filter(game__ladder="dualma").select_related("game__white__bot"):
        read = next(iter(read_records(record.text.splitlines(keepends=True), "record")))
        assert isinstance(read, Record)
        is_white = record.game.white.bot.name == "Stone Age"
        own = 0 if is_white == (GAMES["dualma"].first is Side.WHITE) else 1
        for ply, move in enumerate(read.moves):
            if ply % 2 == own and move.note is not None and move.note.ms is not None:
                times.append((move.note.ms, record.pk, ply + 1))
    longest, game, ply = max(times)
    assert (used["games"], used["moves"]) == (2, len(times))
    assert used["mean"] == format_seconds(sum(ms for ms, *_ in times) // len(times))
    assert used["longest"] == format_seconds(longest)
    assert used["address"] == f"/games/{game}/?ply={ply}"
    clock = 2 * 60_000 + 500 * len(times)
    assert used["share"] == pytest.approx(100 * sum(ms for ms, *_ in times) / clock)


def test_the_time_used_is_read_again_after_the_next_game(
    games: list[Game], site: Site, client: Client
) -> None:
    first = client.get(PAGE).context["results"]["time"]
    GameRecord.objects.all().delete()
    assert client.get(PAGE).context["results"]["time"] == first
    play_rated(None, "Later", [site.white, site.black], pairs=1, seed=3)
    assert client.get(PAGE).context["results"]["time"]["games"] == 2


@pytest.mark.parametrize(
    "query", ["ladder=chess", "ladder=duploline", "version=9", "version=x", "version=%00", "ladder=%00"]
)
def test_results_of_no_ladder_or_version_are_not_found(games: list[Game], client: Client, query: str) -> None:
    assert client.get(f"{PAGE}?{query}").status_code == 404


def test_a_bot_without_rated_games_has_no_results(site: Site, client: Client) -> None:
    add_version(site.owner, "Idle")
    page = client.get("/bots/idle/")
    assert page.context["results"] is None
    assert "Results on" not in page.content.decode()
    assert client.get("/bots/idle/?ladder=dualma").status_code == 200


def test_each_rating_change_leads_to_its_game(games: list[Game], client: Client) -> None:
    changes = client.get(PAGE).context["results"]["changes"]
    events = RatingEvent.objects.filter(version__bot__slug="stone-age", ladder=LADDER).order_by("-sequence")
    assert changes == list(events[: recent.MAX_CHANGES])
    page = text_of(client, PAGE)
    for event in changes:
        white, black = event.game.white, event.game.black
        opponent = black if event.version_id == white.pk else white
        assert f'<a href="/games/{event.game_id}/">{event.game.result}</a>' in page
        assert f"{event.difference:+.2f}" in page
        assert f">{escape(opponent.bot.name)}</a>" in page.partition("Latest rating changes")[2]


def test_a_game_shows_how_it_changed_the_ratings(games: list[Game], client: Client) -> None:
    rated = next(game for game in games if game.rating_events.exists())
    page = text_of(client, f"/games/{rated.pk}/")
    for event in rated.rating_events.all():
        assert f"{event.before.conservative:.2f} →" in page
        assert f"({event.difference:+.2f})" in re.sub("<[^>]*>", "", page)
        assert f'href="{event.version.get_absolute_url()}?ladder={LADDER}#results"' in page
    unrated = next(game for game in games if not game.rating_events.exists())
    assert " →" not in text_of(client, f"/games/{unrated.pk}/")


def test_many_opponents_are_listed_on_request(games: list[Game], site: Site, client: Client) -> None:
    others = [add_version(None, f"Other {number}") for number in range(MAX_OPPONENTS + 1)]
    for number, other in enumerate(others):
        PairScore.objects.create(ladder_id=LADDER, white=site.white, black=other, wins=number + 100)
    results = client.get(PAGE).context["results"]
    assert len(results["opponents"]) == MAX_OPPONENTS
    assert results["more_opponents"] == 3
    counts = [row.score.games for row in results["opponents"]]
    assert counts == sorted(counts, reverse=True)
    page = text_of(client, PAGE)
    more = re.search(r'href="([^"]*opponents=all#results)"', page)
    assert more is not None
    whole = client.get(f"{PAGE}{unescape(more[1])}").context["results"]
    assert len(whole["opponents"]) == MAX_OPPONENTS + 3


def test_games_of_drafts_and_validations_count_nowhere(games: list[Game], site: Site, as_user: LogIn) -> None:
    for visitor in (None, site.rival, site.owner, site.staff):
        client = as_user(visitor)
        assert check_numbers(client, text_of(client, PAGE)) >= 20
        unrated = client.get(PAGE).context["results"]["unrated"]
        tournaments = set(re.findall(r"/games/(\d+)/", text_of(client, unrated)))
        shown = Game.objects.filter(pk__in=map(int, tournaments)).values_list("tournament__slug", flat=True)
        assert set(shown) <= {"autumn", "winter", "spring"}


def test_a_page_costs_the_same_queries_with_any_number_of_games_and_versions(
    games: list[Game], site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    text_of(client, PAGE)  # caches the time used
    with django_assert_max_num_queries(15) as few:
        text_of(client, PAGE)
    most = len(few)
    for seed in range(20, 23):
        newest = add_version(site.owner, "Stone Age")
        play_rated(None, f"More {seed}", [newest, site.black], pairs=2, seed=seed)
    text_of(client, PAGE)
    with django_assert_max_num_queries(most):
        text_of(client, PAGE)


def test_the_lists_of_a_bot_s_games_hold_each_game_once_in_the_order_of_their_ends(
    games: list[Game], site: Site, client: Client
) -> None:
    """Also a game between two versions of the bot, which is in the lists of both."""
    second = site.white.bot.versions.get(number=2)
    Game.objects.filter(pk=games[0].pk).update(white=site.white, black=second)
    for number, game in enumerate(games):  # three games end at a time, and not in the order of their ids
        end = timezone.now() - datetime.timedelta(hours=number * 7 % len(games) // 3)
        Game.objects.filter(pk=game.pk).update(finished_at=end.replace(minute=0, second=0, microsecond=0))
        seat(pk=game.pk)
    expected = [
        game.pk
        for game in Game.objects.done().with_players().order_by("-finished_at", "-pk")
        if {"stone-age"} & {game.white.bot.slug, game.black.bot.slug}
    ]
    page = client.get(PAGE).context["page"]
    found = [game.pk for game in page.rows]
    while page.next:
        page = client.get(f"{PAGE}{page.next}").context["page"]
        found += [game.pk for game in page.rows]
    assert found == expected
    back = [game.pk for game in page.rows]
    while page.previous:
        page = client.get(f"{PAGE}{page.previous}").context["page"]
        back = [game.pk for game in page.rows] + back
    assert back == expected
