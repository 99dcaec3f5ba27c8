"""Upload a bot and follow its validation."""

from __future__ import annotations

from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest

from tournament.api.envelope import Answer, ApiError, api
from tournament.forms import TOO_LARGE, UploadForm
from tournament.models import BotVersion, ComplianceCheck, Game, Token
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import REQUEST_COST, UPLOAD_COST, refund
from tournament.services.uploads import availability as uploads
from tournament.services.uploads.submission import AnotherBotError, BundleError, submit_bundle
from tournament.views.bots.versions import progress_of, validation_games
from tournament.views.games.endings import ending_sentence
from tournament.views.games.logs import at_fault

MAX_LOG = 16 * 1024
"""Characters of a game's log; the game's page offers the whole log for download."""


@api("GET", Token.Scope.UPLOAD, Token.Scope.LOGS, cost=REQUEST_COST)
def about(request: HttpRequest, token: Token) -> Answer:
    """The token's user and scopes, and whether the site accepts and runs uploads."""
    return {
        "user": token.user.get_username(),
        "scopes": token.scopes,
        "max_bundle_bytes": settings.MAX_BUNDLE_BYTES,
        "runs_uploads": uploads.current_state().are_run,
    }


@api("POST", Token.Scope.UPLOAD, cost=UPLOAD_COST)
def upload(request: HttpRequest, token: Token) -> Answer:
    """Accept a bundle: a form with ``bundle`` (a zip) and ``notes``; returns the new version."""
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        refund(token.user, UPLOAD_COST - REQUEST_COST)
        errors = [str(error) for errors in form.errors.values() for error in errors]
        raise ApiError(413 if form.has_error("bundle", TOO_LARGE) else 400, " ".join(errors))
    try:
        version = submit_bundle(
            token.user, form.cleaned_data["bundle"], notes=form.cleaned_data["notes"], only=token.bot
        )
    except BundleError as refused:
        refund(token.user, UPLOAD_COST - REQUEST_COST)
        status = 403 if isinstance(refused, AnotherBotError) else 422
        raise ApiError(status, as_sentence(str(refused))) from None
    return {"version": version_values(request, version)}


@api("GET", Token.Scope.UPLOAD, Token.Scope.LOGS, cost=REQUEST_COST)
def version(request: HttpRequest, token: Token, slug: str, number: int) -> Answer:
    """The state of one of the user's versions, and what its validation has found so far."""
    return {"version": version_values(request, find_own_version(token, slug, number))}


def find_own_version(token: Token, slug: str, number: int) -> BotVersion:
    """A version of the token's user, and of its bot if it is for one alone; raises ``ApiError``."""
    own = BotVersion.objects.select_related("bot", "validation").filter(bot__owner=token.user)
    found = own.filter(bot__slug=slug, number=number).first()
    if found is None or token.bot not in {None, found.bot}:
        raise ApiError(404, f"You have no version {number} of a bot {slug!r}.")
    return found


def version_values(request: HttpRequest, version: BotVersion) -> dict[str, Any]:
    """The state of a version, and what its validation has found so far."""
    check = version.checks.order_by("-sent_at").first()
    return {
        "bot": version.bot.name,
        "slug": version.bot.slug,
        "number": version.number,
        "state": version.state,
        "reason": as_sentence(version.state_reason) if version.state_reason else "",
        "sha256": version.bundle_id,
        "page": request.build_absolute_uri(version.get_absolute_url()),
        "check": _check(check) if check else None,
        "games": [_game(game) for game in reversed(validation_games(version))],
    }


def _check(check: ComplianceCheck) -> dict[str, Any]:
    return {
        "progress": progress_of(check),
        "is_over": check.ended_at is not None,
        "engine": check.engine,
        "findings": msgspec.to_builtins(check.findings),
    }


def _game(game: Game) -> dict[str, Any]:
    """The log is that of the side at fault; empty if the game ended without a fault."""
    log = next((one for one in game.logs.all() if one.side == at_fault(game)), None)
    return {
        "ladder": game.ladder_id,
        "state": game.state,
        "verdict": ending_sentence(game),
        "plies": game.plies,
        "evidence": game.evidence,
        "lines": log.lines[-MAX_LOG:] if log else "",
        "stderr": log.stderr[-MAX_LOG:] if log else "",
    }
