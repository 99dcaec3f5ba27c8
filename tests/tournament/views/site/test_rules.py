"""The rules pages: examples with boards before and after, hard positions, and what they cost.

No test here may use the database: a page that queried it would fail.
"""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from itertools import pairwise

import pytest
from django.test import Client

from engines.examples import Topic, load_examples
from engines.positions import read_hard_positions
from engines.rules.registry import GAMES

MOST_BYTES = 60 * 1024
"""Of a page without its pictures, compressed."""

every_game = pytest.mark.parametrize("code", GAMES)


def page_of(client: Client, code: str) -> str:
    return client.get(f"/rules/{code}/").content.decode()


def images(page: str) -> list[dict[str, str]]:
    return [
        {key: unescape(value) for key, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        for tag in re.findall(r"<img [^>]*>", page)
    ]


@every_game
def test_a_rules_page_is_small(client: Client, code: str) -> None:
    assert len(gzip.compress(page_of(client, code).encode())) < MOST_BYTES


@every_game
def test_every_example_is_a_figure_with_all_its_boards(client: Client, code: str) -> None:
    page = page_of(client, code)
    for example in load_examples(code):
        figure = page.partition(f'id="example-{example.name}"')[2].partition("</figure>")[0]
        assert example.title in unescape(figure)
        assert example.caption in unescape(figure)
        assert len(images(figure)) == len(example.moves) + 1
        assert all(token in figure for token in example.refused)
        assert example.result in figure


@every_game
def test_a_board_of_an_example_is_loaded_when_needed_and_has_its_size_and_a_description(
    client: Client, code: str
) -> None:
    name = GAMES[code].name
    for image in images(page_of(client, code)):
        assert image["loading"] == "lazy"
        assert int(image["width"]) > 0
        assert int(image["height"]) > 0
        assert image["alt"].startswith(f"{name} after ")


@every_game
def test_every_board_is_an_svg_file_that_is_cached_for_a_year(client: Client, code: str) -> None:
    for image in images(page_of(client, code)):
        response = client.get(image["src"])
        assert response.headers["Content-Type"] == "image/svg+xml"
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        drawing = ElementTree.fromstring(response.content)
        assert [drawing.get("width"), drawing.get("height")] == [image["width"], image["height"]]


@pytest.mark.parametrize("digest", ["", "?v=", "?v=0123456789ab"])
def test_a_board_without_its_own_digest_is_cached_for_an_hour(client: Client, digest: str) -> None:
    response = client.get(f"/rules/dogon-kulei/chain/1.svg{digest}")
    assert response.headers["Cache-Control"] == "public, max-age=3600"


@pytest.mark.parametrize(
    "address",
    [
        "dogon-kulei/chain/2.svg",
        "dogon-kulei/nothing/0.svg",
        "chess/chain/0.svg",
        "chess/",
        "chess/positions.json",
        f"dogon-kulei/chain/{10**30}.svg",
    ],
)
def test_what_is_not_there_is_not_found(client: Client, address: str) -> None:
    assert client.get(f"/rules/{address}").status_code == 404


def test_the_board_after_a_capture_shows_the_captured_holes(client: Client) -> None:
    before, after = (
        client.get(f"/rules/dogon-kulei/chain/{ply}.svg").content.decode().partition("</style>")[2]
        for ply in (0, 1)
    )
    assert before.count("last captured") == 0
    assert after.count("last captured") == 5


@every_game
def test_the_endings_have_a_heading_in_the_rules_and_examples(client: Client, code: str) -> None:
    page = page_of(client, code)
    endings = page.partition('id="examples-endings"')[2].partition("</section>")[0]
    assert 'id="the-end"' in page
    for example in load_examples(code):
        assert (f'id="example-{example.name}"' in endings) == (example.topic is Topic.ENDINGS)


@every_game
def test_a_page_has_one_element_of_each_id_and_headings_in_order(client: Client, code: str) -> None:
    page = page_of(client, code)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@every_game
def test_hard_positions_are_on_the_page_and_available_as_json(client: Client, code: str) -> None:
    rows = read_hard_positions(code)
    page = unescape(page_of(client, code))
    assert all(str(row) in page for row in rows)
    found = client.get(f"/rules/{code}/positions.json").json()
    assert found["game"] == code
    assert found["positions"] == [
        {"position": row.position, "perft": list(row.counts), "result": row.result} for row in rows
    ]


@every_game
def test_a_board_shows_the_names_of_all_cells(client: Client, code: str) -> None:
    names = page_of(client, code).partition('id="coordinates"')[2].partition("</section>")[0]
    cells = GAMES[code].position.initial().board()
    assert set(cells) <= set(re.findall(r">([a-i]\d)<", names))
