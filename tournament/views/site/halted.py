"""The form of staff that plays halted games again, annuls or acknowledges them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse

from tournament import access
from tournament.formats.base import TournamentError
from tournament.models import Game
from tournament.monitoring.values import halted_games
from tournament.sentences import as_sentence
from tournament.services.accounts.acts import record_act
from tournament.services.halted import HaltedAct, settle
from tournament.views.logged_in import takes_form
from tournament.views.paging import LAST_ID
from tournament.views.requests import AuthenticatedRequest

MOST_AT_ONCE = 500
DEEDS = {
    HaltedAct.PLAY_AGAIN: "had {} played again",
    HaltedAct.ANNUL: "annulled {}",
    HaltedAct.ACKNOWLEDGE: "acknowledged {}",
}


@takes_form
def halted(request: AuthenticatedRequest) -> HttpResponse:
    """Do ``act`` to the halted game ``game``, or without one to those that need staff."""
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    act, number = request.POST.get("act", ""), request.POST.get("game", "")
    if act not in set(HaltedAct) or (number and not (number.isdecimal() and int(number) <= LAST_ID)):
        raise Http404("no such act or game")
    chosen = Game.objects.filter(pk=number) if number else halted_games().order_by("pk")
    games = [get_object_or_404(chosen)] if number else list(chosen[:MOST_AT_ONCE])
    done, refused = _settle(games, HaltedAct(act))
    deed = DEEDS[HaltedAct(act)].format("a halted game" if number else f"{len(done)} halted games")
    if done:
        address = done[0].get_absolute_url() if number else reverse("status")
        record_act(request.user, deed, f"game {done[0].key}" if number else "halted games", address)
        messages.success(request, f"{len(done)} game{pluralize(len(done))} dealt with: you {deed}.")
    if refused:
        messages.error(request, refused)
    return redirect(games[0] if number and request.POST.get("back") == "game" else "status")


def _settle(games: list[Game], act: HaltedAct) -> tuple[list[Game], str]:
    """The games with which it was done, and why it could not be done with the first of the others."""
    done, refused = [], ""
    for game in games:
        try:
            settle(game.pk, act)
        except TournamentError as error:
            refused = refused or as_sentence(str(error).partition(": ")[2])
        else:
            done.append(game)
    return done, refused
