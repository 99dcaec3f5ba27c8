"""Searches as work: slots get them in turn, and what they find is stored once."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from django.db.models import F
from django.test import TestCase
from django.utils import timezone

from engines.rules.base import Position
from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.schedule import make_tournament, make_user, make_version, open_door, start_validation
from tournament.access import PUBLIC
from tournament.models import ActiveVersion, Bot, BotSearch, BotVersion, Job, SlotUse, User
from tournament.services.deactivation import stop_work_of
from tournament.services.fair_share import used_today
from tournament.services.searches import asking
from tournament.services.searches.asking import SearchRefused, request_search
from tournament.services.uploads.validation import begin
from tournament.services.work.leases import expire
from workers.jobs import Evaluation, SearchJob, SearchNews, Work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER = "dogon-kulei"
LINE = ("c1+", "c2-")


@pytest.fixture
def version() -> BotVersion:
    found = make_version("Oracle", owner=make_user("olga"), games=[LADDER])
    Bot.objects.update(answers=True)
    return BotVersion.objects.select_related("bot__owner").get(pk=found.pk)


@pytest.fixture
def worker() -> DoorWorker:
    open_door(timezone.now())
    one = DoorWorker(takes=(Work.CHECKS, Work.ANALYSIS), slots=1)
    one.beat()
    return one


def request(
    version: BotVersion,
    *,
    plies: tuple[int, ...] = (2,),
    ms: int = 1000,
    user: User | None = None,
    address: str = "1.2.3.4",
) -> BotSearch:
    start: Position = GAMES[LADDER].position.initial()
    return request_search(
        LADDER, version, start, LINE, plies, ms, user=user, address=address, now=timezone.now()
    )


def tell(
    worker: DoorWorker, job: SearchJob, *found: Evaluation, over: bool = False, why: str = ""
) -> tuple[str, ...]:
    """What the worker must stop after this news."""
    news = SearchNews(job.search, f"{worker.name}/0", found, over, why)
    return worker.post(job.search, search=news).stop


def taken(worker: DoorWorker) -> SearchJob:
    batch = worker.ask()
    assert batch is not None
    assert batch.search is not None
    return batch.search


def test_a_slot_gets_the_search_and_its_answer_ends_it(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    job = taken(worker)
    assert (job.moves, job.plies, job.fen) == (LINE, (2,), None)
    tell(worker, job, Evaluation(2, "", "+0.10/1 0.1s"))
    search.refresh_from_db()
    assert search.found == {"2": ["", "+0.10/1 0.1s"]}
    assert tell(worker, job, Evaluation(2, "a1-", "+0.35/2 1.0s")) == (job.search,)
    search.refresh_from_db()
    assert search.ended_at is not None, "a slot that is lost now loses nothing"
    tell(worker, job, over=True, why="it crashed at its end")
    search.refresh_from_db()
    assert (search.why, search.is_held) == ("", False)
    assert search.found == {"2": ["a1-", "+0.35/2 1.0s"]}
    assert search.ended_at is not None
    assert tell(worker, job, over=True) == (job.search,)


def test_the_same_ask_gets_the_same_search_and_another_lets_it_wait(
    version: BotVersion, worker: DoorWorker
) -> None:
    search = request(version)
    ask = worker.new_ask()
    first, again = worker.ask(ask), worker.ask(ask)
    assert first == again
    assert first is not None
    assert first.search is not None
    other = taken(worker)
    assert other.moves == first.search.moves
    tell(worker, first.search, Evaluation(2, "a1-", ""), over=True)
    search.refresh_from_db()
    assert (search.found, search.is_held) == ({}, True), "late news of the earlier slot"
    tell(worker, other, Evaluation(2, "c1+", ""), over=True)
    search.refresh_from_db()
    assert search.found == {"2": ["c1+", ""]}


def test_long_searches_are_done_in_parts_and_users_take_turns(
    version: BotVersion, worker: DoorWorker
) -> None:
    long = request(version, plies=(0, 1, 2), ms=3000, user=make_user("anna"))
    short = request(version, plies=(1,), ms=1000, user=make_user("bert"))
    for search, ply in ((long, 0), (short, 1), (long, 1), (long, 2)):
        job = taken(worker)
        assert (job.plies, job.ms) == ((ply,), search.ms)
        taken_at = F("taken_at") - datetime.timedelta(seconds=3)
        Job.objects.filter(searches=long).update(taken_at=taken_at)
        tell(worker, job, Evaluation(ply, "a1-", ""), over=True)
        Job.objects.filter(searches=long).update(taken_at=F("taken_at") + datetime.timedelta(seconds=3))
    long.refresh_from_db()
    assert long.ended_at is not None
    assert long.missing == []
    assert 9 <= SlotUse.objects.get(owner__username="anna").seconds < 90


def test_what_an_engine_s_fault_ends_is_over_with_the_reason(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    job = taken(worker)
    tell(worker, job, over=True, why="it crashed")
    search.refresh_from_db()
    assert (search.why, search.is_fault, search.ended_at is None) == ("it crashed", True, False)
    assert worker.ask() is None
    assert request(version).pk != search.pk, "what failed is searched again"


def test_a_stopped_slot_s_search_waits_again(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    first = taken(worker)
    tell(worker, first, over=True)
    assert taken(worker).search != first.search
    search.refresh_from_db()
    assert search.ended_at is None


def test_what_no_slot_can_run_ends_and_is_nobody_s_fault(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    for _ in range(3):
        tell(worker, taken(worker), over=True)
    assert worker.ask() is None
    search.refresh_from_db()
    assert search.ended_at is not None
    assert "could not run it" in search.why
    assert not search.is_fault


def test_a_slot_is_charged_also_if_the_person_asks_for_something_else(
    version: BotVersion, worker: DoorWorker
) -> None:
    anna = make_user("anna")
    search = request(version, user=anna)
    job = taken(worker)
    Job.objects.update(taken_at=F("taken_at") - datetime.timedelta(seconds=7))
    request(version, plies=(1,), user=anna)
    assert tell(worker, job, Evaluation(2, "a1-", "")) == (job.search,)
    tell(worker, job, over=True)
    search.refresh_from_db()
    assert (search.found, search.is_held) == ({}, False)
    assert 7 <= SlotUse.objects.get(owner=anna).seconds < 70


def test_a_lost_search_waits_again(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    taken(worker)
    later = timezone.now() + datetime.timedelta(hours=1)
    assert expire(later) == 0, "the site was down"
    open_door(later)
    assert expire(later) == 1
    search.refresh_from_db()
    assert not search.is_held


def test_an_ask_whose_search_has_ended_gets_another_one(version: BotVersion, worker: DoorWorker) -> None:
    anna = make_user("anna")
    first = request(version, user=anna)
    ask = worker.new_ask()
    assert worker.ask(ask) is not None
    second = request(version, plies=(1,), user=anna)
    batch = worker.ask(ask)
    assert batch is not None
    assert batch.search is not None
    assert batch.search.plies == (1,)
    assert list(BotSearch.objects.filter(job__ended_at=None)) == [second]
    tell(worker, batch.search, Evaluation(1, "a1-", ""), over=True)
    first.refresh_from_db()
    assert first.found == {}


def test_users_come_before_guests_and_guests_have_one_slot(version: BotVersion, worker: DoorWorker) -> None:
    for number in range(3):
        request(version, ms=3000, address=f"9.9.9.{number}")
    request(version, ms=2000, user=make_user("anna"))
    assert taken(worker).ms == 2000
    guest = taken(replace(worker, slot=1))
    assert guest.ms == 3000
    assert replace(worker, slot=2).ask() is None, "one slot at a time is for guests"
    request(version, ms=1000, user=make_user("bert"))
    assert taken(replace(worker, slot=2)).ms == 1000
    tell(replace(worker, slot=1), guest, Evaluation(2, "a1-", ""), over=True)
    assert taken(replace(worker, slot=1)).ms == 3000


def test_who_was_served_the_longest_ago_is_next_whatever_he_asks(
    version: BotVersion, worker: DoorWorker
) -> None:
    anna, bert = make_user("anna"), make_user("bert")
    for ms, user in ((1000, anna), (2000, bert)):
        request(version, ms=ms, user=user)
        tell(worker, taken(worker), Evaluation(2, "a1-", ""), over=True)
    request(version, plies=(1,), ms=2000, user=bert)
    request(version, plies=(0, 1, 2), ms=1000, user=anna)
    assert taken(worker).ms == 1000


def test_a_worker_that_runs_no_uploads_searches_with_sample_bots_alone(
    version: BotVersion, worker: DoorWorker
) -> None:
    search = request(version)
    worker.beat(level="C", refusal="its sandbox is of level C")
    assert worker.ask() is None
    Bot.objects.update(owner=None)
    assert taken(worker).ms == search.ms


def test_guests_of_all_networks_have_some_minutes_an_hour_together(
    version: BotVersion, worker: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "GUESTS_SECONDS", 60)
    for number in range(20):
        request(version, ms=3000, address=f"9.9.9.{number}")
        tell(worker, taken(worker), Evaluation(2, "a1-", ""), over=True)
        BotSearch.objects.update(content="")
    with pytest.raises(SearchRefused, match="1 minutes of this hour: try again later, or log in"):
        request(version, address="9.9.9.99")
    assert request(version, user=make_user("anna"))
    BotSearch.objects.update(ended_at=timezone.now() - asking.HOUR)
    assert request(version, address="9.9.9.99")


def test_a_stopping_worker_s_searches_wait_again(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    taken(worker)
    with TestCase.captureOnCommitCallbacks(execute=True):
        worker.beat(stopping=True)
    search.refresh_from_db()
    assert not search.is_held


def test_over_news_that_come_hours_later_do_not_charge_hours(version: BotVersion, worker: DoorWorker) -> None:
    anna = make_user("anna")
    request(version, user=anna)
    job = taken(worker)
    hours = datetime.timedelta(hours=3)
    Job.objects.update(taken_at=F("taken_at") - hours, lease_until=F("lease_until") - hours)
    tell(worker, job, over=True)
    assert SlotUse.objects.get(owner=anna).seconds < 600


def test_the_time_of_a_running_search_counts_at_once(version: BotVersion, worker: DoorWorker) -> None:
    anna = make_user("anna")
    request(version, user=anna)
    taken(worker)
    Job.objects.update(taken_at=F("taken_at") - datetime.timedelta(minutes=1))
    assert 60 <= 3600 * used_today(anna, timezone.now()) < 600


def test_news_of_others_are_ignored(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    job = taken(worker)
    other = DoorWorker(name="players@west", takes=(Work.CHECKS, Work.ANALYSIS))
    other.beat()
    assert tell(other, job, Evaluation(2, "a1-", ""), over=True) == (job.search,)
    search.refresh_from_db()
    assert search.found == {}


def test_the_same_again_is_the_same_search(version: BotVersion, worker: DoorWorker) -> None:
    assert request(version).pk == request(version).pk
    assert request(version, ms=2000).pk != request(version).pk


def test_an_open_search_is_its_asker_s_and_a_complete_one_everybody_s(
    version: BotVersion, worker: DoorWorker
) -> None:
    guest, anna = request(version), request(version, user=make_user("anna"))
    assert anna.pk != guest.pk
    tell(worker, taken(worker), Evaluation(2, "a1-", ""), over=True)
    assert request(version, user=make_user("bert")).pk == anna.pk


def test_guests_of_one_network_count_together_and_open_ones_are_limited(
    version: BotVersion, worker: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = request(version, address="2001:db8::1")
    second = request(version, plies=(1,), address="2001:db8::2:1")
    first.refresh_from_db()
    assert first.asker == second.asker
    assert first.ended_at is not None
    monkeypatch.setattr(asking, "MAX_GUESTS", 1)
    with pytest.raises(SearchRefused, match="Many visitors"):
        request(version, address="1.2.3.4")
    assert request(version, plies=(0,), address="2001:db8::3")


def test_an_asker_has_one_open_search_whatever_happens_at_once(
    version: BotVersion, worker: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    request(version)
    monkeypatch.setattr(asking, "end_searches", lambda *_: None)
    with pytest.raises(SearchRefused, match="at the same time"):
        request(version, plies=(1,))
    assert BotSearch.objects.count() == 1


def test_a_bot_that_is_kept_off_a_ladder_does_not_answer_there(version: BotVersion) -> None:
    assert asking.answering(LADDER, PUBLIC) == [version]
    ActiveVersion.objects.update(enabled=False)
    assert asking.answering(LADDER, PUBLIC) == []


def test_the_next_request_of_a_person_ends_the_earlier_one(version: BotVersion, worker: DoorWorker) -> None:
    first = request(version)
    request(version, plies=(1,))
    first.refresh_from_db()
    assert first.ended_at is not None
    assert "next request" in first.why


def test_guests_have_a_little(
    version: BotVersion, worker: DoorWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SearchRefused, match="Log in for longer"):
        request(version, plies=(0, 1))
    with pytest.raises(SearchRefused, match="Log in for longer"):
        request(version, ms=5000)
    monkeypatch.setattr(asking, "GUEST_SECONDS", 2)
    request(version, plies=(0,))
    request(version, plies=(1,))
    with pytest.raises(SearchRefused, match="2 seconds a day"):
        request(version, plies=(2,))


def test_a_bot_answers_only_where_its_owner_allows_it(version: BotVersion, worker: DoorWorker) -> None:
    version.bot.answers = False
    version.bot.save()
    assert asking.answering(LADDER, PUBLIC) == []
    with pytest.raises(SearchRefused, match="does not answer"):
        request(version)
    assert version.bot.owner is not None
    assert asking.answering(LADDER, version.bot.owner) == [version]
    assert request(version, user=version.bot.owner)
    version.bot.owner = None
    version.bot.save()
    assert asking.answering(LADDER, PUBLIC) == [version]
    assert request(version, plies=(1,))


def test_a_site_without_such_workers_refuses(version: BotVersion) -> None:
    with pytest.raises(SearchRefused, match="No worker"):
        request(version)


def test_too_long_searches_are_refused(version: BotVersion, worker: DoorWorker) -> None:
    with pytest.raises(SearchRefused, match="at most 600 seconds"):
        request(version, plies=(0, 1, 2), ms=300_000, user=make_user("anna"))


def test_a_search_by_a_bot_that_was_withdrawn_ends(version: BotVersion, worker: DoorWorker) -> None:
    search = request(version)
    BotVersion.objects.update(state=BotVersion.State.WITHDRAWN)
    assert worker.ask() is None
    search.refresh_from_db()
    assert "no longer valid" in search.why
    assert search.ended_at is not None


def test_deactivation_ends_the_searches_of_an_account(version: BotVersion, worker: DoorWorker) -> None:
    anna = make_user("anna")
    search = request(version, user=anna)
    job = taken(worker)
    stop_work_of(anna, timezone.now())
    search.refresh_from_db()
    assert "deactivated" in search.why
    assert tell(worker, job, Evaluation(2, "a1-", "")) == (job.search,)
    assert search.found == {}


# Searches beside games and checks


def test_a_slot_for_games_searches_too_in_the_order_that_it_names(version: BotVersion) -> None:
    make_tournament(owner=make_user("olaf"))
    games = DoorWorker(takes=(Work.GAMES, Work.ANALYSIS), slots=2)
    games.beat()
    request(version)
    batch = games.ask()
    assert batch is not None
    assert batch.jobs
    other = replace(games, slot=1, takes=(Work.ANALYSIS, Work.GAMES))
    assert taken(other).ms == 1000


def test_checks_and_validation_games_leave_a_slot_for_searches(version: BotVersion) -> None:
    olga = version.bot.owner
    for number in range(2):
        begin(make_version(f"New {number}", owner=olga, state=BotVersion.State.WAITING), timezone.now())
    start_validation(make_version("Tried", owner=olga))
    worker = DoorWorker(takes=(Work.ANALYSIS, Work.CHECKS), slots=2)
    worker.beat()
    assert worker.ask() is not None
    other = replace(worker, slot=1)
    assert other.ask() is None
    request(version)
    assert taken(other).ms == 1000
    worker.beat(slots=3)
    assert replace(worker, slot=2).ask() is not None
    alone = DoorWorker(name="checks@west", takes=(Work.ANALYSIS, Work.CHECKS), slots=1)
    alone.beat()
    batch = alone.ask()
    assert batch is not None
    assert batch.check or batch.jobs
