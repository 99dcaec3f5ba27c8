"""Measures how long the responses to requests take."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from tournament.monitoring.registry import REQUEST_SECONDS


class RequestTimesMiddleware:
    """Measures each request by the name of its page and the first digit of its status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        response = self.get_response(request)
        match = request.resolver_match
        page = (match.view_name if match else "") or "none"
        REQUEST_SECONDS.labels(page, f"{response.status_code // 100}xx").observe(time.perf_counter() - begun)
        return response
