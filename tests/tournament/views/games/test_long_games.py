"""The page of a long live game: its list of moves begins later, and the page stays small."""

from __future__ import annotations

import gzip
import random
import re
import uuid
from pathlib import Path

import django_htmx
import pytest
from django.test import Client
from django.utils import timezone

from engines.protocol.score import Score
from engines.records import MoveNote, format_note
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.support.filled_site import Site, round_robin
from tournament.models import Game, LiveGame
from tournament.services.schedule.tournaments import start
from tournament.settings import ROOT
from tournament.views.games.games import LIVE_PLIES, PLIES_BEFORE

MOST_BYTES = 52 * 1024
"""Of the page with its styles and scripts; the limit of all pages is 60 KiB."""
ENDLESS = ("dualma", max(rules.ply_limit for rules in GAMES.values()))
"""A ladder whose random games do not end, and the largest limit of all ladders."""
SEEDS = 6
LEAST_FILES = 7
HTMX = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"
LINKED = re.compile(r'(?:href|src)="/static/([^"]+\.(?:css|js))"')
IMPORTED = re.compile(r'^import .*"\./(\w+\.js)"', re.MULTILINE)


def compressed(content: bytes) -> int:
    return len(gzip.compress(content, 6))


def random_moves(code: str, most: int, seed: int) -> list[list[str]]:
    """Moves as a worker sends them, each with a score, a depth, a time and nodes of its own."""
    chance, history = random.Random(seed), History(GAMES[code], ply_limit=most)
    moves: list[list[str]] = []
    while not history.outcome.decided:
        token = chance.choice(list(history.position.legal_moves()))
        history.play(token)
        score = Score(centipawns=chance.randint(-999, 999))
        note = MoveNote(score, chance.randint(5, 30), chance.randint(1, 9999), chance.randint(1, 10**7))
        moves.append([token, format_note(note)])
    return moves


def longest(code: str, most: int) -> list[list[str]]:
    """The longest of some random games."""
    return max((random_moves(code, most, seed) for seed in range(SEEDS)), key=len)


def let_play(site: Site, code: str, moves: list[list[str]]) -> Game:
    """A game of which a worker has sent these moves."""
    event = round_robin(site.owner, f"Long {code}", [site.white, site.black], 1, [code])
    start(event)
    game = event.games.earliest("pk")
    Game.objects.filter(pk=game.pk).update(state=Game.State.CLAIMED, attempt=uuid.uuid4())
    LiveGame.objects.create(game=game, moves=moves, updated_at=timezone.now())
    return game


def scripts_of(page: str) -> set[Path]:
    """The styles and scripts of a page, with those that scripts import; uPlot comes when a chart is seen."""
    linked = {ROOT / "tournament" / "static" / name for name in LINKED.findall(page) if "htmx" not in name}
    for script in list(linked):
        linked |= {script.parent / name for name in IMPORTED.findall(script.read_text("utf-8"))}
    return linked | {HTMX}


@pytest.mark.parametrize(
    ("code", "most"), [*((code, rules.ply_limit) for code, rules in GAMES.items()), ENDLESS]
)
def test_the_page_of_the_longest_live_game_is_well_below_the_limit(
    site: Site, client: Client, code: str, most: int
) -> None:
    moves = longest(code, most)
    page = client.get(f"/games/{let_play(site, code, moves).pk}/").content
    assert f'data-plies="{len(moves)}"' in page.decode()
    files = scripts_of(page.decode())
    assert len(files) > LEAST_FILES
    boards = compressed(client.get("/boards.css").content)
    size = compressed(page) + boards + sum(compressed(file.read_bytes()) for file in files)
    assert size < MOST_BYTES


def plies_of(client: Client, address: str) -> list[int]:
    page = client.get(address).content.decode()
    listed = page[page.index('id="move-list"') : page.index('class="legend"')]
    return [int(ply) for ply in re.findall(r'data-ply="(\d+)"', listed)]


def test_the_list_of_a_long_live_game_begins_later_unless_all_moves_are_wanted(
    site: Site, client: Client
) -> None:
    code, most = ENDLESS
    address = f"/games/{let_play(site, code, longest(code, most)).pk}/"
    assert plies_of(client, address) == list(range(most - LIVE_PLIES + 1, most + 1))
    assert f"The list begins after ply {most - LIVE_PLIES}." in client.get(address).content.decode()
    assert plies_of(client, f"{address}?moves=all") == list(range(1, most + 1))
    early = 101
    assert plies_of(client, f"{address}?ply={early}")[0] == early - PLIES_BEFORE
    assert plies_of(client, f"{address}?ply=0")[0] == 1


def test_the_list_of_a_short_live_game_is_whole(site: Site, client: Client) -> None:
    assert plies_of(client, f"/games/{site.live.pk}/") == [1, 2, 3, 4, 5]
    assert "The list begins" not in client.get(f"/games/{site.live.pk}/").content.decode()


def test_the_list_of_a_recorded_game_is_whole(site: Site, client: Client) -> None:
    assert plies_of(client, f"/games/{site.played.pk}/") == list(range(1, site.played.plies + 1))
