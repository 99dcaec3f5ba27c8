"""Who plays against bots: users, and visitors without accounts, whose session has a key."""

from __future__ import annotations

from functools import cache

from allauth.account.adapter import get_adapter
from django.http import HttpRequest

from tournament.models import PersonGame, User
from tournament.services.searches import playing
from tournament.services.searches.asking import Guest, network_of
from tournament.views.requests import guest_key


def person_of(request: HttpRequest) -> User | Guest:
    """The visitor; a guest who has played nothing yet has no key."""
    if isinstance(request.user, User):
        return request.user
    return Guest(guest_key(request), network_of(get_adapter().get_client_ip(request)))


def plays(request: HttpRequest, game: PersonGame) -> bool:
    """Whether the visitor plays the game."""
    if game.person is not None:
        return game.person == request.user
    return bool(game.guest) and game.guest == guest_key(request)


def own_open_games(request: HttpRequest) -> list[PersonGame]:
    """See ``playing.list_open``; nothing is read for a visitor who has never played."""
    return playing.list_open(person_of(request)) if _may_have_games(request) else []


def open_count(request: HttpRequest) -> dict[str, object]:
    """A context processor: ``open_games`` is the number of the visitor's games that are not over."""

    def count() -> int:
        has_user = hasattr(request, "user")  # an early error has none
        return playing.open_games(person_of(request)).count() if has_user and _may_have_games(request) else 0

    return {"open_games": cache(count)}


def _may_have_games(request: HttpRequest) -> bool:
    return request.user.is_authenticated or bool(guest_key(request))
