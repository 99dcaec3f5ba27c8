"""The home page: which games are on its boards, what it says is being played, notable games, and its cost."""

from __future__ import annotations

import datetime
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, LogIn, Site, add_version, finish, go_live, round_robin
from tests.support.parts import PART, followed_address
from tests.support.seats import seat
from tournament.caches import cache
from tournament.models import BotVersion, Game, Ladder, LadderRating, LiveGame, RatingEvent, Tournament, User
from tournament.services.schedule.tournaments import start
from tournament.views.site import notable
from tournament.views.site.featured import END_SECONDS, choose
from tournament.views.site.notable import find_notable


def page_of(client: Client) -> str:
    cache.clear()
    response = client.get("/")
    assert response.status_code == 200
    return response.content.decode()


def poll(client: Client, boards: str) -> str:
    """The part that is being played, for a page with these boards."""
    cache.clear()
    response = client.get("/", {"boards": boards, "seen": "x"}, headers=PART)
    assert response.status_code == 200
    return response.content.decode()


def boards_of(page: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'data-game="(\d+)"', page)]


def played(site: Site, count: int) -> list[Game]:
    """A running tournament of other bots on one ladder; its first games, waiting."""
    versions = [add_version(site.owner, "Third"), add_version(site.rival, "Fourth"), site.white]
    event = round_robin(site.owner, "Autumn", versions, pairs=4)
    start(event)
    return list(event.games.order_by("pk")[:count])


def rate(version: BotVersion, conservative: float) -> None:
    values = {"mu": conservative + 6, "sigma": 2, "conservative": conservative}
    LadderRating.objects.update_or_create(ladder_id=LADDER, version=version, defaults=values)


def test_a_newcomer_reads_what_the_site_is_and_how_to_begin(site: Site, client: Client) -> None:
    hero = page_of(client).partition('<div class="hero">')[2].partition("</div>\n</div>")[0]
    assert {game.family for game in GAMES.values()} <= set(re.findall(r">([^<]+)</a>", hero))
    for address in ("/start/", "/kit/", "/rules/", "/protocol/"):
        assert f'href="{address}"' in hero


def test_somebody_with_bots_is_not_offered_the_first_one(site: Site, as_user: LogIn) -> None:
    pages = [as_user(user).get("/").content.decode() for user in (site.owner, site.staff)]
    heroes = [page.partition('<div class="hero">')[2].partition("</div>\n</div>")[0] for page in pages]
    assert ["Your first bot" in hero for hero in heroes] == [False, True]
    assert ["Upload a bot" in hero for hero in heroes] == [True, False]


def test_a_running_game_is_on_a_board_with_players_ratings_and_clocks(site: Site, client: Client) -> None:
    LiveGame.objects.update(white_ms=45_000, black_ms=50_000)
    page = page_of(client)
    assert boards_of(page) == [site.live.pk]
    board = page.partition('id="playing"')[2].partition("</section>")[0]
    assert board.count('<span class="unseen">rating </span>10.0') == 2
    assert f'href="/games/{site.live.pk}/"' in board
    assert 'class="board board-' in board
    assert "data-tick=" in board
    assert "Being played now" in board


def test_the_boards_show_the_running_games_with_the_highest_ratings(site: Site, client: Client) -> None:
    games = played(site, 6)
    low, high = (
        games[0],
        next(game for game in games if game.white_id not in {games[0].white_id, games[0].black_id}),
    )
    for game in (low, high):
        go_live(game)
    rate(high.white, 100)
    assert boards_of(page_of(client)) == [high.pk, site.live.pk]
    rate(high.white, -100)
    assert high.pk not in boards_of(page_of(client))


