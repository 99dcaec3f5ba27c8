"""Searches as work: which positions a slot evaluates next, and what it tells of them.

A slot gets a few seconds of a search at a time, so that long ones do not hold up the others. Whatever is
lost is evaluated again.

Searches of the site itself wait until nothing else does.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable

from django.db import transaction
from django.db.models import F, Max, Q, QuerySet

from engines.visible import visible
from tournament.models import BotSearch, BotVersion, Job, Worker
from tournament.models.searches import SITE
from tournament.queues import announce, search_topic
from tournament.services.locks import in_order, lock
from tournament.services.stopping import end_jobs
from tournament.services.work.analyses import tell_thrown_away
from tournament.services.work.leases import take_first
from workers.jobs import Ask, SearchJob, SearchNews, Work

MAX_GUEST_SLOTS = 1
"""Slots that search for visitors without accounts at a time."""
LATELY = datetime.timedelta(minutes=10)
"""Who was not served within this time comes first; for as long a failed search is left to other workers."""
MAX_TRIES = 3
"""A search ends after so many slots in a row have evaluated nothing."""
MAX_COMPARED = 100
"""Searches that waited the longest, of which the next one is chosen."""
LIVE = f"{SITE}live "
"""So begin the askers of searches of the games that people watch; their number follows."""
WATCHED = datetime.timedelta(seconds=30)
"""A game counts as watched for so long after its search was asked for or renewed."""
MAX_COMMENT, MAX_MOVE, MAX_WHY = 400, 40, 1_000


def claim_search(ask: Ask, worker: Worker, now: datetime.datetime) -> Job | None:
    """Give a slot the search that is next; None if none waits that it may have.

    Users come before visitors without accounts. Among equals the one comes first who was given a slot the
    longest ago, and his games before his other searches.
    """
    return _claim(BotSearch.objects.of_people().waiting(), _in_turn, ask, worker, now)


def claim_site_search(ask: Ask, worker: Worker, now: datetime.datetime) -> Job | None:
    """Give a slot the next search of the site, in the order of their purposes; None if none waits."""
    waiting = BotSearch.objects.of_site().waiting()
    waiting.filter(asker__startswith=LIVE, asked_at__lt=now - WATCHED).delete()
    return _claim(
        waiting.order_by("asker", "asked_at"), lambda rows, _: rows[:MAX_COMPARED], ask, worker, now
    )


def _claim(
    waiting: QuerySet[BotSearch],
    in_turn: Callable[[QuerySet[BotSearch], datetime.datetime], Iterable[BotSearch]],
    ask: Ask,
    worker: Worker,
    now: datetime.datetime,
) -> Job | None:
    if not waiting.exists():
        return None

    def find() -> Iterable[BotSearch]:
        end_searches(
            waiting.exclude(version__state=BotVersion.State.VALID), "The bot is no longer valid.", now
        )
        end_searches(waiting.filter(tries__gte=MAX_TRIES), "The workers of this site could not run it.", now)
        return in_turn(_permitted(waiting, worker, now), now)

    return take_first(find, ask, worker, Work.ANALYSIS, now, tries=F("tries") + 1)


def _permitted(waiting: QuerySet[BotSearch], worker: Worker, now: datetime.datetime) -> QuerySet[BotSearch]:
    """The searches that the worker may be given.

    A search that this worker failed is left to others for a while: they may have no slot for it.
    """
    if Worker.objects.has_another([worker.name], Work.ANALYSIS):
        has_failed = Q(job__end=Job.End.LOST) | Q(job__end=Job.End.DONE, tries__gt=0)
        waiting = waiting.exclude(has_failed, job__worker=worker.name, job__taken_at__gt=now - LATELY)
    if worker.refusal:
        waiting = waiting.filter(version__bot__owner=None)
    return waiting.select_related("version")


def _in_turn(waiting: QuerySet[BotSearch], now: datetime.datetime) -> list[BotSearch]:
    """The searches of people, the next one first."""
    of_guests = BotSearch.objects.of_people().filter(owner=None, job__in=Job.objects.held())
    found = list(waiting.filter(owner__isnull=False)[:MAX_COMPARED])
    if not found and of_guests.count() < MAX_GUEST_SLOTS:
        found = list(waiting.filter(owner=None)[:MAX_COMPARED])
    served = _served_lately(now) if len(found) > 1 else {}

    def rank(search: BotSearch) -> tuple[datetime.datetime, bool, datetime.datetime]:
        last = served.get(search.owner_id or search.asker, now - LATELY)
        return last, search.person_game_id is None, search.asked_at

    return sorted(found, key=rank)


def _served_lately(now: datetime.datetime) -> dict[int | str, datetime.datetime]:
    """When each user, or each network of visitors, was last given a slot."""
    lately = Q(ended_at__isnull=True) | Q(ended_at__gt=now - LATELY)
    rows = BotSearch.objects.filter(lately, job__taken_at__gt=now - LATELY)
    latest = rows.values_list("owner", "asker").annotate(latest=Max("job__taken_at")).order_by("latest")
    return {owner or asker: last for owner, asker, last in latest}


def search_job(search: BotSearch) -> SearchJob:
    """The next positions of a search, as its worker gets them."""
    return SearchJob(
        search=str(search.job_id),
        engine=search.version.engine_spec(),
        game=search.ladder_id,
        fen=search.start or None,
        moves=tuple(search.moves.split()),
        plies=tuple(search.next_plies),
        ms=search.ms,
    )


@transaction.atomic
def end_searches(searches: QuerySet[BotSearch], why: str, now: datetime.datetime) -> None:
    """End those of these searches that are open; ``why`` is a sentence for the person who asked."""
    open_ones = list(searches.filter(ended_at__isnull=True).order_by().values_list("pk", flat=True))
    if open_ones:
        rows = BotSearch.objects.filter(pk__in=open_ones, ended_at__isnull=True)
        in_order(rows).update(ended_at=now, why=why)
        transaction.on_commit(lambda: announce(*map(search_topic, open_ones)))


@transaction.atomic
def record_evaluations(news: SearchNews, worker: Worker, now: datetime.datetime) -> None:
    """Store what a slot found, unless it does not have the search. May be repeated, and come late."""
    held = Job.objects.of_worker(worker.name).filter(pk=news.search)
    for search in lock(BotSearch.objects.filter(job__in=held.values("pk"))):
        if search.ended_at is None:
            _record(search, news, now)
            transaction.on_commit(lambda key=search.pk: announce(search_topic(key)))  # type: ignore[misc]
        if news.is_over:
            end_jobs(held, Job.End.DONE, now)


def _record(search: BotSearch, news: SearchNews, now: datetime.datetime) -> None:
    for one in news.found:
        known = search.found.get(str(one.ply), ["", ""])
        if one.ply in search.plies and not known[0]:
            search.found[str(one.ply)] = [visible(one.move, MAX_MOVE), visible(one.comment, MAX_COMMENT)]
            search.tries = 0 if one.move else search.tries
    if search.missing and news.is_over and news.why:
        search.why, search.is_fault = visible(news.why, MAX_WHY), True
    if search.why or not search.missing:
        search.ended_at = now
    search.save()
    if search.is_analysis:
        tell_thrown_away(search, now)
