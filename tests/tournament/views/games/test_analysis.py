"""The computer analysis of a game, on the game's page."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from engines.rules.base import Side
from tests.support.analyses import analyse, free_plies
from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.parts import PART
from tournament.models import Bot, BotVersion, LadderRating


@pytest.fixture
def judge(site: Site) -> BotVersion:
    return add_version(None, "Judge")


def page_of(client: Client, site: Site, query: str = "", **more: Any) -> str:
    return client.get(f"/games/{site.played.pk}/{query}", **more).content.decode()


def test_everybody_sees_the_marks_the_counts_and_the_curve(
    site: Site, judge: BotVersion, client: Client
) -> None:
    white, black = free_plies(site.played, Side.WHITE)[0], free_plies(site.played, Side.BLACK)[1]
    analyse(site.played, judge, {0: 3.0, white: -9.0, black: 0.0})
    page = page_of(client, site)
    for ply, mark in ((white, "??"), (black, "??")):
        assert re.search(rf'href="\?ply={ply}"[^>]*><b>[^<]+</b><em>{re.escape(mark)}</em>', page)
    assert len(re.findall("<em>", page)) == 2
    assert re.findall(r'<td class="num">(\d)</td>', page[page.index('id="computer"') :])[:6] == [*"001001"]
    chart = json.loads(re.findall(r'id="chart-values"[^>]*>(.*?)</script>', page)[0])
    assert len(chart["analysis"]) == len(chart["score"]) + 1
    assert (chart["analysis"][0], chart["analysis"][white]) == (66, 12)
    assert "expects 1 / (1 + e<sup>−<i>s</i> / 4.5</sup>) points" in page
    assert "<b>??</b> 0.30 or more" in page


def test_the_better_move_and_its_line_are_shown_on_the_board(
    site: Site, judge: BotVersion, client: Client
) -> None:
    ply = free_plies(site.played, Side.WHITE)[0]
    search = analyse(site.played, judge, {0: 3.0, ply: -9.0})
    better = search.found[str(ply - 1)][0]
    board = page_of(client, site, f"?ply={ply}", headers=PART)
    assert "0.66 → 0.12 expected points" in " ".join(board.split())
    assert re.search(rf'href="\?ply={ply}&amp;better=1"[^>]*>{re.escape(better)}</a>', board)
    shown = page_of(client, site, f"?ply={ply}&better=1", headers=PART)
    assert "Move 1 of the better line" in shown
    assert re.findall(r'id="position" readonly value="([^"]*)"', shown) != re.findall(
        r'id="position" readonly value="([^"]*)"', board
    )
    assert "better=" not in page_of(client, site, f"?ply={ply + 1}", headers=PART)


def test_a_game_without_an_analysis_has_no_marks_and_says_so(site: Site, client: Client) -> None:
    page = page_of(client, site)
    assert "Nobody has requested an analysis" in page
    assert "Log in</a> to request one" in page
    assert "<em>" not in page
    assert (
        "Once the game is over, a bot can judge every move"
        in client.get(f"/games/{site.live.pk}/").content.decode()
    )


def test_the_analysis_by_the_strongest_bot_stays(site: Site, judge: BotVersion, client: Client) -> None:
    LadderRating.objects.create(ladder_id=LADDER, version=judge, mu=40, sigma=1, conservative=37)
    Bot.objects.filter(pk=site.white.bot_id).update(answers=True)
    now = timezone.now()
    analyse(site.played, judge, {}, asked_at=now - datetime.timedelta(days=400))
    analyse(site.played, site.white, {})
    caption = page_of(client, site).split("<caption>")[1].split("</caption>")[0]
    assert "Judge" in caption


def test_an_analysis_by_a_bot_that_answers_its_owner_alone_is_for_who_asked(
    site: Site, client: Client, as_user: LogIn
) -> None:
    analyse(site.played, site.black, {}, owner=site.rival)
    assert "<caption>" not in page_of(client, site).split('id="computer"')[1].split("</section>")[0]
    assert "<caption>" in page_of(as_user(site.rival), site).split('id="computer"')[1]


def test_who_asked_is_told_how_it_ended(site: Site, judge: BotVersion, as_user: LogIn) -> None:
    user, now = as_user(site.rival), timezone.now()
    search = analyse(site.played, judge, {}, owner=site.rival, why="the engine crashed", asked_at=now)
    assert "stopped: the engine crashed" in page_of(user, site)
    analyse(site.played, site.white, {}, owner=site.rival, ended_at=None)
    page = page_of(user, site)
    assert f"{len(search.plies)} of {len(search.plies)} positions are evaluated" in page
    assert page.count(f"/games/{site.played.pk}/analysis/") >= 2


def test_a_script_gets_the_marks_with_the_last_state(site: Site, judge: BotVersion, client: Client) -> None:
    ply = free_plies(site.played, Side.BLACK)[0]
    search = analyse(site.played, judge, {0: -3.0, ply: 9.0})
    state = client.get(f"/games/{site.played.pk}/analysis/{search.pk}/", headers=PART).content.decode()
    sent = json.loads(re.findall(r'id="analysed"[^>]*>(.*?)</script>', state)[0])
    assert sent["marks"] == {str(ply): "??"}
    assert sent["curve"][ply] == 88
    assert "data-follow" not in state
