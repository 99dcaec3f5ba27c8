"""The rules pages: examples with boards before and after, hard positions, and what they cost.

The tests of a game's page may not use the database: a page that queried it would fail.
"""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from itertools import pairwise

import pytest
from django.test import Client

from engines.estimation.estimates import Strength
from engines.examples import load_examples
from engines.positions import read_hard_positions
from engines.rules.registry import GAMES
from tournament.views.site.rules import KNOWN_ELO, split_readings

MAX_BYTES = 60 * 1024
"""Of a page without its pictures, compressed."""

pytestmark = pytest.mark.django_db
every_game = pytest.mark.parametrize("code", GAMES)


def page_of(client: Client, code: str) -> str:
    return client.get(f"/rules/{code}/").content.decode()


def words_of(page: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page))


def images(page: str) -> list[dict[str, str]]:
    return [
        {key: unescape(value) for key, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        for tag in re.findall(r"<img [^>]*>", page)
    ]


@every_game
def test_a_rules_page_is_small(client: Client, code: str) -> None:
    assert len(gzip.compress(page_of(client, code).encode())) < MAX_BYTES


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
def test_an_example_stands_below_the_paragraph_that_it_explains(client: Client, code: str) -> None:
    page = " ".join(words_of(page_of(client, code)).split())
    places = [page.index(example.rule) for example in load_examples(code)]
    for place, example in zip(places, load_examples(code), strict=True):
        assert page.count(example.rule) == 1, example.rule
        following = [other for other in places if other > place]
        end = min(following, default=page.index("Hard positions", place))
        assert example.caption in page[place:end], example.name


@every_game
def test_six_steps_show_the_boards_before_and_after_a_move(client: Client, code: str) -> None:
    steps = page_of(client, code).partition('<ol class="minute')[2].partition("</ol>")[0]
    shown = [example for example in load_examples(code) if example.minute]
    assert len(shown) == steps.count("<li>") == 6
    for example, step in zip(shown, steps.split("</li>"), strict=False):
        assert example.minute in unescape(step)
        assert ["small=1" in image["src"] for image in images(step)] == [True, True]


@every_game
def test_a_reading_is_a_footnote_that_leads_back_to_its_place(client: Client, code: str) -> None:
    page = page_of(client, code)
    assert "[reading" not in page
    marks = re.findall(
        r'<a href="#(footnote-\d+)" id="to-\1" class="footnote" aria-label="Footnote \d+">', page
    )
    assert len(marks) == GAMES[code].rules.count("**[reading]**") > 0
    for mark in marks:
        assert page.count(f'<li id="{mark}">') == page.count(f'href="#to-{mark}"') == 1


def test_a_footnote_is_at_the_end_of_its_paragraph_or_of_the_one_before() -> None:
    rules = "White starts. **[reading]** So\nit is.\n\nThen Black.\n\n  **[reading]** Or not."
    assert split_readings(rules) == (
        "White starts. [1](#footnote-1)\n\nThen Black. [2](#footnote-2)",
        ["So it is.", "Or not."],
    )


@every_game
def test_the_drawn_board_stands_in_place_of_the_one_in_letters(client: Client, code: str) -> None:
    letters = GAMES[code].rules.partition("```\n")[2].partition("```")[0]
    page = page_of(client, code)
    assert letters.strip()
    assert letters.splitlines()[-1].strip() not in unescape(page)
    section = page.partition('id="the-board"')[2].partition("<h2")[0]
    assert section.count('<svg xmlns="http://www.w3.org/2000/svg" class="board') == 2


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
    names = page_of(client, code).partition("The names of the cells")[2].partition("</figure>")[0]
    cells = GAMES[code].position.initial().board()
    assert set(cells) <= set(re.findall(r">([a-i]\d)<", names))


@pytest.mark.usefixtures("site")
def test_the_list_compares_the_games(client: Client) -> None:
    page = client.get("/rules/").content.decode()
    for game in GAMES.values():
        row = (
            page.partition('id="compared"')[2]
            .partition(f'href="/rules/{game.code}/"')[2]
            .partition("</tr>")[0]
        )
        for trait in (
            game.traits.board,
            game.traits.pieces,
            game.traits.turn,
            game.traits.end,
            game.traits.draw,
        ):
            assert f"<td>{trait}</td>" in row
        assert "Elo" not in row, "one game does not tell the advantage"


def test_the_list_tells_the_first_move_s_advantage_once_it_is_known(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error, is_shown in ((KNOWN_ELO - 1, True), (KNOWN_ELO, False)):
        advantage = Strength(80.0, error)
        monkeypatch.setattr("tournament.views.site.rules.ladder_advantage", lambda code, one=advantage: one)
        page = " ".join(words_of(client.get("/rules/").content.decode()).split())
        assert ("White, +80 ± 49 Elo" in page) == is_shown
        assert ("Black, -80 ± 49 Elo" in page) == is_shown


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("address", ["/", "/rules/", "/ladders/"])
def test_a_card_of_a_game_has_its_sentence_and_its_picture(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    for code, game in GAMES.items():
        assert game.summary in page
        assert f'href="/rules/{code}/" tabindex="-1" aria-hidden="true"><svg' in page
