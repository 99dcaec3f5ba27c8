"""The bot and the time of a form that asks a bot: what it offers, and what was chosen."""

from __future__ import annotations

from django.http import HttpRequest

from tournament.models import BotVersion
from tournament.services.searches.asking import SearchRefused, answering
from tournament.views.paging import LAST_ID, is_whole

_REMEMBERED = "asked_bots"
"""The session's key for the bot that the visitor asked last, by ladder."""


def offered_bots(request: HttpRequest, ladder: str) -> list[BotVersion]:
    """The versions that the visitor may ask: first those of the bot asked last, then the strongest first."""
    remembered = request.session.get(_REMEMBERED, {}).get(ladder)
    return sorted(answering(ladder, request.user), key=lambda version: version.bot_id != remembered)


def chosen_version(request: HttpRequest, ladder: str) -> BotVersion:
    """The bot of a form, which is remembered; raises ``SearchRefused``."""
    chosen = request.POST.get("bot", "")
    found = [one for one in answering(ladder, request.user) if str(one.pk) == chosen]
    if not found:
        raise SearchRefused("Choose a bot that answers on this ladder.")
    request.session[_REMEMBERED] = {**request.session.get(_REMEMBERED, {}), ladder: found[0].bot_id}
    return found[0]


def chosen_time(request: HttpRequest, name: str) -> int:
    """The time of a form; 0, which is none of the choices, if it is not a whole number."""
    text = request.POST.get(name, "")
    return int(text) if is_whole(text, LAST_ID) else 0
