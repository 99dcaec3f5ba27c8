"""The pages of long games stay small, with their charts and all their moves."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tests.support.filled_site import Site
from tests.support.long_games import ENDLESS, LongGame, let_end, let_play, longest
from tests.support.weights import MAX_BYTES, STATIC, weight
from tournament.models import Game, GameLog
from tournament.models.compressed import pack_log
from tournament.settings import ROOT

LEAST_FILES = 7
FILES = ROOT / "tournament" / "static"
LINKED = re.compile(r'(?:href|src|data-script|data-style)="/static/([^"]+\.(?:css|js))"')
IMPORTED = re.compile(r'^import .*"\./(\w+\.js)"', re.MULTILINE)

Maker = Callable[[Site, str, LongGame], Game]


def files_of(page: str) -> set[Path]:
    """The styles and scripts of a page, with those that scripts import, and with uPlot for its chart."""
    linked = {FILES / name for name in LINKED.findall(page)}
    for script in list(linked):
        linked |= {script.parent / name for name in IMPORTED.findall(script.read_text("utf-8"))}
    return linked


def weights(client: Client, address: str) -> Iterator[int]:
    page = client.get(address).content
    files = files_of(page.decode())
    assert len(files) > LEAST_FILES
    yield weight(address, page)
    yield weight("/boards.css", client.get("/boards.css").content)
    yield from (weight(f"{STATIC}{file.relative_to(FILES)}", file.read_bytes()) for file in files)


@pytest.mark.parametrize("make", [let_play, let_end])
@pytest.mark.parametrize(
    ("code", "most"), [*((code, rules.ply_limit) for code, rules in GAMES.items()), ENDLESS]
)
def test_the_page_of_the_longest_game_is_below_the_limit_with_its_chart(
    site: Site, client: Client, make: Maker, code: str, most: int
) -> None:
    long = longest(code, most)
    address = f"/games/{make(site, code, long).pk}/"
    assert f'data-plies="{len(long[1])}"' in client.get(address).content.decode()
    assert sum(weights(client, address)) < MAX_BYTES


def test_the_page_with_both_engines_logs_is_below_the_limit(site: Site, client: Client) -> None:
    """The largest page of a game: of the longest, for staff."""
    code, most = ENDLESS
    game = let_end(site, code, longest(code, most))
    chance = random.Random(1)
    lines = "".join(
        f"< info depth {chance.randint(1, 30)} nodes {chance.randint(1, 10**7)}\n" for _ in range(9000)
    )
    for side in GameLog.Side.values:
        GameLog.objects.create(game=game, side=side, content=pack_log(lines, lines))
    client.force_login(site.staff)
    address = f"/games/{game.pk}/"
    assert "Lines exchanged, the end" in client.get(address).content.decode()
    assert sum(weights(client, address)) < MAX_BYTES


@pytest.mark.parametrize("make", [let_play, let_end])
def test_the_list_of_a_long_game_is_whole(site: Site, client: Client, make: Maker) -> None:
    code, most = ENDLESS
    page = client.get(f"/games/{make(site, code, longest(code, most)).pk}/").content.decode()
    listed = page[page.index('id="move-list"') : page.index('class="legend"')]
    assert [int(ply) for ply in re.findall(r'href="\?ply=(\d+)"', listed)] == list(range(1, most + 1))
