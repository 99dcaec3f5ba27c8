"""Searches as work: which positions a slot evaluates next, and what it tells of them.

A slot gets a few seconds of a search at a time, so that long ones do not hold up the others. Whatever is
lost is evaluated again.
"""

from __future__ import annotations

import datetime
import uuid

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from engines.visible import visible
from tournament.models import BotSearch, BotVersion, Ignored, Worker
from tournament.queues import announce, search_topic
from tournament.services.fair_share import charge
from tournament.services.locks import lock
from workers.jobs import Ask, SearchJob, SearchNews, name_of

BATCH_MS = 5_000
"""Of searching that a slot gets at once; at least one position."""
MAX_COMMENT, MAX_MOVE, MAX_WHY = 400, 40, 1_000


def claim_search(ask: Ask, worker: Worker, now: datetime.datetime) -> BotSearch | None:
    """Give a slot the search that is next; None if none waits. Those with the fewest positions come first."""
    waiting = BotSearch.objects.filter(ended_at__isnull=True, assigned="").order_by("asked_at")
    end_searches(waiting.exclude(version__state=BotVersion.State.VALID), "The bot is no longer valid.", now)
    for search in sorted(waiting[:100], key=lambda one: len(one.missing)):
        taken = {
            "assigned": worker.name,
            "slot": ask.slot,
            "ask": uuid.UUID(ask.ask),
            "lease_until": now + datetime.timedelta(seconds=settings.LEASE_SECONDS),
        }
        if BotSearch.objects.filter(pk=search.pk, assigned="", ended_at__isnull=True).update(**taken):
            return search
    return None


def search_job(search: BotSearch) -> SearchJob:
    """The next positions of a search, as its worker gets them."""
    most = max(1, BATCH_MS // search.ms)
    return SearchJob(
        search=str(search.pk),
        engine=search.version.engine_spec(),
        game=search.ladder_id,
        fen=search.start or None,
        moves=tuple(search.moves.split()),
        plies=tuple(search.missing[:most]),
        ms=search.ms,
    )


def end_searches(searches: QuerySet[BotSearch], why: str, now: datetime.datetime) -> None:
    """End those of these searches that are open; ``why`` is a sentence for the person who asked."""
    open_ones = list(searches.filter(ended_at__isnull=True).order_by().values_list("pk", flat=True))
    if open_ones:
        rows = BotSearch.objects.filter(pk__in=open_ones, ended_at__isnull=True)
        rows.update(ended_at=now, assigned="", lease_until=None, why=why)
        transaction.on_commit(lambda: announce(*map(search_topic, open_ones)))


def release_search(search: BotSearch) -> None:
    """Let it wait for another slot, if its slot still has it."""
    held = BotSearch.objects.filter(pk=search.pk, ask=search.ask, ended_at__isnull=True)
    held.update(assigned="", lease_until=None)


@transaction.atomic
def record_evaluations(news: SearchNews, worker: Worker, now: datetime.datetime) -> bool:
    """Store what a slot found; False if it does not have the search. May be repeated, and come late."""
    held = lock(BotSearch.objects.filter(pk=news.search, ended_at__isnull=True, assigned=worker.name))
    if not held or name_of(news.worker) != worker.name:
        Ignored.objects.count_more("foreign", now)
        return False
    (search,) = held
    seconds = 0.0
    for one in news.found:
        known = search.found.get(str(one.ply), ["", ""])
        if one.ply in search.plies and not known[0]:
            search.found[str(one.ply)] = [visible(one.move, MAX_MOVE), visible(one.comment, MAX_COMMENT)]
            seconds += search.ms / 1000 if one.move else 0.0
    search.lease_until = now + datetime.timedelta(seconds=settings.LEASE_SECONDS)
    if news.is_over:
        search.assigned, search.lease_until = "", None
        search.why = visible(news.why, MAX_WHY)
        if search.why or not search.missing:
            search.ended_at = now
    search.save()
    if search.owner_id:
        charge({search.owner_id: seconds}, now)
    transaction.on_commit(lambda: announce(search_topic(search.pk)))
    return True


def sweep_searches(now: datetime.datetime) -> int:
    """Let searches wait again whose leases have expired; returns how many."""
    lost = BotSearch.objects.filter(ended_at__isnull=True, lease_until__lt=now)
    return lost.update(assigned="", lease_until=None)
