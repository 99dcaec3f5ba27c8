"""``/metrics``: the site's metrics, for Prometheus and for staff."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from tournament import access
from tournament.monitoring.values import SiteValues


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics in the text format of Prometheus, for staff and for a request with the token."""
    if not (_has_token(request) or access.may_run_site(request.user)):
        raise Http404("needs the token of DUARENA_METRICS_TOKEN")
    return HttpResponse(generate_latest(SiteValues()), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    known = settings.METRICS_TOKEN
    return bool(known) and scheme.lower() == "bearer" and constant_time_compare(token.strip(), known)
