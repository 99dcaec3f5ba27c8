"""The type of a request to a view behind ``login_required``."""

from __future__ import annotations

from django.http import HttpRequest

from tournament.models import User


class AuthenticatedRequest(HttpRequest):
    """A request of a logged-in user; used only in annotations."""

    user: User
