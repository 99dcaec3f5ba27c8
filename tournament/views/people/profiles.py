"""The public page of a person: bots with their best ratings, recent games, and tournaments.

It shows nothing that only its owner may see, whoever asks: neither notices and tokens nor the email address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament import access
from tournament.models import Bot, Game, LadderRating, Seat, User
from tournament.models.names import latin_slug
from tournament.views.bots.bots import BotRatingRow, rating_rows
from tournament.views.exports import served_rows, table_links
from tournament.views.feeds import feed_link
from tournament.views.links import games_address
from tournament.views.paging import games_of_seats, numbered
from tournament.views.requests import fresh_buttons
from tournament.views.tournaments.lists import listed_page

BOTS_A_PAGE = 50
TOURNAMENTS_A_PAGE = 20
MAX_GAMES = 15


@require_safe
@fresh_buttons
def person(request: HttpRequest, name: str) -> HttpResponse:
    """What a person has made on this site."""
    person = find_person(request, name)
    page = numbered(request, access.visible_bots(request.user).filter(owner=person), BOTS_A_PAGE)
    best = _best_ratings(page.rows)
    codes = [code for code in GAMES if any(code == ladder for _, ladder in best)]
    tournaments = access.visible_tournaments(request.user).filter(owner=person)
    context = {
        "person": person,
        "page": page,
        "ladders": [GAMES[code] for code in codes],
        "bots": [(bot, [best.get((bot.pk, code)) for code in codes]) for bot in page.rows],
        "tournaments": listed_page(request, tournaments, TOURNAMENTS_A_PAGE),
        "games": _recent_games(request, person),
        "files": [table_links("Ratings", "person-ratings", name)] if best else [],
        "all_games": games_address(owner=person.username),
    }
    if access.may_see_profile(access.PUBLIC, person):
        context["feed"] = feed_link(person, request.user)
    return render(request, "people/person.html", context)


@require_safe
def person_ratings(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """The best rating of each bot of a person on each ladder."""
    person = find_person(request, name)
    file = f"{latin_slug(name, 'person')}-ratings"
    rows = person_rating_rows(request, person)
    return served_rows(kind, "ratings", BotRatingRow, rows, file=file, person=name)


def person_rating_rows(request: HttpRequest, person: User) -> Iterator[BotRatingRow]:
    """The best rating of each bot of a person on each ladder, by name."""
    best = _best_ratings(list(access.visible_bots(request.user).filter(owner=person)))
    order = {code: place for place, code in enumerate(GAMES)}
    ratings = sorted(best.values(), key=lambda one: (one.version.bot.name_key, order[one.ladder_id]))
    return rating_rows(request, ratings)


def find_person(request: HttpRequest, name: str) -> User:
    """Raises ``Http404`` also for a person whose page this user may not see."""
    if not name.isprintable():
        raise Http404("no person with such a name")
    person = get_object_or_404(User, username=name)
    if not access.may_see_profile(request.user, person):
        raise Http404(f"no person {name!r}")
    return person


def _best_ratings(bots: Sequence[Bot]) -> dict[tuple[int, str], LadderRating]:
    """The best rating of each bot on each ladder, in one query."""
    ratings = LadderRating.objects.filter(version__bot__in=bots).select_related("version__bot")
    best: dict[tuple[int, str], LadderRating] = {}
    for rating in ratings.order_by("-conservative", "pk"):
        best.setdefault((rating.version.bot_id, rating.ladder_id), rating)
    return best


def _recent_games(request: HttpRequest, person: User) -> list[Game]:
    """The newest games of the person's bots."""
    seats = access.visible_games(request.user, Seat.objects.filter(owner=person))
    return games_of_seats(seats, ["-finished_at", "-game"], MAX_GAMES)
