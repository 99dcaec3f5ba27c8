"""What a token may do; following; and reports of problems with games."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Annotated

import msgspec
from django.conf import settings
from django.db import models
from msgspec import Meta

from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.schemas import like
from tournament.api.v1.writing.given import check_form
from tournament.api.v1.writing.once import check_bot, check_shown, once, refused, user_of
from tournament.models import Token
from tournament.services.accounts.follows import follow, unfollow
from tournament.services.accounts.notices import report_problem
from tournament.services.uploads import availability as uploads
from tournament.views import feeds
from tournament.views.games.board import find_game_for, load_replay
from tournament.views.games.problems import ProblemForm

PLAY = (Token.Scope.PLAY,)


class TokenRow(msgspec.Struct, frozen=True, kw_only=True):
    """The token of the request, and what the site takes."""

    user: str
    name: str
    scopes: list[str]
    bot: str | None
    """The slug of the only bot for which it may act."""
    ends_at: datetime.datetime | None
    max_bundle_bytes: int
    runs_uploads: bool


class Following(msgspec.Struct, frozen=True):
    """Whether you follow it now."""

    follows: bool


class NewReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wrong with a game."""

    text: Annotated[str, like(ProblemForm.base_fields["text"], "Only the site's staff reads it.")]
    ply: Annotated[int, Meta(ge=0, description="After how many moves.")] = 0


class Reported(msgspec.Struct, frozen=True):
    """The staff has the report."""

    reported: bool


@operation("GET", "token/", answer=TokenRow, scopes=tuple(Token.Scope.values))
def token(request: ApiRequest) -> TokenRow:
    """The token of this request: whose it is, what it may do, and whether the site runs uploads."""
    one = request.token
    assert one is not None
    return TokenRow(
        user=one.user.get_username(),
        name=one.name,
        scopes=one.scopes,
        bot=one.bot.slug if one.bot else None,
        ends_at=one.ends_at,
        max_bundle_bytes=settings.MAX_BUNDLE_BYTES,
        runs_uploads=uploads.current_state().are_run,
    )


@operation("POST", "games/<int:pk>/problem/", answer=Reported, status=201, body=NewReport, scopes=PLAY)
@once
def report_game(request: ApiRequest, pk: int, body: NewReport) -> Reported:
    """Tell the site's staff that something is wrong with a game."""
    check_bot(request, None)
    game = find_game_for(request, pk)
    check_shown(request, game.tournament)
    form = ProblemForm({"text": body.text})
    check_form(form)
    ply = min(body.ply, load_replay(game)[0].plies)
    report_problem(game, ply, user_of(request), form.cleaned_data["text"])
    return Reported(True)


def _register_follow(kind: str, path: str, find: Callable[[str], models.Model]) -> None:
    """Register the two operations of the button by which one follows."""

    def start(request: ApiRequest, **words: str) -> Following:
        check_bot(request, None)
        with refused():
            follow(user_of(request), find(*words.values()))
        return Following(True)

    def end(request: ApiRequest, **words: str) -> Following:
        check_bot(request, None)
        unfollow(user_of(request), find(*words.values()))
        return Following(False)

    start.__name__, start.__doc__ = f"follow_{kind}", f"Follow a {kind}; may be repeated."
    end.__name__, end.__doc__ = f"unfollow_{kind}", f"Follow a {kind} no more; may be repeated."
    operation("POST", path, answer=Following, scopes=PLAY)(start)
    operation("DELETE", path, answer=Following, scopes=PLAY)(end)


_register_follow("bot", "bots/<slug:slug>/follow/", feeds.find_public_bot)
_register_follow("ladder", "ladders/<slug:code>/follow/", feeds.find_public_ladder)
_register_follow("tournament", "tournaments/<slug:slug>/follow/", feeds.find_public_tournament)
_register_follow("person", "people/<str:name>/follow/", feeds.find_public_person)
