"""The workers and their states; staff also sees their errors and can quarantine them."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from typing import Annotated

import msgspec
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from msgspec import Meta

from engines.release import RELEASE
from tournament import access
from tournament.models import Keeper, Worker
from tournament.queues import ANY_GAME
from tournament.rows.fields import Moment, as_text
from tournament.services.accounts.acts import record_act
from tournament.services.uploads import availability as uploads
from tournament.services.work.judging import lift_quarantine, quarantine
from tournament.views.exports import served_rows, table_links
from tournament.views.logged_in import takes_form
from tournament.views.polling import PART, LivePart, is_part
from tournament.views.requests import AuthenticatedRequest, fresh_buttons
from workers.jobs import Work

MAX_SHOWN = 200
CONDITIONS = ("busy", "idle", "held", "barred", "quarantined", "lost", "stopped")
"""The order in which the page sorts workers."""
KEEPER_AWAY = datetime.timedelta(seconds=30)
"""The page warns if the record keeper, which marks silent workers as lost, has not worked for so long."""


class WorkerRow(msgspec.Struct, frozen=True):
    """A worker, as everybody sees it."""

    worker: str
    state: str
    takes: Annotated[str, Meta(description="The kinds of work that it takes.")]
    slots: int
    busy: Annotated[int, Meta(description="Slots that have work.")]
    games_an_hour: int
    voids: int
    sandbox: Annotated[str, Meta(description="The level of its sandbox.")]
    speed: str
    started: Moment | None
    seen: Moment | None


class StaffWorkerRow(WorkerRow, frozen=True):
    """A worker, as staff sees it: also its machine and its errors."""

    host: str
    software: str
    reason: Annotated[str, Meta(description="Why it gets no games.")]
    refusal: Annotated[str, Meta(description="Why it runs no uploaded bots.")]
    error: Annotated[str, Meta(description="Its last one.")]
    error_at: Moment | None


@require_safe
@fresh_buttons
@vary_on_headers(PART)
def workers(request: HttpRequest) -> HttpResponse:
    """All workers and their states; a script gets the part that changes, or 204."""
    rows = _shown_workers()
    manages = access.may_run_site(request.user)
    keeper = Keeper.objects.first()
    is_away = keeper is not None and timezone.now() - keeper.seen_at > KEEPER_AWAY
    seen = _mark(rows, manages, is_away)
    part = LivePart(request, seen, (ANY_GAME,), pause_s=3.0, again_s=3.0)
    if part.is_shown:
        return part.unchanged()
    counts = Counter(row.condition for row in rows)
    up = [
        row
        for row in rows
        if row.state == Worker.State.UP and not row.is_quarantined and row.takes != Work.OWN
    ]
    context = {
        "workers": rows,
        "counts": [(condition, counts[condition]) for condition in CONDITIONS if counts[condition]],
        "load": _load(up),
        "manages": manages,
        "release": RELEASE,
        "uploads": uploads.current_state() if manages else None,
        "known_at": keeper.seen_at if keeper is not None and is_away else None,
        "files": [table_links("Workers", "workers-files")],
    }
    return part.render("site/pieces/workers.html" if is_part(request) else "site/workers.html", context)


@require_safe
def workers_files(request: HttpRequest, kind: str) -> HttpResponse:
    """The table of workers; staff gets more columns."""
    manages = access.may_run_site(request.user)
    of = StaffWorkerRow if manages else WorkerRow
    return served_rows(kind, "workers", of, worker_rows(request.user), file="workers")


@takes_form
def worker_quarantine(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Send a worker no more games."""
    worker = _find(request, pk)
    if not worker.is_quarantined:
        quarantine(worker, f"{request.user.get_username()} quarantined it", timezone.now())
        record_act(request.user, "quarantined it", f"worker {worker}", reverse("workers"))
        messages.success(request, f"{worker} gets no games until it is released.")
    return redirect("workers")


@takes_form
def worker_release(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Send a worker games again."""
    worker = _find(request, pk)
    if worker.is_quarantined:
        lift_quarantine(worker, timezone.now())
        record_act(request.user, "released it from quarantine", f"worker {worker}", reverse("workers"))
        messages.success(request, f"{worker} gets games again after a canary game.")
    return redirect("workers")


def _shown_workers() -> list[Worker]:
    """Those of the site first; each kind by condition."""
    rows = Worker.objects.select_related("token__user")
    site, own = rows.of_site()[:MAX_SHOWN], rows.filter(takes=Work.OWN)[:MAX_SHOWN]
    shown = sorted([*site, *own], key=lambda row: (row.takes == Work.OWN, CONDITIONS.index(row.condition)))
    return shown[:MAX_SHOWN]


def worker_rows(user: access.Visitor) -> list[WorkerRow]:
    """The workers of the page, for those who run the site as ``StaffWorkerRow``."""
    manages = access.may_run_site(user)
    return [_row(worker, manages) for worker in _shown_workers()]


def _row(worker: Worker, manages: bool) -> WorkerRow:
    w = worker
    row = (
        w.name, w.condition, w.takes, w.slots, w.busy, w.games_an_hour, w.voids, w.level, w.speed,
        as_text(w.started_at), as_text(w.seen_at),
    )  # fmt: skip
    if not manages:
        return WorkerRow(*row)
    return StaffWorkerRow(*row, w.host, w.version, w.why, w.refusal, w.trouble, as_text(w.trouble_at))


def _load(workers: list[Worker]) -> str:
    busy, slots = sum(row.busy for row in workers), sum(row.slots for row in workers)
    games = sum(row.games_an_hour for row in workers)
    return f"{busy} of {slots} slot{pluralize(slots)} busy, {games} game{pluralize(games)} an hour"


def _find(request: AuthenticatedRequest, pk: int) -> Worker:
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    return get_object_or_404(Worker, pk=pk)


def _mark(rows: list[Worker], manages: bool, is_away: bool) -> str:
    """A hash of everything that the page shows; polls compare it."""
    shown = [
        (row.name, row.condition, row.busy, row.slots, row.games_an_hour, row.voids, row.run, row.trouble_at)
        for row in rows
    ]
    return hashlib.sha256(repr((shown, manages, is_away)).encode()).hexdigest()[:16]
