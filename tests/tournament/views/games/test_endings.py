"""How a game ended, in words: every code has a short form, and pages show no codes."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from django.test import Client

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result
from tests.support.filled_site import Site
from tournament.models import Game
from tournament.views.games import endings
from tournament.views.games.filters import GameSearchForm

WIDEST = 15
"""Letters that fit beside the other columns of a list on a phone."""


@pytest.mark.parametrize("code", [code for code in chain(Reason, Termination) if code])
def test_every_ending_has_a_word_that_fits_a_phone(code: str) -> None:
    word = endings.ending_word(code)
    assert 0 < len(word) <= WIDEST
    assert "-" not in word


def test_every_forfeit_has_a_word_and_a_sentence() -> None:
    forfeits = {termination for termination in Termination if termination.is_forfeit}
    assert endings.FORFEIT_WORDS.keys() == endings.FORFEITS.keys() == forfeits


def test_the_filter_has_every_ending_of_a_recorded_game_once() -> None:
    choices = GameSearchForm().fields["termination"].choices  # type: ignore[attr-defined]
    groups = [group if isinstance(group, list) else [(value, group)] for value, group in choices]
    values = [value for group in groups for value, _ in group if value]
    repeated = {Reason.REPETITION, Reason.PLY_LIMIT}  # the terminations of these names are in the filter
    reasons = {reason for reason in Reason if reason} - repeated
    assert sorted(values) == sorted({*reasons, *Termination} - {Termination.VOID})


ENDS = [
    ({"termination": Termination.RULES, "reason": Reason.NO_MOVE}, "no move left", "no-move"),
    ({"termination": Termination.PLY_LIMIT, "reason": Reason.PLY_LIMIT}, "ply limit", "ply limit"),
    ({"termination": Termination.TIME, "fault": Fault.WHITE, "reason": ""}, "time", "time forfeit"),
    ({"termination": Termination.RESIGNATION, "reason": ""}, "resignation", "resignation"),
]


@pytest.mark.parametrize(("ended", "word", "code"), ENDS, ids=[word for _, word, _ in ENDS])
def test_lists_show_the_word_with_its_sentence_and_files_the_code(
    site: Site, client: Client, ended: dict[str, str], word: str, code: str
) -> None:
    Game.objects.filter(pk=site.played.pk).update(result=Result.BLACK_WINS, **ended)
    game = Game.objects.get(pk=site.played.pk)
    for address in ("/games/", "/bots/stone-age/", "/tournaments/spring/"):
        page = client.get(address).content.decode().partition('<table class="games opens">')[2]
        (title,) = re.findall(rf'title="([^"]*)">{word}</span>', page)
        assert title == endings.ending_clause(game)
    assert code in client.get("/games/games.csv").content.decode()
    assert code in client.get(f"/games/{game.pk}/").content.decode().partition("Technical details")[2]


def test_a_game_without_an_end_has_no_ending(site: Site) -> None:
    assert endings.ending(site.live) == endings.ending_clause(site.live) == ""


def test_a_forfeit_is_called_one_on_the_page_of_its_game(site: Site, client: Client) -> None:
    Game.objects.filter(pk=site.played.pk).update(
        result=Result.BLACK_WINS, termination=Termination.CRASH, fault=Fault.WHITE, reason=""
    )
    page = client.get(f"/games/{site.played.pk}/").content.decode()
    assert "<dt>Forfeit</dt><dd>By White; the game counts.</dd>" in page
    assert "White forfeits because its process ended." in page
