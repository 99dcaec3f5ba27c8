"""The explorer's page: the moves of recorded games, their numbers, and the games behind them."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from engines.book import choose_balanced, count_openings
from engines.records import Record, read_records
from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.support.filled_site import add_version
from tests.support.rated_games import play_rated
from tests.support.remembered import remembered
from tests.support.schedule import make_user
from tournament.models import Game, GameRecord
from tournament.services.explorer import counting, moves
from tournament.services.explorer.book import find_book
from tournament.services.explorer.moves import explore

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDERS = ("dogon-kulei", "dualma")
PART = {"X-Part": "true"}


@pytest.fixture(autouse=True)
def games() -> list[Game]:
    return remembered(make_games)


def make_games() -> list[Game]:
    versions = [add_version(make_user(f"{name}s-owner"), name) for name in ("alpha", "beta", "gamma")]
    found = play_rated(None, "Winter", versions, pairs=4, ladders=LADDERS)
    counting.catch_up()
    return found


def start(code: str) -> Position:
    position: Position = GAMES[code].position.initial()
    return position


def addresses(page: str) -> list[str]:
    return [html.unescape(found) for found in re.findall(r'href="(/games/\?[^"]*)"', page)]


@pytest.mark.parametrize("code", LADDERS)
def test_all_games_of_a_ladder_are_counted_at_the_start(games: list[Game], code: str) -> None:
    found = explore(code, start(code))
    own = [game for game in games if game.ladder_id == code]
    assert found.total.games == len(own) == sum(move.games for move in found.moves)
    assert found.total.wins == sum(game.result == "1-0" for game in own)
    assert found.total.rated == sum(game.rated for game in own)
    assert all(move.last is not None for move in found.moves)
    assert found.moves[0].games == max(move.games for move in found.moves)


def test_the_numbers_lead_to_lists_with_as_many_games(client: Client) -> None:
    page = client.get("/explore/dogon-kulei/").content.decode()
    found = addresses(page)
    assert found
    for address in found:
        number = re.search(re.escape(html.escape(address)) + r'">(\d+)</a>', page)
        assert number is not None
        listed = client.get(address).content.decode()
        assert f">{number[1]} game" in listed, address


def test_a_position_of_another_orientation_has_the_same_games_with_its_own_moves() -> None:
    position = start("dualma")
    for token in explore("dualma", position).moves[:1]:
        position = position.play(token.token)
    best = explore("dualma", position).moves[0]
    other = next(one for one in position.symmetries() if one.turn(best.token) != best.token)
    first = explore("dualma", start("dualma")).moves[0].token
    turned = start("dualma").play(other.turn(first))
    found = explore("dualma", turned)
    assert found.total == explore("dualma", position).total
    assert {move.token for move in found.moves} <= set(turned.legal_moves())


def test_filters_count_rated_games_and_ratings(client: Client, games: list[Game]) -> None:
    rated = [game for game in games if game.ladder_id == "dogon-kulei" and game.rated]
    assert explore("dogon-kulei", start("dogon-kulei"), 0).total.games == len(rated)
    shown = explore("dogon-kulei", start("dogon-kulei"), 0)
    assert all(move.last is not None and move.last.rated for move in shown.moves)
    banded = explore("dogon-kulei", start("dogon-kulei"), 1)
    assert all(move.last is None for move in banded.moves)
    page = client.get("/explore/dogon-kulei/", {"games": "30"}).content.decode()
    assert "No recorded game of this kind" in page
    assert client.get("/explore/dogon-kulei/", {"games": "x'"}).status_code == 200


def test_a_script_gets_the_table_alone(client: Client) -> None:
    part = client.get(
        "/explore/dogon-kulei/", {"position": str(start("dogon-kulei"))}, headers=PART
    ).content.decode()
    assert part.lstrip().startswith('<div id="explored"')
    assert "<h1" not in part
    assert client.get("/explore/dogon-kulei/", {"position": "z9"}, headers=PART).status_code == 400


def test_the_position_of_a_single_game_shows_it(games: list[Game]) -> None:
    counting.begin_again("dualma")
    only = Game.objects.filter(ladder="dualma").latest("sequence")
    Game.objects.filter(ladder="dualma").exclude(pk=only.pk).update(annulled=True)
    counting.catch_up()
    (found,) = explore("dualma", start("dualma")).moves
    assert (found.games, found.last) == (1, only)


def test_annulled_games_are_not_the_last(games: list[Game]) -> None:
    before = explore("dogon-kulei", start("dogon-kulei")).moves[0]
    assert before.last is not None
    Game.objects.filter(pk=before.last.pk).update(annulled=True)
    after = explore("dogon-kulei", start("dogon-kulei")).moves[0]
    assert after.last != before.last


def test_more_moves_than_are_listed_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explore("dogon-kulei", start("dogon-kulei"))
    monkeypatch.setattr(moves, "MAX_MOVES", 1)
    short = explore("dogon-kulei", start("dogon-kulei"))
    assert len(short.moves) == 1
    assert short.others == len(whole.moves) - 1
    assert short.total == whole.total


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("position=x&move=c1%2B", "A position needs a ladder"),
        ("move=c1%2B", "A move needs a position"),
        ("ladder=dogon-kulei&position=x", "A position needs a move"),
        ("ladder=dogon-kulei&position=x&move=c1%2B", "position string"),
    ],
)
def test_the_list_of_games_names_what_is_wrong(client: Client, query: str, sentence: str) -> None:
    page = client.get(f"/games/?{query}")
    assert sentence in html.unescape(page.content.decode())


def test_the_list_of_games_finds_a_position_by_scanning_too(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.get("/explore/dogon-kulei/").content.decode()
    address = addresses(page)[0]
    few = client.get(address).content
    monkeypatch.setattr("tournament.views.games.query_plans.MAX_FOUND", 0)
    many = client.get(address).content
    assert re.findall(rb'href="(/games/\d+/)"', few) == re.findall(rb'href="(/games/\d+/)"', many)


def test_an_illegal_move_of_the_list_is_named(client: Client) -> None:
    query = {"ladder": "dogon-kulei", "position": str(start("dogon-kulei")), "move": "z9"}
    assert "z9" in client.get("/games/", query).content.decode()


def test_the_book_has_the_openings_of_the_games(client: Client, games: list[Game]) -> None:
    answer = client.get("/explore/dogon-kulei/book.txt", {"plies": "1", "games": "1", "balance": "50"})
    assert "attachment" in answer["Content-Disposition"]
    heading, *lines = answer.content.decode().splitlines()
    assert heading == "[dogon-kulei]"
    found = {lines[n + 1]: lines[n] for n in range(0, len(lines), 2)}
    for move in explore("dogon-kulei", start("dogon-kulei")).moves:
        assert f"# {move.games} games" in found[move.token]


def test_a_book_is_counted_once_whatever_is_chosen_of_it(
    client: Client, games: list[Game], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    address = "/explore/dogon-kulei/book.txt?plies=2&games={}&balance={}&x={}"
    assert client.get(address.format(1, 50, 1)).status_code == 200
    with django_assert_num_queries(0):
        assert client.get(address.format(2, 40, 2)).status_code == 200


def test_the_book_is_the_one_of_the_records(client: Client) -> None:
    texts = GameRecord.objects.filter(game__ladder="dualma").values_list("text", flat=True)
    records = [record for text in texts for record in read_records(text.splitlines(), "records")]
    own = count_openings(GAMES["dualma"], [one for one in records if isinstance(one, Record)], 3)
    expected = {(one.games, one.points) for one in choose_balanced(own, 2, 50)}
    assert {(one.games, one.points) for one in find_book("dualma", 3, 2, 50, 100)} == expected


@pytest.mark.parametrize("query", ["plies=17", "plies=x", "games=-1", "balance=51"])
def test_a_book_with_a_wrong_number_is_not_found(client: Client, query: str) -> None:
    assert client.get(f"/explore/dogon-kulei/book.txt?{query}").status_code == 404


def test_a_form_keeps_the_filter(client: Client) -> None:
    answer = client.post("/explore/dogon-kulei/", {"games": "rated", "play": "c1+"})
    assert answer.status_code == 302
    assert "games=rated" in answer["Location"]
    assert answer["Location"].startswith("/explore/dogon-kulei/")
