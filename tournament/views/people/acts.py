"""The log of acts of staff, for staff."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Act
from tournament.views.logged_in import login_required
from tournament.views.paging import by_id
from tournament.views.requests import AuthenticatedRequest

PAGE_SIZE = 50


@require_safe
@login_required
def staff_log(request: AuthenticatedRequest) -> HttpResponse:
    """What staff did with the rights of staff, the newest first."""
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    page = by_id(request, Act.objects.select_related("actor"), PAGE_SIZE)
    return render(request, "staff_log.html", {"page": page})
