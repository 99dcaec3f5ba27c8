"""All bundles by their SHA-256, for workers on other hosts; requires a worker token."""

from __future__ import annotations

from django.conf import settings
from django.http import FileResponse, HttpRequest

from tournament.api.envelope import Answer, ApiError, api
from tournament.api.workers import check_lending, check_worker
from tournament.models import Bundle, Token
from tournament.services.accounts.tokens import REQUEST_COST


@api("GET", Token.Scope.WORKER, cost=REQUEST_COST)
def bundles(request: HttpRequest, token: Token) -> Answer:
    """Check the token; a worker requests this when it starts."""
    check_worker(request, token)
    return {"user": token.user.get_username(), "max_bundle_bytes": settings.MAX_BUNDLE_BYTES}


@api("GET", Token.Scope.WORKER, cost=REQUEST_COST)
def bundle(request: HttpRequest, token: Token, sha256: str) -> FileResponse:
    """The zip of this SHA-256."""
    check_lending(token)
    found = Bundle.objects.filter(pk=sha256).first()
    try:
        file = found.path.open("rb") if found else None
    except FileNotFoundError:
        file = None
    if file is None:
        raise ApiError(404, "There is no bundle with this SHA-256, or it was refused and deleted.")
    return FileResponse(file, content_type="application/zip")
