"""The type of a request to a view behind ``login_required``, and what pages with a form share."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from tournament.models import User


class AuthenticatedRequest(HttpRequest):
    """A request of a logged-in user; used only in annotations."""

    user: User


takes_get_and_post = require_http_methods(["GET", "HEAD", "POST"])
"""Decorate a class-based view of a form: Django's would also accept PUT and OPTIONS."""


def too_many(response: HttpResponse, seconds: int) -> HttpResponse:
    """Make a page the answer to a request over a limit that ends after ``seconds``."""
    response.status_code = HTTPStatus.TOO_MANY_REQUESTS
    response["Retry-After"] = str(seconds)
    return response
