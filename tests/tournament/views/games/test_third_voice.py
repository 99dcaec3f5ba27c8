"""The third voice of a game that people watch: which bot speaks, of what, and when slots take its search."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.filled_site import LADDER, Site, add_version, go_live, round_robin
from tests.support.parts import PART, followed_address
from tests.support.schedule import open_door
from tournament.models import Bot, BotSearch, BotVersion, Game, Job, LadderRating
from tournament.services.schedule.tournaments import start
from tournament.services.searches import asking
from tournament.services.searches.watching import PAUSE, voice_of
from tournament.services.work.searches import MAX_GUEST_SLOTS, WATCHED
from workers.jobs import Evaluation, SearchJob, SearchNews, Work

pytestmark = pytest.mark.django_db
INITIAL: Position = GAMES[LADDER].position.initial()


@pytest.fixture
def worker(site: Site) -> DoorWorker:
    """A worker for games; no other game than the live one is left to play."""
    Game.objects.filter(state=Game.State.WAITING).update(state=Game.State.CANCELLED)
    BotSearch.objects.all().delete()
    Bot.objects.update(answers=True)
    open_door()
    one = DoorWorker(takes=(Work.GAMES, Work.ANALYSIS))
    one.beat()
    return one


@pytest.fixture
def oracle(site: Site) -> Bot:
    """The only bot that answers and does not play."""
    return add_version(site.rival, "Oracle").bot


def look(client: Client) -> str:
    """The page as a visitor sees it after its script has asked once."""
    page = client.get(f"/tv/{LADDER}/").content.decode()
    part = client.get(followed_address(page), headers=PART).content.decode()
    return str(part or page)


def taken(worker: DoorWorker, slot: int = 0) -> SearchJob:
    batch = worker.ask(worker.new_ask(slot=slot))
    assert batch is not None
    assert batch.search is not None
    return batch.search


def answer(worker: DoorWorker, job: SearchJob, move: str = "a1-", comment: str = "+0.70/9 1.000s") -> None:
    (ply,) = job.plies
    worker.post(job.search, search=SearchNews(job.search, worker.name, (Evaluation(ply, move, comment),)))
    worker.post(job.search, search=SearchNews(job.search, worker.name, (), is_over=True))


def ask_as_guest(site: Site) -> None:
    version = BotVersion.objects.select_related("bot").get(pk=site.white.pk)
    asking.request_search(
        LADDER, version, INITIAL, (), [0], 1000, user=None, address="1.2.3.4", now=timezone.now()
    )


def test_what_the_strongest_other_bot_says_stands_beside_the_engines(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    look(client)
    job = taken(worker)
    assert (job.engine.name, job.plies, len(job.moves)) == ("Oracle", (5,), 5)
    answer(worker, job)
    page = look(client)
    voice = page.partition('aria-label="Evaluation by another bot"')[2].partition("</section>")[0]
    assert ">Oracle<" in voice
    assert "evaluates ply 5 for Black" in voice
    assert "<dt>Score</dt><dd>+0.70</dd>" in voice
    assert voice.count("a1-") == 1


def test_the_search_goes_on_with_the_game_and_keeps_what_it_said(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    look(client)
    answer(worker, taken(worker))
    go_live(site.live, plies=8)
    assert "evaluates ply 5" in look(client)
    job = taken(worker)
    assert (job.plies, len(job.moves)) == ((8,), 8)
    go_live(site.live, plies=9)
    look(client)
    assert worker.ask(worker.new_ask(slot=1)) is None, "one search at a time"
    answer(worker, job)
    assert "evaluates ply 8" in look(client)
    assert taken(worker).plies == (9,)
    assert BotSearch.objects.count() == 1


def test_a_job_ends_although_the_game_goes_on_before_its_slot_says_that_it_has_finished(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    look(client)
    job = taken(worker)
    found = (Evaluation(5, "a1-", "+0.70/9 1.000s"),)
    worker.post(job.search, search=SearchNews(job.search, worker.name, found))
    go_live(site.live, plies=8)
    look(client)
    worker.post(job.search, search=SearchNews(job.search, worker.name, (), is_over=True))
    assert Job.objects.get(pk=job.search).end == Job.End.DONE
    look(client)
    assert taken(worker, slot=1).plies == (8,)


def test_a_game_that_begins_again_forgets_what_was_said(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    look(client)
    answer(worker, taken(worker))
    go_live(site.live, plies=2)
    assert "evaluates ply" not in look(client)
    assert taken(worker).plies == (2,)


@pytest.mark.parametrize("kind", ["page", "unwatched"])
def test_nothing_is_searched_for_nobody(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client, kind: str
) -> None:
    if kind == "page":
        client.get("/tv/")
    else:
        look(client)
        BotSearch.objects.update(asked_at=timezone.now() - 2 * WATCHED)
    assert worker.ask() is None
    assert not BotSearch.objects.exists()


def test_a_page_that_is_still_shown_keeps_its_search_waiting(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    look(client)
    BotSearch.objects.update(asked_at=timezone.now() - WATCHED / 2)
    look(client)
    assert taken(worker).plies == (5,)


def test_games_that_wait_for_a_slot_come_first_and_block_it(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    start(round_robin(site.owner, "Autumn", [site.white, site.black], pairs=1))
    look(client)
    assert worker.ask(worker.new_ask(takes=(Work.ANALYSIS,))) is None, "not by another slot either"
    batch = worker.ask()
    assert batch is not None
    assert batch.jobs
    assert taken(worker, slot=1).plies == (5,)


def test_what_people_ask_comes_first(site: Site, oracle: Bot, worker: DoorWorker, client: Client) -> None:
    look(client)
    ask_as_guest(site)
    assert taken(worker).engine.name == site.white.bot.name


def test_it_takes_nothing_from_visitors_without_accounts(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(client)
    taken(worker)
    assert Job.objects.held().count() == MAX_GUEST_SLOTS == 1 + Job.objects.exclude(owner=None).count()
    for limit in ("MAX_GUESTS", "GUESTS_SECONDS"):
        monkeypatch.setattr(asking, limit, 1)
    ask_as_guest(site)
    assert taken(worker, slot=1).engine.name == site.white.bot.name


@pytest.mark.parametrize("reason", ["plays", "does not answer", "no worker"])
def test_there_is_no_third_voice_without_another_bot_and_a_worker(
    site: Site, worker: DoorWorker, client: Client, reason: str
) -> None:
    if reason == "does not answer":
        add_version(site.rival, "Silent")
    elif reason == "no worker":
        add_version(site.rival, "Oracle")
        Bot.objects.update(answers=True)
        worker.beat(takes=(Work.GAMES,))
    players = {site.live.white.bot_id, site.live.black.bot_id}
    if reason != "no worker":
        Bot.objects.exclude(pk__in=players).update(answers=False)
    look(client)
    assert not BotSearch.objects.exists()


def test_the_strongest_of_several_speaks(site: Site, oracle: Bot, worker: DoorWorker, client: Client) -> None:
    strongest = add_version(site.owner, "Strongest")
    Bot.objects.update(answers=True)
    LadderRating.objects.create(ladder_id=LADDER, version=strongest, mu=50, sigma=1, conservative=47)
    look(client)
    assert taken(worker).engine.name == "Strongest"


def test_a_bot_that_fails_speaks_again_only_after_a_pause(
    site: Site, oracle: Bot, worker: DoorWorker, client: Client
) -> None:
    look(client)
    job = taken(worker)
    worker.post(job.search, search=SearchNews(job.search, worker.name, (), True, "it crashed"))
    go_live(site.live, plies=8)
    look(client)
    assert worker.ask() is None
    voice = voice_of(site.live)
    assert voice is not None
    assert voice.ended_at is not None
    BotSearch.objects.update(ended_at=voice.ended_at - PAUSE - timedelta(seconds=1))
    look(client)
    assert taken(worker).plies == (8,)
