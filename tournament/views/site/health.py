"""Whether the site is well: for monitoring, and in a page and a banner for staff."""

from __future__ import annotations

from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tournament import queues
from tournament.access import may_run_site
from tournament.monitoring.conditions import conditions, keeper_silence
from tournament.monitoring.values import halted_games
from tournament.sentences import as_sentence
from tournament.services.disk import full_disk
from tournament.views.logged_in import login_required
from tournament.views.requests import AuthenticatedRequest

MAX_HALTED = 50
"""Halted games that the page lists."""
MAX_AT_ONCE = 500
"""How many halted games one form settles; the newest."""


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """A line for each part of the site, with "ok" or what is wrong; status 503 if something is, else 200.

    With ``?live`` only for what this process needs to show pages, which restarting it, or sending requests to
    another one, may mend: that would wake neither the record keeper nor Redis.

    ``Application`` answers in its place if it takes too long.
    """
    parts = {"disk": full_disk()}
    try:
        silence, parts["database"] = keeper_silence(timezone.now()), ""
    except Error:
        silence, parts["database"] = "unknown, as the database does not answer", "it does not answer"
    if "live" not in request.GET:
        trouble = queues.look_at_broker([]).trouble
        parts |= {"redis": trouble and f"it {trouble}", "keeper": silence}
    text = "".join(f"{part}: {why or 'ok'}\n" for part, why in parts.items())
    return HttpResponse(text, content_type="text/plain", status=503 if any(parts.values()) else 200)


@never_cache
@require_safe
@login_required
def status(request: AuthenticatedRequest) -> HttpResponse:
    """Every part of the site with "well" or the reason why it is not."""
    if not may_run_site(request.user):
        raise Http404("staff only")
    now = timezone.now()
    parts = conditions(now)
    halted = halted_games().select_related("tournament", "white__bot", "black__bot").order_by("-pk")
    numbers = [*halted_games().order_by("-pk").values_list("pk", flat=True)[:MAX_AT_ONCE]]
    halted_count = halted_games().order_by().count()
    context = {
        "parts": parts,
        "ill": sum(not part.is_well for part in parts),
        "at": now,
        "halted": halted[:MAX_HALTED],
        "halted_count": halted_count,
        "numbers": numbers,
        "all_of_them": f"The newest {len(numbers)}" if halted_count > len(numbers) else "All of them",
    }
    return render(request, "site/status.html", context)


def staff_banner(request: HttpRequest) -> dict[str, object]:
    """A context processor: ``disk_trouble`` is a sentence for staff, and empty for others."""

    def tell() -> str:
        user = getattr(request, "user", None)  # an early error has none
        why = full_disk() if user is not None and may_run_site(user) else ""
        return as_sentence(why) if why else ""

    return {"disk_trouble": tell}
