"""The state of the site as metrics, read when they are asked for: games, workers, inbox, keeper, disk.

Every value is the same in all processes of the site, and none needs a scan over all games.
"""

from __future__ import annotations

import datetime
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.db import connection
from django.db.models import Exists, Max, Min, OuterRef, QuerySet
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from engines import __version__
from tournament import queues
from tournament.models import (
    Attempt,
    BotVersion,
    EventCount,
    Game,
    Ignored,
    InboxReport,
    Keeper,
    Ladder,
    Tournament,
    WaitingMail,
    Webhook,
    WebhookDelivery,
    Worker,
)
from tournament.services.accounts.acts import last_backup
from tournament.services.fair_share import played_by
from workers.jobs import BOTH_UNABLE, Work
from workers.service.broker import KEEPER, QUEUES

MAX_COUNTED = 100_000
"""Waiting and halted games are counted up to this number."""

EVENTS = (
    (EventCount.Kind.GAME, "duarena_games_ended", "termination", "Recorded games by the way they ended"),
    (
        EventCount.Kind.ATTEMPT,
        "duarena_attempts_failed",
        "end",
        "Games sent to workers that came back without result",
    ),
    (EventCount.Kind.ERROR, "duarena_keeper_errors", "task", "Tasks that failed in the record keeper"),
    (
        EventCount.Kind.DELIVERY,
        "duarena_webhook_attempts",
        "end",
        "Attempts to deliver an event to a webhook",
    ),
    (
        EventCount.Kind.ANSWER,
        "duarena_server_errors",
        "status",
        "Requests answered with an error of the site",
    ),
)
"""What is counted for ever, with the names of its metric and label."""

_Rows = Iterable[tuple[str | tuple[str, ...], float]]


class SiteValues(Collector):
    """Reads the values for one answer of ``/metrics``."""

    def collect(self) -> Iterator[Metric]:
        now = timezone.now()
        yield _gauge("duarena_info", "The version of the site", [(__version__, 1)], "version")
        yield from _games()
        yield from _attempts(now)
        yield from _workers()
        yield from _keeper(now)
        yield from _broker()
        if (backup := last_backup()) is not None:
            yield _age("duarena_backup_age", "Seconds since the last backup was written", now, backup)
        mails = WaitingMail.objects.count()
        yield _gauge("duarena_mails_waiting", "Mails that the mail server has not taken", [((), mails)])
        yield from _webhooks(now)
        yield _gauge(
            "duarena_disk_free_bytes", "Free space of the disk of each folder", free_space(), "folder"
        )
        yield _gauge("duarena_database_bytes", "Size of the database", [((), _database_bytes())])


def _games() -> Iterator[Metric]:
    games, versions = Game.State, BotVersion.State
    of_site = Game.objects.filter(tournament__own_workers=False)
    counts = [
        ("waiting", _count_some(of_site.filter(state=games.WAITING))),
        ("claimed", of_site.filter(state=games.CLAIMED).count()),
        ("halted", _count_some(halted_games())),
    ]
    yield _gauge("duarena_games", "Games by state, at most 100,000 counted of each", counts, "state")
    recorded = Ladder.objects.values_list("pk", "sequence")
    yield _counter("duarena_games_recorded", "Recorded games by ladder", recorded, "ladder")
    for kind, name, label, text in EVENTS:
        yield _counter(name, text, EventCount.objects.filter(kind=kind).values_list("label", "count"), label)
    uploads = [
        (str(state), BotVersion.objects.filter(state=state).count())
        for state in (versions.WAITING, versions.VALIDATING)
    ]
    yield _gauge("duarena_uploads", "Uploaded versions that wait or are validated", uploads, "state")


def _count_some(games: QuerySet[Game]) -> int:
    return games.order_by()[:MAX_COUNTED].count()


def halted_games() -> QuerySet[Game]:
    """The halted games that an operator must look at: those for which no bot is to blame.

    Without games that a withdrawn version lost unplayed, and games of two engines that do not start: their
    owners can make any number of them, as of games that their own workers cannot play.
    """
    halted = Game.objects.filter(state=Game.State.HALTED, fault="", tournament__own_workers=False)
    return halted.exclude(evidence__contains=BOTH_UNABLE)


def _attempts(now: datetime.datetime) -> Iterator[Metric]:
    """What slots have taken, and how long the oldest has waited or been played; 0 if there is none."""
    alive = _attempts_of_site().filter(ended_at__isnull=True)
    unreported = alive.filter(reported_at__isnull=True)
    begun = unreported.filter(started_at__isnull=False)
    counts = [
        ("taken", unreported.filter(started_at__isnull=True).count()),
        ("playing", begun.count()),
        ("reported", alive.filter(reported_at__isnull=False).count()),
    ]
    yield _gauge("duarena_attempts", "Games that slots have taken", counts, "state")
    yield _age(
        "duarena_longest_game",
        "Seconds for which the longest running game has been played",
        now,
        begun.aggregate(at=Min("started_at"))["at"],
    )
    text = "Seconds for which games have waited while no slot had any"
    yield _age("duarena_idle_wait", text, now, waits_since())


