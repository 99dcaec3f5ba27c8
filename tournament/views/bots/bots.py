"""Bots, the choice of their active versions, and the upload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe
from msgspec import Meta

from engines.bundles.store import BundleError
from engines.rules.registry import GAMES
from engines.visible import visible
from tournament import access
from tournament.forms import TOO_LARGE, UploadForm
from tournament.models import Bot, BotVersion, Ladder, LadderRating, Seat, User
from tournament.rows.fields import Address
from tournament.sentences import as_sentence
from tournament.services.accounts.tokens import REQUEST_COST, UPLOAD_COST, TooMuch, refund, spend
from tournament.services.bots.activity import ActivityError, activate, switch
from tournament.services.ladders.queue import next_game_of, queue_state
from tournament.services.uploads import availability as uploads
from tournament.services.uploads.submission import submit_bundle
from tournament.views.bots.results import Rated, ResultRow, rated_of, result_rows, results_of
from tournament.views.exports import served_rows, table_links
from tournament.views.feeds import feed_link
from tournament.views.links import comparison_address, games_address
from tournament.views.logged_in import login_required, takes_form
from tournament.views.paging import Page, by_finish, numbered
from tournament.views.polling import is_part
from tournament.views.requests import AuthenticatedRequest, fresh_buttons, in_words
from workers.sandbox.runtimes import offered_runtimes

GAMES_A_PAGE = 25
VERSIONS_A_PAGE = 25


class BotRatingRow(msgspec.Struct, frozen=True):
    """The rating of a version of a bot on a ladder."""

    bot: str
    ladder: str
    version: int
    rating: Annotated[float, Meta(description="mu - 3 sigma, the published number.")]
    mu: float
    sigma: float
    games: int
    won: int
    drawn: int
    lost: int
    page: Address
    slug: str


@require_safe
@fresh_buttons
def bot(request: HttpRequest, slug: str) -> HttpResponse:
    """A bot's versions, ratings and games; its owner also sees why versions wait, and chooses active ones."""
    bot = find_bot(request, slug)
    visible = access.visible_versions_of(request.user, bot)
    versions = list(visible.order_by("-number").defer("command", "options", "notes"))
    shown = numbered(request, versions, VERSIONS_A_PAGE)
    for version in versions:
        version.bot = bot
    rated = rated_of(visible)
    ladders = Ladder.objects.in_bulk(one.ladder for one in rated)
    rated_ladders = [ladders[code] for code in dict.fromkeys(one.ladder for one in rated)]
    active = _active_versions(bot, versions)
    context = {
        "bot": bot,
        "answers": access.may_ask(request.user, bot),
        "address": request.build_absolute_uri(bot.get_absolute_url()),
        "badge": request.build_absolute_uri(reverse("bot-badge", args=[bot.slug])),
        "manages": access.may_edit_bot(request.user, bot),
        **active,
        "versions": shown,
        "compared": _comparison(bot, rated),
        "tested": next((one for one in versions if one.state == BotVersion.State.VALID), None),
        "ratings": ratings_of({*shown.rows, *(plays for _, plays, *_ in active["places"] if plays)}),
        "rated_ladders": rated_ladders,
        "outdated": [ladder for ladder in rated_ladders if ladder.is_outdated],
        "files": [table_links("Ratings", "bot-ratings", slug)] if rated else [],
        "results": results_of(request, bot, rated),
        "page": games_of(request, bot=bot),
        "all_games": games_address(bot=bot.slug),
    }
    if request.user.is_authenticated and any(version.state == BotVersion.State.VALID for version in versions):
        own = access.enterable_bots(request.user).filter(owner=request.user)  # staff may enter others too
        if Bot.objects.filter(access.may_choose(request.user), pk=bot.pk).exists():
            context["own_bots"] = own.exclude(pk=bot.pk)
    if any(version.state in BotVersion.VALIDATED for version in versions):
        context["feed"] = feed_link(bot, request.user)
    return render(request, "bots/bot.html", context)


def _comparison(bot: Bot, rated: Iterable[Rated]) -> str:
    """The address that compares the two newest rated versions; empty for fewer."""
    numbers = sorted({one.number for one in rated}, reverse=True)
    if len(numbers) < 2:
        return ""
    return comparison_address(bot.slug, bot.slug, version=numbers[0], opponent_version=numbers[1])


