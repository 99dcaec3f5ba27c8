"""All bundles by their SHA-256, for workers on other hosts; requires a worker token."""

from __future__ import annotations

from django.conf import settings
from django.http import FileResponse, HttpRequest

from tournament import access
from tournament.api.envelope import Answer, ApiError, api
from tournament.models import Bundle, Token
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import REQUEST_COST
from tournament.services.dispatch.workers import why_foreign
from workers.bundles.bundle_site import PROTOCOL_HEADER


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


def check_worker(request: HttpRequest, token: Token) -> None:
    """Raise ``ApiError`` if this worker may not join, because of its token's owner or of its release.

    Workers of the first release send no version, and print the sentence of status 403.
    """
    check_lending(token)
    given = request.headers.get(PROTOCOL_HEADER, "1")
    why = why_foreign(int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 1)
    if why:
        raise ApiError(403, as_sentence(why))


def check_lending(token: Token) -> None:
    """Raise ``ApiError`` if the token's owner may not run workers any more."""
    if not access.may_lend_bundles(token.user):
        raise ApiError(403, "The owner of this token does not run this site any more.")