def _attempts_of_site() -> QuerySet[Attempt]:
    """Without those of users' own workers, of which no alert tells."""
    return Attempt.objects.exclude(job__kind=Work.OWN)


def waits_since() -> datetime.datetime | None:
    """Since when games of tournaments have waited while no slot has any; None if a slot has one.

    That is since the last attempt was taken, or since the tournament started if that was later.
    """
    waiting = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING)
    is_idle = ~Exists(_attempts_of_site().filter(ended_at__isnull=True))
    begun = Tournament.objects.running().filter(is_idle, played_by(Work.GAMES), Exists(waiting))
    starts = [at for at in begun.order_by().values_list("started_at", flat=True) if at]
    if not starts:
        return None
    taken = _attempts_of_site().aggregate(at=Max("sent_at"))["at"]
    return min(max(at, taken or at) for at in starts)


def _workers() -> Iterator[Metric]:
    rows = list(Worker.objects.of_site())
    conditions = Counter((row.takes, row.condition) for row in rows)
    about = "Workers by their work and condition"
    yield _gauge("duarena_workers", about, conditions.items(), "takes", "condition")
    up = [row for row in rows if row.state == Worker.State.UP]
    slots = Counter[tuple[str, ...]]()
    for row in up:
        slots[row.takes, "all"] += row.slots
        slots[row.takes, "busy"] += row.busy
        slots[row.takes, "held"] += row.held
    yield _gauge("duarena_slots", "Slots of the workers that are up", slots.items(), "takes", "state")


def _keeper(now: datetime.datetime) -> Iterator[Metric]:
    if (keeper := Keeper.objects.first()) is not None:
        text = "Seconds since the record keeper last looked; known every five seconds"
        yield _age("duarena_keeper_silence", text, now, keeper.seen_at)
    waiting = InboxReport.objects.count()
    yield _gauge("duarena_inbox_reports", "Reports that wait for the record keeper", [((), waiting)])
    yield _age("duarena_oldest_report", "Seconds since the oldest of them came", now, oldest_report())
    ignored = Ignored.objects.values_list("reason", "count")
    yield _counter("duarena_messages_ignored", "Reports without effect, by reason", ignored, "reason")


def oldest_report() -> datetime.datetime | None:
    """When the first report in the inbox came; None if it is empty."""
    return InboxReport.objects.order_by("pk").values_list("received_at", flat=True).first()


def _webhooks(now: datetime.datetime) -> Iterator[Metric]:
    waiting = WebhookDelivery.objects.filter(state=WebhookDelivery.State.WAITING)
    yield _gauge("duarena_webhooks_waiting", "Events for webhooks that wait", [((), waiting.count())])
    text, since = "Seconds for which the oldest due one has waited", WebhookDelivery.objects.late_since(now)
    yield _age("duarena_webhooks_late", text, now, since)
    failing = Webhook.objects.on().filter(failures__gt=0).count()
    yield _gauge("duarena_webhooks_failing", "Webhooks whose last attempt failed", [((), failing)])


def _broker() -> Iterator[Metric]:
    state = queues.look_at_broker([KEEPER, *QUEUES.values()])
    yield _gauge("duarena_redis_up", "Whether the site can use Redis", [((), int(not state.trouble))])
    if state.trouble:
        return
    yield _gauge("duarena_messages", "Messages that wait in Redis", state.lengths.items(), "queue")
    if state.memory is not None:
        yield _gauge("duarena_redis_memory_bytes", "Memory that Redis uses", [((), state.memory)])


def free_space() -> list[tuple[str, int]]:
    """The name of each folder of the site that exists, and the free bytes of its disk."""
    folders = {
        "data": settings.DATA,
        "bundles": settings.BUNDLES,
        "dumps": settings.DUMPS,
        "evidence": settings.EVIDENCE,
        "records": settings.RECORDS,
    }
    return [(name, shutil.disk_usage(folder).free) for name, folder in folders.items() if folder.exists()]


def _age(name: str, text: str, now: datetime.datetime, since: datetime.datetime | None) -> Metric:
    return _gauge(f"{name}_seconds", text, [((), max(0.0, (now - since).total_seconds()) if since else 0.0)])


def _gauge(name: str, text: str, rows: _Rows, *labels: str) -> Metric:
    return _filled(GaugeMetricFamily(name, text, labels=labels), rows)


def _counter(name: str, text: str, rows: _Rows, *labels: str) -> Metric:
    return _filled(CounterMetricFamily(name, text, labels=labels), rows)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, rows: _Rows) -> Metric:
    for labels, value in rows:
        family.add_metric([labels] if isinstance(labels, str) else list(labels), value)
    return family


def _database_bytes() -> int:
    """The size of the whole database, which takes no time to find out."""
    is_sqlite = connection.vendor == "sqlite"
    pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(pages if is_sqlite else "SELECT pg_database_size(current_database())")
        (size,) = cursor.fetchone()
        return int(size)
