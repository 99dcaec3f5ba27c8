"""The form of staff that plays halted games again, annuls or acknowledges them."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from tournament import access
from tournament.formats.base import TournamentError
from tournament.models import Game
from tournament.sentences import as_sentence
from tournament.services.accounts.acts import record_act
from tournament.services.halted import HaltedAct, settle
from tournament.views.logged_in import takes_form
from tournament.views.paging import LAST_ID, is_whole
from tournament.views.requests import AuthenticatedRequest

DEEDS = {
    HaltedAct.PLAY_AGAIN: ("had {} played again", "You let {} be played again."),
    HaltedAct.ANNUL: ("annulled {}", "You annulled {}."),
    HaltedAct.ACKNOWLEDGE: ("acknowledged {}", "You acknowledged {}."),
}
"""The words of each act in the log of acts, and the sentence for who did it."""


@takes_form
def halted(request: AuthenticatedRequest) -> HttpResponse:
    """Do ``act`` to each halted game ``game``; says why of the first for which it is not possible."""
    if not access.may_run_site(request.user):
        raise Http404("staff only")
    act, numbers = request.POST.get("act", ""), request.POST.getlist("game")
    if act not in set(HaltedAct) or not all(is_whole(one, LAST_ID) for one in numbers):
        raise Http404("no such act or game")
    games = list(Game.objects.filter(pk__in=numbers).order_by("pk"))
    if not games:
        raise Http404("no such game")
    done, refused = _settle(games, HaltedAct(act))
    if done:
        _tell(request, done, HaltedAct(act))
    if refused:
        messages.error(request, refused)
    return redirect(games[0] if request.POST.get("back") == "game" else "status")


def _tell(request: AuthenticatedRequest, done: list[Game], act: HaltedAct) -> None:
    """Log the act, and tell who did it."""
    several = f"{len(done)} halted games" if len(done) > 1 else ""
    deed, sentence = DEEDS[act]
    subject, address = (
        ("halted games", reverse("status"))
        if several
        else (f"game {done[0].key}", done[0].get_absolute_url())
    )
    record_act(request.user, deed.format(several or "a halted game"), subject, address)
    messages.success(request, sentence.format(several or "the game"))


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
