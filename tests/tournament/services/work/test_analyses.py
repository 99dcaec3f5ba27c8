"""Analyses of recorded games: what they say, and who is told of a lead that was thrown away."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from django.utils import timezone

from engines.rules.base import Side
from tests.support.analyses import free_plies, opinion
from tests.support.door import DoorWorker
from tests.support.filled_site import LADDER, Site, fill_site
from tests.support.remembered import remembered
from tests.support.schedule import open_door
from tournament.models import Bot, BotSearch, FeedEntry, Game, Tournament
from tournament.models.feeds import feed_of
from tournament.services.searches.asking import request_search
from tournament.services.work.analyses import positions_of, read_analysis
from tournament.views.games.board import load_replay
from workers.jobs import Evaluation, SearchNews, Work

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    one = remembered(fill_site)
    Bot.objects.filter(pk=one.black.bot_id).update(answers=True)
    open_door(timezone.now())
    return one


@pytest.fixture
def worker() -> DoorWorker:
    one = DoorWorker(takes=(Work.CHECKS, Work.ANALYSIS), slots=1)
    one.beat()
    return one


def analyse(site: Site, worker: DoorWorker, leads: Mapping[int, float]) -> BotSearch:
    """Have Black's bot analyse the played game on a worker, with this ``opinion``."""
    replay, *_ = load_replay(site.played)
    search = request_search(
        LADDER,
        site.black,
        replay.positions[0],
        [move.token for move in replay.moves],
        range(replay.plies),
        100,
        user=site.rival,
        address="",
        now=timezone.now(),
        game=site.played,
    )
    positions = positions_of(search)
    while (batch := worker.ask()) is not None and batch.search is not None:
        job = batch.search
        told = tuple(Evaluation(ply, *opinion(positions[ply], ply, leads)) for ply in job.plies)
        worker.post(job.search, search=SearchNews(job.search, f"{worker.name}/0", told, True, ""))
    search.refresh_from_db()
    assert search.is_analysis
    return search


def entries(site: Site) -> list[FeedEntry]:
    return list(FeedEntry.objects.filter(key__contains="thrown-away").order_by("key"))


def test_an_analysis_names_the_moves_that_lost_points(site: Site, worker: DoorWorker) -> None:
    first, second, *_ = free_plies(site.played, Side.WHITE)
    search = analyse(site, worker, {0: 10.0, first: 3.5, second: -10.0})
    found = read_analysis(search, 2)
    assert [(one.ply, one.mark) for one in found.mistakes.values()] == [(first, "?"), (second, "??")]
    assert (found.count(Side.WHITE, "??"), found.count(Side.BLACK, "??")) == (1, 0)
    assert found.points[0] == pytest.approx(0.90, abs=0.01)
    last = len(search.moves.split())
    assert found.points[last] in {0.0, 0.5, 1.0}, "the rules decide the last position"


@pytest.mark.parametrize(("result", "verb"), [("0-1", "lost"), ("1/2-1/2", "drew")])
def test_the_owner_of_a_bot_that_threw_a_game_away_finds_it_in_the_feed(
    site: Site, worker: DoorWorker, result: str, verb: str
) -> None:
    Game.objects.filter(pk=site.played.pk).update(result=result)
    first, second, *_ = free_plies(site.played, Side.WHITE)
    analyse(site, worker, {0: 10.0, first: 6.0, second: -10.0})
    (entry,) = entries(site)
    assert (entry.feed, entry.version) == (feed_of(site.owner), site.white)
    assert entry.title.endswith(f" {verb} from +6.00 at ply {second}")
    assert entry.get_absolute_url() == f"/games/{site.played.pk}/?ply={second}"
    assert "expected points fell from 0.79 to 0.10" in entry.text


@pytest.mark.parametrize(
    ("result", "annulled", "answers"), [("1-0", False, True), ("0-1", True, True), ("0-1", False, False)]
)
def test_nothing_is_told_of_a_won_game_an_annulled_one_and_by_a_bot_of_its_owner_alone(
    site: Site, worker: DoorWorker, result: str, annulled: bool, answers: bool
) -> None:
    Game.objects.filter(pk=site.played.pk).update(result=result, annulled=annulled)
    Bot.objects.filter(pk=site.black.bot_id).update(answers=answers)
    analyse(site, worker, {0: 10.0, free_plies(site.played, Side.WHITE)[0]: -10.0})
    assert entries(site) == []


def test_nothing_is_told_of_a_game_that_a_user_s_own_worker_reported(site: Site, worker: DoorWorker) -> None:
    Game.objects.filter(pk=site.played.pk).update(result="0-1")
    Tournament.objects.filter(pk=site.played.tournament_id).update(own_workers=True)
    analyse(site, worker, {0: 10.0, free_plies(site.played, Side.WHITE)[0]: -10.0})
    assert entries(site) == []


def test_a_small_lead_is_not_thrown_away(site: Site, worker: DoorWorker) -> None:
    Game.objects.filter(pk=site.played.pk).update(result="0-1")
    analyse(site, worker, {0: 3.0, free_plies(site.played, Side.WHITE)[0]: -10.0})
    assert entries(site) == []
