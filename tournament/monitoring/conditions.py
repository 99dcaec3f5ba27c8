"""Whether each part of the site is well, and why not: for the health check and the page of staff.

None of it needs a scan over all games.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings
from django.template.defaultfilters import filesizeformat, pluralize
from django.utils.timesince import timesince

from tournament import queues
from tournament.models import Keeper, WaitingMail, Webhook, WebhookDelivery, Worker
from tournament.monitoring.values import free_space, halted_games, oldest_report, waits_since
from tournament.services.accounts.acts import last_backup
from tournament.services.disk import full_disk
from tournament.services.results.inbox import count_reports
from tournament.services.uploads import availability
from workers.jobs import Work

SILENT = datetime.timedelta(minutes=1)
"""The record keeper looks at what is due every five seconds, however many reports wait."""
LEAST_FREE_BYTES = 2_000_000_000
"""The least free space, as in the alert of docs/prometheus/alerts.yml."""
LONGEST_WAIT = datetime.timedelta(minutes=5)
"""An idle slot asks for work every few seconds."""
OLDEST_BACKUP = datetime.timedelta(days=7)
LATEST_EVENT = datetime.timedelta(minutes=5)
"""An event is sent within a second once it is due, unless many receivers are slow."""
MAX_NAMED = 3
"""So many workers and games are named, others are counted."""


_State = tuple[bool, str]
"""Whether a part is well, and a ``text`` as in ``Condition``."""


class Condition(NamedTuple):
    """The state of one part of the site."""

    part: str
    is_well: bool
    text: str
    """What was seen, or why it is not well: a clause without capital and full stop."""


def conditions(now: datetime.datetime) -> list[Condition]:
    """Every part of the site but the database, without which no page can be shown. A dozen queries."""
    workers = list(Worker.objects.all())
    return [
        Condition("Record keeper", *_keeper(now)),
        Condition("Workers for games", *_workers([row for row in workers if Work.GAMES in row.work])),
        Condition("Workers for new bots", *_workers([row for row in workers if Work.CHECKS in row.work])),
        Condition("Uploaded bots", *_uploads()),
        Condition("Redis", *_redis()),
        Condition("Disk", *_disk()),
        Condition("Queue", *_queue(now)),
        Condition("Halted games", *_halted()),
        Condition("Backup", *_backup(now)),
        Condition("Mail", *_mail()),
        Condition("Webhooks", *_webhooks(now)),
    ]


def keeper_silence(now: datetime.datetime) -> str:
    """Why the record keeper is not well: it is silent for a minute, or never started; empty if it is well."""
    keeper = Keeper.objects.first()
    if keeper is None:
        return "it has not started yet"
    silent = now - keeper.seen_at
    return f"it has not worked for {silent.total_seconds():.0f} s" if silent > SILENT else ""


def _keeper(now: datetime.datetime) -> _State:
    reports, oldest = count_reports(), oldest_report()
    waiting = f"{reports} report{pluralize(reports)} waiting"
    if silence := keeper_silence(now):
        return False, f"{silence}: {waiting}" if reports else silence
    late = now - oldest if oldest else datetime.timedelta(0)
    if late > SILENT:
        return False, f"it is {late.total_seconds():.0f} s behind the workers: {waiting}"
    return True, waiting


def _workers(rows: Sequence[Worker]) -> _State:
    up = [row for row in rows if row.state == Worker.State.UP]
    idle = [f"{row} is {row.condition}" for row in rows if row.condition not in {"busy", "idle", "stopped"}]
    if not any(row.condition in {"busy", "idle"} for row in up):
        return False, "; ".join(["none plays", *_few(idle)])
    if idle:
        return False, "; ".join(_few(idle))
    busy, slots = sum(row.busy for row in up), sum(row.slots for row in up)
    return True, f"{len(up)} up, {busy} of {slots} slot{pluralize(slots)} busy"


def _few(words: list[str]) -> list[str]:
    more = len(words) - MAX_NAMED
    return [*words[:MAX_NAMED], f"{more} more"] if more > 0 else words


def _uploads() -> _State:
    state = availability.current_state()
    return state.are_run, state.reason


def _redis() -> _State:
    broker = queues.look_at_broker([])
    if broker.trouble:
        return False, f"it {broker.trouble}"
    return True, f"it uses {filesizeformat(broker.memory)}" if broker.memory else "it answers"


def _disk() -> _State:
    if why := full_disk():
        return False, why
    folder, free = min(free_space(), key=lambda pair: pair[1])
    text = f"{filesizeformat(free)} free in the folder {folder}"
    return (True, text) if free >= LEAST_FREE_BYTES else (False, f"only {text}")


def _queue(now: datetime.datetime) -> _State:
    """Whether slots take the games that wait; while all slots play, they may wait for long."""
    since = waits_since()
    if since is None:
        return True, "slots take the games that wait"
    waited = now - since
    text = f"games have waited for {waited.total_seconds():.0f} s, and no slot takes any"
    return waited <= LONGEST_WAIT, text


def _halted() -> _State:
    """Games that were void or lost too often through no fault of their bots."""
    keys = [game.key for game in halted_games().order_by()[: MAX_NAMED + 1]]
    named = ", ".join(keys[:MAX_NAMED]) + (" and others" if keys[MAX_NAMED:] else "")
    return not keys, named or "none"


def _backup(now: datetime.datetime) -> _State:
    """The last backup by ``manage.py backup``; those of updates are on the disk that they should replace."""
    at = last_backup()
    if at is None:
        return False, "none is known; manage.py backup writes one"
    days = (now - at).days
    text = f"the last one was written {f'{days} day{pluralize(days)} ago' if days else 'within a day'}"
    return now - at <= OLDEST_BACKUP, text


def _mail() -> _State:
    """Whether the mail server took every mail; the record keeper repeats those that wait every minute."""
    last = WaitingMail.objects.order_by("tried_at").last()
    if last is None:
        return (
            True,
            "no mail waits" if settings.EMAIL_HOST else "there is no mail server; site.log has the mails",
        )
    count = WaitingMail.objects.count()
    return (
        False,
        f"{count} mail{pluralize(count)} wait{pluralize(count, 's,')} for the mail server: {last.trouble}",
    )


def _webhooks(now: datetime.datetime) -> _State:
    """Whether events are sent; that receivers of users fail is not the site's trouble."""
    states = WebhookDelivery.State
    waiting = WebhookDelivery.objects.filter(state=states.WAITING).count()
    counts = f"{waiting} event{pluralize(waiting)} waiting"
    if (since := WebhookDelivery.objects.late_since(now)) and now - since > LATEST_EVENT:
        return False, f"nothing has been sent for {(now - since).total_seconds():.0f} s: {counts}"
    failing = Webhook.objects.on().filter(failures__gt=0).count()
    last = WebhookDelivery.objects.filter(state=states.DELIVERED).order_by("-pk").first()
    ago = f"{timesince(last.tried_at, now, depth=1)} ago" if last and last.tried_at else "never"
    return True, f"{counts}, {failing} webhook{pluralize(failing)} failing, last delivery {ago}"
