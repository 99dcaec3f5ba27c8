"""The button of bots, ladders, tournaments and people by which a logged-in user follows them."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from tournament.models import Bot, Ladder, Tournament, User
from tournament.sentences import as_sentence
from tournament.services.accounts.follows import FollowError, follow, unfollow
from tournament.views import feeds
from tournament.views.feeds import feed_link
from tournament.views.logged_in import takes_form
from tournament.views.requests import AuthenticatedRequest


def _button(find: Callable[[str], Bot | Ladder | Tournament | User]) -> Callable[..., HttpResponse]:
    """The view of the button on the page of a subject, which is found as that of a feed."""

    @takes_form
    def change(request: AuthenticatedRequest, **words: str) -> HttpResponse:
        (word,) = words.values()
        subject = find(word)
        name = feed_link(subject).title
        if request.POST.get("follow") == "no":
            unfollow(request.user, subject)
            messages.success(request, f"You do not follow {name} any more.")
            return redirect(subject)
        try:
            follow(request.user, subject)
        except FollowError as refused:
            messages.error(request, as_sentence(str(refused)))
        else:
            messages.success(request, f"You follow {name}: the home page shows you what is new.")
        return redirect(subject)

    return change


bot = _button(feeds.find_public_bot)
ladder = _button(feeds.find_public_ladder)
tournament = _button(feeds.find_public_tournament)
person = _button(feeds.find_public_person)
