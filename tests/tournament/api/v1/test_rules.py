"""The addresses of the rules: which parameters they take, and what they count."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tests.support.filled_site import LADDER, Site
from tournament.api.v1.operations import NOT_FOUND
from tournament.api.v1.rules import ExplorerQuery
from tournament.services.explorer import counting
from tournament.services.explorer.moves import FILTERS

pytestmark = pytest.mark.django_db
ADDRESS = f"/api/v1/rules/{LADDER}/"


def test_the_games_of_all_ladders_and_one_of_them(client: Client) -> None:
    rows = client.get("/api/v1/rules/").json()["rows"]
    assert [row["ladder"] for row in rows] == list(GAMES)
    (row,) = (row for row in rows if row["ladder"] == LADDER)
    assert row.items() <= client.get(ADDRESS).json().items()
    missing = client.get("/api/v1/rules/chess/")
    assert (missing.status_code, missing.json()) == (404, {"ok": False, "error": NOT_FOUND})


def test_a_position_and_its_perft(client: Client) -> None:
    found = client.get(f"{ADDRESS}position/?moves=c1%2B").json()
    start = GAMES[LADDER].position.initial()
    assert found["position"] == str(start.play("c1+"))
    assert client.get(f"{ADDRESS}perft/?depth=4").json()["perft"] == [8, 70, 558, 4882]


@pytest.mark.parametrize(
    ("rest", "status", "sentence"),
    [
        ("position/?moves=z9", 400, "Illegal move 'z9' in position"),
        ("position/?position=x", 400, "Bad position 'x'"),
        ("perft/?depth=0", 400, "The parameter depth is '0': "),
        ("perft/?depth=9", 400, "The parameter depth is '9': "),
        ("perft/?depth=8", 422, "depth: 8 plays more than 100,000 moves from this position, choose at most"),
        ("explorer/?games=40", 400, "The parameter games is '40': "),
        ("tasks/99/", 404, NOT_FOUND),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    client: Client, rest: str, status: int, sentence: str
) -> None:
    answer = client.get(ADDRESS + rest)
    assert (answer.status_code, answer.json()["error"][: len(sentence)]) == (status, sentence)


def test_moves_that_are_played_count_against_the_limit_of_the_address(client: Client) -> None:
    assert client.get(f"{ADDRESS}perft/?depth=8").status_code == 422
    assert client.get(f"{ADDRESS}perft/?depth=8").status_code == 422
    statuses = {client.get(f"{ADDRESS}perft/?depth=8").status_code for _ in range(2)}
    assert 429 in statuses


def test_the_explorer_counts_the_games_of_the_page(site: Site, client: Client) -> None:
    counting.catch_up()
    found = client.get(f"{ADDRESS}explorer/").json()
    assert found["games"] == 1 == sum(row["games"] for row in found["moves"])
    assert found["moves"][0]["last_game"] == site.played.pk
    assert client.get(f"{ADDRESS}explorer/?games=30").json()["games"] == 0


def test_the_filters_of_the_explorer_are_those_of_its_page() -> None:
    (games,) = (field for field in msgspec.structs.fields(ExplorerQuery) if field.name == "games")
    assert get_args(get_args(games.type)[0]) == tuple(FILTERS)


def test_a_task_is_answered_and_not_told(client: Client) -> None:
    rows = client.get(f"{ADDRESS}tasks/").json()["rows"]
    assert len(rows) == 6
    found = client.get(f"{ADDRESS}tasks/1/").json()
    assert rows[0].items() <= found.items()
    assert (found["solved"], found["solution"]) == (False, [])