@require_safe
def bot_ratings(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The ratings of a bot's versions on all ladders."""
    bot = find_bot(request, slug)
    rows = rating_rows(request, ratings_of(access.visible_versions_of(request.user, bot)))
    return served_rows(kind, "ratings", BotRatingRow, rows, file=f"{slug}-ratings", bot=bot.name)


@require_safe
def bot_results(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The results on the page of a bot, chosen as there by ``ladder`` and ``version``; all opponents."""
    bot = find_bot(request, slug)
    rated = rated_of(access.visible_versions_of(request.user, bot))
    results = results_of(request, bot, rated, all_opponents=True)
    if results is None:
        raise Http404(f"no rated games of {slug!r}")
    ladder, version = results["ladder"].code, results["version"]
    about = {"bot": bot.name, "ladder": ladder, "version": version.number if version else None}
    rows = result_rows(request, results)
    return served_rows(kind, "results", ResultRow, rows, file=f"{slug}-{ladder}-results", **about)


@takes_form
def bot_activity(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Choose the version that plays on ``ladder``; ``version=off`` chooses none."""
    bot = find_bot(request, slug)
    if not access.may_edit_bot(request.user, bot):
        raise Http404(f"no bot {slug!r} of this user")
    ladder, chosen = request.POST.get("ladder", ""), request.POST.get("version", "")
    try:
        _choose(bot, ladder, chosen)
    except ActivityError as refused:
        messages.error(request, as_sentence(str(refused)))
    else:
        messages.success(
            request, "Done. The change applies to the ladder at once, but not to tournaments that have begun."
        )
    return redirect(bot)


@takes_form
def bot_settings(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Choose who may ask the bot for searches and play against it, and who may enter it in events."""
    bot = find_bot(request, slug)
    if not access.may_edit_bot(request.user, bot):
        raise Http404(f"no bot {slug!r} of this user")
    answers = request.POST.get("answers") == "on"
    entered_by = request.POST.get("entered_by", bot.entered_by)
    if entered_by not in Bot.EnteredBy:
        messages.error(request, f"Nothing is saved: nobody is called {visible(entered_by, 20)!r}.")
        return redirect(bot)
    Bot.objects.filter(pk=bot.pk).update(answers=answers, entered_by=entered_by)
    asked = "Everybody may ask this bot now." if answers else "Only you may ask this bot now."
    entered = Bot.EnteredBy(entered_by).label
    messages.success(request, f"{asked} In events it can be entered by {entered}.")
    return redirect(bot)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def upload(request: AuthenticatedRequest) -> HttpResponse:
    """Accept a bundle; if it is refused, nothing is stored and the reason is shown beside the field."""
    form = UploadForm(request.POST if request.method == "POST" else None, request.FILES or None)
    status, wait_s = 200, 0
    if request.method == "POST" and form.is_valid():
        try:
            version = _submit(request.user, form)
        except TooMuch as too_much:
            again = in_words(too_much.seconds)
            form.add_error("bundle", f"These are too many uploads. Try again {again}.")
            status, wait_s = 429, too_much.seconds
        except BundleError as refused:
            form.add_error("bundle", as_sentence(str(refused)))
        else:
            messages.success(request, f"{version} is uploaded.")
            if is_part(request):  # the script, which must not take the message
                return HttpResponse(status=204, headers={"X-Location": version.get_absolute_url()})
            return redirect(version)
    elif form.has_error("bundle", TOO_LARGE):
        status = 413
    context = {
        "form": form,
        "games": GAMES,
        "uploads": uploads.current_state(),
        "runtimes": offered_runtimes(),
    }
    response = render(request, "bots/upload.html", context, status=status)
    if wait_s:
        response["Retry-After"] = str(wait_s)
    return response


def _submit(user: User, form: UploadForm) -> BotVersion:
    """Raises ``BundleError``, or ``TooMuch`` for too many uploads in a short time."""
    spend(user, UPLOAD_COST, timezone.now())
    try:
        return submit_bundle(user, form.cleaned_data["bundle"], notes=form.cleaned_data["notes"])
    except BundleError:
        refund(user, UPLOAD_COST - REQUEST_COST)
        raise


def find_bot(request: HttpRequest, slug: str) -> Bot:
    """The bot, if it exists and this user may see it."""
    return get_object_or_404(access.visible_bots(request.user).select_related("owner"), slug=slug)


def _active_versions(bot: Bot, versions: list[BotVersion]) -> dict[str, Any]:
    """Every ladder on which the bot has a valid version or had an active one, and what stops all games.

    For each ladder: the version that plays there, the versions to choose from, the next game; None for none.
    """
    actives = {active.ladder_id: active for active in bot.activities.select_related("version__bot")}
    state = queue_state(timezone.now())
    valid = [version for version in versions if version.state == BotVersion.State.VALID]
    places = []
    for code, game in GAMES.items():
        candidates = [version for version in valid if version.plays(code)]
        active = actives.get(code)
        if candidates or active:
            number = active.version_id if active and active.enabled else None
            plays = next((version for version in candidates if version.pk == number), None)
            next_game = next_game_of(state, active) if active else None
            places.append((game, plays, candidates, next_game))
    return {"places": places, "trouble": state.trouble}


def _choose(bot: Bot, ladder: str, chosen: str) -> None:
    """Raises ``ActivityError``, also for values that the page's form does not offer."""
    if chosen == "off":
        switch(bot, ladder, on=False)
        return
    number = int(chosen) if chosen.isascii() and chosen.isdigit() and len(chosen) < 10 else 0
    version = bot.versions.select_related("bot").filter(number=number).first()
    if version is None or ladder not in GAMES:
        raise ActivityError(f"{bot} has no version {chosen[:20]!r} on {ladder[:40]!r}")
    activate(version, ladder)


def ratings_of(versions: Iterable[BotVersion]) -> list[LadderRating]:
    """In the order of the ladders, the newest version first."""
    ratings = LadderRating.objects.filter(version__in=versions).select_related("ladder", "version__bot")
    order = list(GAMES)
    return sorted(ratings, key=lambda rating: (order.index(rating.ladder_id), -rating.version.number))


def rating_rows(request: HttpRequest, ratings: Iterable[LadderRating]) -> Iterator[BotRatingRow]:
    """The rows of these ratings; reads the versions' bots."""
    for rating in ratings:
        version = rating.version
        score = (rating.games, rating.wins, rating.draws, rating.losses)
        page = request.build_absolute_uri(version.get_absolute_url())
        numbers = (rating.conservative, rating.mu, rating.sigma)
        bot = version.bot
        yield BotRatingRow(bot.name, rating.ladder_id, version.number, *numbers, *score, page, bot.slug)


def games_of(request: HttpRequest, **player: Bot | BotVersion) -> Page:
    """The recorded games of a bot or a version that this user may see, newest first."""
    seats = Seat.objects.filter(**player)
    return by_finish(request, access.visible_games(request.user, seats), GAMES_A_PAGE)