def test_a_game_keeps_its_board_until_its_end_was_seen_and_then_the_best_takes_it(
    site: Site, client: Client
) -> None:
    better, best = played(site, 2)
    shown = f"{site.live.pk},{better.pk}"
    for game, rating in ((better, 20), (best, 40)):
        go_live(game)
        rate(game.white, rating)
    assert boards_of(poll(client, shown)) == [site.live.pk, better.pk]
    LiveGame.objects.filter(game=site.live).delete()
    finish(site.live, sequence=2)
    part = poll(client, shown)
    assert boards_of(part) == [site.live.pk, better.pk], "its end is seen for some seconds"
    assert "White wins: " in part or "Black wins: " in part
    assert set(boards_of(page_of(client))) == {best.pk, better.pk}, "a new page begins with what is played"
    long_ago = timezone.now() - datetime.timedelta(seconds=END_SECONDS)
    Game.objects.filter(pk=site.live.pk).update(finished_at=long_ago)
    assert boards_of(poll(client, shown)) == [best.pk, better.pk]


def test_the_second_board_has_another_ladder_if_one_is_played() -> None:
    def running(pk: int, ladder: str) -> Game:
        return Game(pk=pk, ladder_id=ladder, white_id=pk, black_id=pk)

    games = [running(1, "a"), running(2, "a"), running(3, "b")]
    ratings = {("a", 1): 30.0, ("a", 2): 20.0, ("b", 3): 5.0}
    assert choose(games, [], ratings) == [1, 3]
    assert choose(games, [2], ratings) == [2, 3]
    assert choose(games[:2], [], ratings) == [1, 2]
    assert choose(games, [9, 3], ratings) == [1, 3]
    assert choose(games, [2, 2], ratings) == [2, 3]
    assert choose([], [1], {}) == []


@pytest.mark.parametrize("boards", ["x", "1,x", ",", "-1", "9" * 30, "1,2,3,4", "\x00"])
def test_any_text_for_the_boards_is_answered(site: Site, client: Client, boards: str) -> None:
    Game.objects.update(finished_at=timezone.now() - datetime.timedelta(hours=1))
    assert boards_of(poll(client, boards)) == [site.live.pk]


def test_a_poll_is_empty_until_a_move_comes(site: Site, client: Client) -> None:
    page = page_of(client)
    address = followed_address(page)
    assert client.get(address, headers=PART).status_code == 204
    go_live(site.live, plies=7)
    answer = client.get(address, headers=PART)
    assert answer.status_code == 200
    assert 'data-plies="7"' in answer.content.decode()
    assert "<html" not in answer.content.decode()


def test_a_game_that_is_begun_again_is_drawn_again(site: Site, client: Client) -> None:
    before = page_of(client)
    moves = LiveGame.objects.get(game=site.live).moves
    Game.objects.filter(pk=site.live.pk).update(attempt=None, state="waiting")
    go_live(site.live, plies=len(moves))  # another attempt with as many moves
    seen = re.findall(r"seen=(\w+)", before)[0]
    cache.clear()
    assert client.get(f"/?boards={site.live.pk}&seen={seen}", headers=PART).status_code == 200


def test_what_is_played_is_counted_by_ladder_and_by_tournament(site: Site, client: Client) -> None:
    for game in played(site, 2):
        go_live(game)
    part = page_of(client).partition('id="playing"')[2].partition("</section>")[0]
    assert "3 games by ladder" in part
    assert re.search(rf'href="/ladders/{LADDER}/">[^<]*</a> <span class="tabular">3</span>', part)
    assert re.search(r'href="/tournaments/autumn/".*?<small>2 games being played', part, re.DOTALL)
    assert re.search(r'href="/tournaments/spring/".*?<small>1 game being played', part, re.DOTALL)


def test_all_ladders_are_listed_and_never_their_own_tournaments(site: Site, client: Client) -> None:
    Tournament.objects.filter(pk=site.running.pk).update(kind="ladder")
    part = page_of(client).partition('id="playing"')[2].partition("</section>")[0]
    assert 'href="/tournaments/spring/"' not in part
    assert "No tournament is running." in part
    numbers = dict(re.findall(r'href="/ladders/([^/]*)/">[^<]*</a> <span class="tabular">(\d)</span>', part))
    assert numbers == {code: "1" if code == LADDER else "0" for code in GAMES}


