"""The log of acts of staff, for staff."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Act
from tournament.views.exports import MOST_EXPORTED, as_text, served_table, table_links, with_next
from tournament.views.logged_in import login_required
from tournament.views.paging import Page, by_id
from tournament.views.requests import AuthenticatedRequest

PAGE_SIZE = 50
COLUMNS = ("who", "what", "of_what", "page", "time")
"""``page`` is the address of what was changed."""


@require_safe
@login_required
def staff_log(request: AuthenticatedRequest) -> HttpResponse:
    """What staff did with the rights of staff, the newest first."""
    files = [table_links("Acts", "staff-log-files")]
    return render(request, "staff_log.html", {"page": _acts(request, PAGE_SIZE), "files": files})


@require_safe
@login_required
def staff_log_files(request: AuthenticatedRequest, kind: str) -> HttpResponse:
    """The log as a file, in parts of ``MOST_EXPORTED``."""
    page = _acts(request, MOST_EXPORTED)
    rows = [_line(request, act) for act in page.rows]
    return with_next(request, served_table(kind, "acts", COLUMNS, rows, file="acts"), page)


def _acts(request: AuthenticatedRequest, size: int) -> Page:
    """A page of the log; raises ``Http404`` for those who are not staff."""
    if not access.may_see_acts(request.user):
        raise Http404("staff only")
    return by_id(request, Act.objects.select_related("actor"), size)


def _line(request: HttpRequest, act: Act) -> tuple[object, ...]:
    page = request.build_absolute_uri(act.path) if act.path else None
    return act.actor_name, act.deed, act.subject, page, as_text(act.at)
