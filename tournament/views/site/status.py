"""Which parts of the site are well and why others are not, for staff."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tournament import access
from tournament.monitoring.conditions import conditions
from tournament.views.requests import AuthenticatedRequest
from tournament.views.unsent import login_required


@never_cache
@require_safe
@login_required
def status(request: AuthenticatedRequest) -> HttpResponse:
    """Every part of the site with "well" or the reason why it is not."""
    if not access.may_see_status(request.user):
        raise Http404("staff only")
    now = timezone.now()
    parts = conditions(now)
    context = {"parts": parts, "ill": sum(bool(part.trouble) for part in parts), "at": now}
    return render(request, "status.html", context)
