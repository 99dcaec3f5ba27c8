"""The addresses of events: ``GET /api/v1/…/events/``, without a token unless something is of one user."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from tournament import access
from tournament.access import Visitor
from tournament.api.envelope import ApiError, answer_of, find_token_of, given_token
from tournament.api.v1.events.batches import EventBatch, answer
from tournament.api.v1.events.games import game_batch
from tournament.api.v1.events.ladders import ladder_batch
from tournament.api.v1.events.mine import notice_batch
from tournament.api.v1.events.tournaments import tournament_batch
from tournament.api.v1.events.tv import tv_batch
from tournament.api.v1.events.version_tests import version_test_batch
from tournament.api.v1.events.versions import version_batch
from tournament.models import Token

SEES = (Token.Scope.LOGS, Token.Scope.UPLOAD)
"""With one of them, a token sees what its user sees; with others, what everybody sees."""
View = Callable[..., HttpResponseBase]


def _followed(what: str, batch_of: Callable[..., EventBatch]) -> View:
    """A view of the events that ``batch_of`` gives; ``what`` names the object where there is none."""

    def view(request: HttpRequest, **where: Any) -> HttpResponseBase:
        token = given_token(request)
        request.user = viewer_of(token, where.get("bot"))
        try:
            return answer(request, batch_of(request, *where.values()))
        except Http404:
            raise ApiError(404, f"There is no such {what}.") from None

    return _read_only(view)


def viewer_of(token: Token | None, bot: str | None) -> Visitor:
    """As whom the holder of a token sees a bot, or another object without one.

    A token that is bound to a bot sees of other objects what everybody sees.
    """
    if token is None or not set(SEES) & set(token.scopes):
        return access.PUBLIC
    return token.user if token.bot is None or token.bot.slug == bot else access.PUBLIC


def _read_only(view: View) -> View:
    """The view for GET and HEAD, with errors in the API's form; pages of other sites may read it."""

    @csrf_exempt
    @wraps(view)
    def respond(request: HttpRequest, **where: Any) -> HttpResponseBase:
        def act() -> HttpResponseBase:
            if request.method not in {"GET", "HEAD"}:
                raise ApiError(405, "Use GET for this address.", {"Allow": "GET, HEAD"})
            return view(request, **where)

        response = answer_of(act)
        response.headers["Access-Control-Allow-Origin"] = "*"
        return response

    return respond


@_read_only
def mine_events(request: HttpRequest) -> HttpResponseBase:
    """The notices of the token's user; of one bot, if the token is bound to it."""
    token = find_token_of(request, str(request.method), (Token.Scope.LOGS,))
    return answer(request, notice_batch(request, token.user, token.bot))


def tv_of(request: HttpRequest) -> EventBatch:
    """Of one ladder with ``?ladder=``."""
    return tv_batch(request, request.GET.get("ladder", ""))


game_events = _followed("game", game_batch)
tournament_events = _followed("tournament", tournament_batch)
ladder_events = _followed("ladder", ladder_batch)
tv_events = _followed("ladder", tv_of)
version_events = _followed("version", version_batch)
version_test_events = _followed("version test", version_test_batch)