def test_without_a_running_game_the_end_of_a_notable_one_is_shown(site: Site, client: Client) -> None:
    LiveGame.objects.all().delete()
    page = page_of(client)
    assert "No game is being played at the moment" in page
    assert "The board shows the end of the longest game of the last 7 days." in page
    assert boards_of(page) == [site.played.pk]
    Game.objects.update(finished_at=timezone.now() - datetime.timedelta(days=30))
    page = page_of(client)
    assert "The board shows the end of the latest game." in page
    assert boards_of(page) == [site.played.pk]


def test_an_empty_site_has_a_home_page(db: None, client: Client) -> None:
    Ladder.objects.ensure()
    page = page_of(client)
    assert boards_of(page) == []
    assert "No game is being played at the moment" in page
    assert "Write the first" in page


def test_games_of_drafts_and_validations_are_nowhere_on_the_page(site: Site, as_user: LogIn) -> None:
    validated, drafted = (event.games.earliest("pk") for event in (site.validation, site.draft))
    go_live(drafted)
    finish(validated, sequence=2)
    for visitor in (None, site.owner, site.staff):
        page = page_of(as_user(visitor)) + poll(as_user(visitor), f"{drafted.pk},{validated.pk}")
        assert boards_of(page) == [site.live.pk] * 2
        for hidden in (validated, drafted):
            assert f'"/games/{hidden.pk}/"' not in page


def test_new_versions_are_listed_once_they_are_valid(site: Site, client: Client) -> None:
    add_version(site.owner, "Waiting", state=BotVersion.State.WAITING)
    add_version(site.owner, "Refused", state=BotVersion.State.REFUSED)
    add_version(site.owner, "Passed")
    part = page_of(client).partition("New versions")[2].partition("</section>")[0]
    assert re.findall(r'class="bot"[^>]*>([^<]+)<', part)[0] == "Passed"
    assert "Waiting" not in part
    assert "Refused" not in part


def made(site: Site, lengths: list[int], results: list[str]) -> list[Game]:
    """Recorded games with these lengths and results; the game of the site is older than a week."""
    Game.objects.filter(pk=site.played.pk).update(finished_at=timezone.now() - datetime.timedelta(days=8))
    games = played(site, len(lengths))
    for number, (game, plies, result) in enumerate(zip(games, lengths, results, strict=True), start=10):
        finish(game, sequence=number)
        Game.objects.filter(pk=game.pk).update(plies=plies, result=result)
    return games


def event(game: Game, version: BotVersion, mu: float, sigma: float) -> None:
    RatingEvent.objects.create(
        ladder_id=LADDER,
        sequence=Game.objects.get(pk=game.pk).sequence or 0,
        game=game,
        version=version,
        mu_before=mu,
        sigma_before=sigma,
        mu_after=mu,
        sigma_after=sigma,
    )


def test_the_notable_games_are_the_longest_the_shortest_and_the_biggest_upset(site: Site) -> None:
    games = made(site, [50, 90, 8, 60, 61], ["1-0", "0-1", "1/2-1/2", "1-0", "1-0"])
    for game, white, black in ((games[0], 20, 30), (games[1], 20, 35), (games[3], 10, 12)):
        event(game, game.white, white, 1)
        event(game, game.black, black, 1)
    event(games[4], games[4].white, 1, 1)
    event(games[4], games[4].black, 40, 8)  # a win against a rating that is a guess
    found = {title: (game.pk, detail) for title, game, detail in find_notable()}
    assert found == {
        "Longest game": (games[1].pk, "90 plies"),
        "Shortest game": (games[2].pk, "8 plies"),
        "Biggest upset": (games[0].pk, "a rating of 17.0 beat 27.0"),
    }


def test_a_forfeit_is_not_notable(site: Site) -> None:
    games = made(site, [50, 2], ["1-0", "0-1"])
    Game.objects.filter(pk=games[1].pk).update(fault="white", termination="crash")
    assert {game.pk for _, game, _ in find_notable()} == {games[0].pk}


