"""Games as programs read them: filters, pages, whole queries, moves and records."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest
from django.test import Client

from tests.support.filled_site import Site
from tests.tournament.views.games.test_search import games as games
from tournament.api.v1.openapi import document
from tournament.api.v1.responses import LINES_TYPE
from tournament.models import Game
from tournament.views.games import search
from tournament.views.games.filters import FILTERS, MAX_PLIES, SORTS
from tournament.views.games.time_limit import TookTooLong

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/games/"


def listed(client: Client, query: str) -> list[int]:
    return [game.pk for game in client.get(f"/games/?{query}").context["page"].rows]


@pytest.mark.parametrize(
    "query",
    ["", "bot=third&sort=longest", "result=draw", "fault=either&sort=oldest", "tournament=autumn&round=2"],
)
def test_the_filters_find_the_games_of_the_page_in_its_order(
    games: list[Game], client: Client, query: str
) -> None:
    answer = client.get(f"{ADDRESS}?{query}&limit=1000".replace("?&", "?")).json()
    found = [row["id"] for row in answer["rows"]]
    assert found[: search.PAGE_SIZE] == listed(client, query)
    assert found
    assert answer["next"] is None


def test_the_rows_are_those_of_the_file(games: list[Game], client: Client) -> None:
    lines = client.get("/games/games.jsonl").content.decode().splitlines()
    assert client.get(ADDRESS).json()["rows"] == [json.loads(line) for line in lines]


def test_pages_follow_each_other_and_lines_have_them_all(games: list[Game], client: Client) -> None:
    expected = [row["id"] for row in client.get(f"{ADDRESS}?sort=shortest").json()["rows"]]
    address, found = f"{ADDRESS}?sort=shortest&limit=7", list[int]()
    while address:
        answer = client.get(address).json()
        assert len(answer["rows"]) <= 7
        found += [row["id"] for row in answer["rows"]]
        address = (answer["next"] or "").removeprefix("http://testserver")
    assert found == expected
    response: Any = client.get(f"{ADDRESS}?sort=shortest&limit=7", headers={"Accept": LINES_TYPE})
    assert [json.loads(line)["id"] for line in response.getvalue().splitlines()] == expected


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("version=2", "The parameter version is '2': A version needs a bot: name the bot too."),
        ("result=maybe", "The parameter result is 'maybe': Select a valid choice."),
        ("after=x", "The parameter after is 'x': no cursor of this list."),
        ("nothing=1", "There is no parameter 'nothing': "),
        ("limit=1001", "The parameter limit is '1001': "),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named_with_its_value(
    games: list[Game], client: Client, query: str, sentence: str
) -> None:
    answer = client.get(f"{ADDRESS}?{query}")
    assert answer.status_code == 400
    assert answer.json()["ok"] is False
    assert answer.json()["error"][: len(sentence)].lower() == sentence.lower()


def test_a_search_that_takes_too_long_is_refused(
    games: list[Game], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_long(*given: Any) -> None:
        raise TookTooLong

    monkeypatch.setattr(search, "_found", take_long)
    answer = client.get(ADDRESS)
    assert (answer.status_code, answer.json()["error"]) == (422, search.TOO_LONG)


def test_a_page_of_games_costs_the_same_queries_at_any_length(
    games: list[Game], client: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(3):
        client.get(f"{ADDRESS}?limit=1000")


def test_a_played_game_has_its_header_its_result_and_why(site: Site, client: Client) -> None:
    game = site.played
    answer = client.get(f"{ADDRESS}{game.pk}/").json()
    assert (answer["key"], answer["result"], answer["plies"]) == (game.key, game.result, game.plies)
    assert answer["white"]["slug"] == site.white.bot.slug
    assert answer["black"]["version"] == site.black.number
    page = html.unescape(client.get(game.get_absolute_url()).content.decode())
    assert answer["ending"] in page
    assert answer["rated_why"] in page
    record = client.get(answer["record"])
    assert record.content == client.get(f"/games/{game.pk}.pgn").content
    assert record["Content-Type"] == "application/vnd.chess-pgn; charset=utf-8"


def test_a_live_game_has_no_result_and_no_record_but_moves(site: Site, client: Client) -> None:
    answer = client.get(f"{ADDRESS}{site.live.pk}/").json()
    assert (answer["result"], answer["record"], answer["finished"]) == ("*", None, None)
    assert client.get(f"{ADDRESS}{site.live.pk}/moves/").json()["rows"]
    missing = client.get(f"{ADDRESS}{site.live.pk}/record/")
    assert (missing.status_code, missing.json()["ok"]) == (404, False)


def test_the_moves_of_a_game_have_positions_scores_and_clocks(site: Site, client: Client) -> None:
    address = f"{ADDRESS}{site.played.pk}/moves/"
    rows = client.get(address).json()["rows"]
    assert [row["ply"] for row in rows] == list(range(1, site.played.plies + 1))
    assert rows[-1]["position"] in client.get(site.played.get_absolute_url()).content.decode()
    page = client.get(f"{address}?limit=2&after=1").json()
    assert page["rows"] == rows[1:3]


def test_games_that_pages_do_not_show_are_not_found(site: Site, client: Client) -> None:
    client.force_login(site.owner)  # a cookie is no token
    hidden = site.validation.games.first()
    assert hidden is not None
    for rest in ("", "moves/", "record/"):
        answer = client.get(f"{ADDRESS}{hidden.pk}/{rest}")
        assert (answer.status_code, answer.json()["ok"]) == (404, False)


def test_the_document_names_the_values_that_the_form_takes() -> None:
    parameters = document("https://arena.example")["paths"][ADDRESS]["get"]["parameters"]
    schemas = {one["name"]: one["schema"] for one in parameters}
    for name, one in FILTERS.items():
        for value in schemas.get(name, {}).get("enum", ()):
            one.field.clean(value)  # else it raises
    assert set(schemas["sort"]["enum"]) == {"", *SORTS}
    version = {word: schemas["version"][word] for word in ("type", "minimum", "maximum")}
    assert version == {"type": "integer", "minimum": 1, "maximum": MAX_PLIES}
