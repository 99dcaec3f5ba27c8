"""What a view behind ``login_required`` may take for granted."""

from __future__ import annotations

from django.http import HttpRequest

from tournament.models import User


class AuthenticatedRequest(HttpRequest):
    """A request of somebody who is logged in; for annotations, never made."""

    user: User