def test_only_the_newest_games_are_compared(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    games = made(site, [50, 90, 8], ["1-0"] * 3)
    monkeypatch.setattr(notable, "MAX_GAMES", 1)
    assert {game.pk for _, game, _ in find_notable()} == {games[2].pk}


def test_the_notable_games_are_found_by_the_index_on_their_end(site: Site) -> None:
    """SQLite reads the index backwards from the newest game, and sorts nothing."""
    with CaptureQueriesContext(connection) as queries:
        find_notable()
    first, events, *_ = (query["sql"] for query in queries.captured_queries)
    assert "game_finished (finished_at>?)" in plan(first)
    assert "(game_id=?)" in plan(events)
    assert "TEMP B-TREE" not in plan(first)


def test_the_running_games_are_found_without_a_look_at_all_games(site: Site, client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        page_of(client)
    plans = [plan(query["sql"]) for query in queries.captured_queries if '"tournament_game"' in query["sql"]]
    assert len(plans) >= 5
    assert not [text for text in plans if "SCAN tournament_game\n" in f"{text}\n"]


def plan(sql: str) -> str:
    if connection.vendor != "sqlite":
        pytest.skip("a plan of SQLite")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return "\n".join(row[3] for row in cursor.fetchall())


def test_the_page_costs_the_same_queries_at_any_size(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for game in played(site, 6):
        go_live(game)
    for number in range(20):
        rate(add_version(None, f"bot {number}"), number)
    cache.clear()
    # 5 for what is played, 2 for the workers' reports about uploads, 1 for the number of games
    # and 1 for that of the navigation; the news: 3 for notable games, the latest games, the new
    # versions, and the best of each ladder.
    with django_assert_max_num_queries(9 + 5 + len(GAMES)):
        client.get("/")
    with django_assert_max_num_queries(3):
        client.get("/")
    cache.delete("home-playing")
    with django_assert_max_num_queries(8):
        client.get("/")


def test_a_logged_in_user_sees_above_all_what_is_new(site: Site, as_user: LogIn, client: Client) -> None:
    page = page_of(as_user(site.rival))
    digest = page[page.index("Since your last visit") : page.index('<div class="hero">')]
    assert "&lt;b&gt;Rival" in digest
    assert f'href="/games/?bot=brivalb&amp;version=1&amp;ladder={LADDER}&amp;min_sequence=1"' in digest
    assert "Since your last visit" not in page_of(client)


def test_the_games_of_a_line_are_found_by_its_link(site: Site, as_user: LogIn) -> None:
    client = as_user(site.rival)
    (address,) = re.findall(r'<td class="num"><a href="([^"]*)">1</a>', page_of(client))
    assert f"/games/{site.played.pk}/" in client.get(address.replace("&amp;", "&")).content.decode()


def test_a_new_account_is_told_the_first_step(site: Site, as_user: LogIn) -> None:
    assert "press Follow on the page of a" in page_of(as_user(site.staff))


def test_what_is_new_is_shown_until_the_visit_ends(site: Site, as_user: LogIn) -> None:
    client = as_user(site.rival)
    for address in ("/", "/", "/bots/", "/"):
        assert client.get(address).status_code == 200
    assert "&lt;b&gt;Rival" in page_of(client).partition('<div class="hero">')[0]
    hour = datetime.timedelta(hours=1)
    User.objects.filter(pk=site.rival.pk).update(seen_at=timezone.now() - hour)
    Game.objects.update(finished_at=timezone.now() - 2 * hour)
    seat()
    for _ in range(2):
        assert "Nothing new since" in page_of(client)


def test_polls_and_files_begin_no_visit(site: Site, as_user: LogIn) -> None:
    client, left = as_user(site.rival), timezone.now() - datetime.timedelta(hours=1)
    User.objects.filter(pk=site.rival.pk).update(seen_at=left)
    client.get("/", headers=PART)
    client.get("/bots/bots.csv")
    site.rival.refresh_from_db()
    assert site.rival.seen_at == left
    client.get("/bots/")
    site.rival.refresh_from_db()
    assert site.rival.left_at == left
