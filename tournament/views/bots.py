"""Bots and their versions, and the way in: the upload."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from engines.records import Fault
from engines.rules.registry import GAMES
from tournament import access, uploads
from tournament.forms import UploadForm, as_sentence
from tournament.models import Bot, BotVersion, Game, GameLog, LadderRating, Tournament
from tournament.services.bots import submit_bundle
from tournament.views.paging import LAST_ID, Page, by_id, numbered
from tournament.views.polling import unchanged
from tournament.views.ratings import RatedRow, rated_rows
from tournament.views.requests import AuthenticatedRequest
from tournament.views.verdict import verdict
from workers.bundles import BundleError
from workers.sandbox.runtimes import offered_runtimes

PAGE_SIZE = 50
GAMES_A_PAGE = 25


@dataclass(frozen=True, slots=True)
class Listed:
    """A bot in a list, with its newest version."""

    bot: Bot
    newest: BotVersion | None


@dataclass(frozen=True, slots=True)
class ValidationGame:
    """One game of a validation, told so that its author can mend the bot."""

    game: Game
    words: str
    opened: str
    """The side whose log is shown at once: the one at fault; empty where the game went well."""
    logs: list[GameLog]


@require_safe
def bots(request: HttpRequest) -> HttpResponse:
    """All bots by name."""
    page = numbered(request, Bot.objects.select_related("owner"), PAGE_SIZE)
    return render(request, "bots.html", {"page": page, "bots": listed(page.rows)})


@require_safe
def bot(request: HttpRequest, slug: str) -> HttpResponse:
    """A bot: versions, ratings, games; to its owner also why a version is in its state."""
    bot = get_object_or_404(Bot.objects.select_related("owner"), slug=slug)
    versions = list(bot.versions.order_by("-number"))
    for version in versions:
        version.bot = bot
    context = {
        "bot": bot,
        "manages": access.may_edit_bot(request.user, bot),
        "versions": versions,
        "ratings": _ratings(versions),
        "page": _games(request, versions),
    }
    return render(request, "bot.html", context)


@require_safe
@vary_on_headers("HX-Request")
def version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version: its state, its ratings and games; to its owner also how it came to its state."""
    version = _find(slug, number)
    polls = version.state == BotVersion.State.VALIDATING
    validation = version.validation
    seen = f"{version.state}-{validation.games_done if validation else 0}"
    if unchanged(request, seen):
        return HttpResponse(status=204)
    manages = access.may_edit_bot(request.user, version.bot)
    context = {
        "version": version,
        "manages": manages,
        "options": sorted(version.options.items()),
        "polls": polls,
        "seen": seen,
        "validation": _validation_games(validation) if validation and manages else [],
        "ratings": _ratings([version]),
        "page": _games(request, [version]),
    }
    return render(request, "version.html", context)


@require_safe
def bundle(request: HttpRequest, slug: str, number: int) -> FileResponse:
    """The version's zip, for its owner and staff; a sample's for everybody."""
    version = _find(slug, number)
    if not access.may_download_bundle(request.user, version):
        raise Http404(f"no bundle of {slug} {number} to be had")
    try:
        file = version.bundle.path.open("rb")
    except FileNotFoundError:
        raise Http404(f"the bytes of {version.bundle_id} are not here") from None
    return FileResponse(
        file, as_attachment=True, filename=f"{slug}-{number}.zip", content_type="application/zip"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def upload(request: AuthenticatedRequest) -> HttpResponse:
    """Take a bundle; a refused one leaves nothing behind and one sentence beside the field."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and form.is_valid():
        try:
            version = submit_bundle(
                request.user, form.cleaned_data["bundle"], notes=form.cleaned_data["notes"]
            )
        except BundleError as refused:
            form.add_error("bundle", as_sentence(str(refused)))
        else:
            messages.success(request, f"{version} is uploaded.")
            return redirect(version)
    context = {
        "form": form,
        "games": GAMES,
        "uploads": uploads.look(),
        "runtimes": offered_runtimes(),
    }
    return render(request, "upload.html", context)


def listed(bots: Iterable[Bot]) -> list[Listed]:
    """Bots with the newest version of each, in one query for all."""
    newer = BotVersion.objects.filter(bot=OuterRef("bot"), number__gt=OuterRef("number"))
    versions = BotVersion.objects.filter(~Exists(newer), bot__in=list(bots)).select_related("bot")
    newest = {version.bot_id: version for version in versions}
    return [Listed(bot, newest.get(bot.pk)) for bot in bots]


def _find(slug: str, number: int) -> BotVersion:
    if number > LAST_ID:
        raise Http404(f"no version {number}")
    versions = BotVersion.objects.select_related("bot__owner", "bundle", "validation")
    return get_object_or_404(versions, bot__slug=slug, number=number)


def _ratings(versions: list[BotVersion]) -> list[RatedRow]:
    """In the order of the ladders, newest version first."""
    ratings = LadderRating.objects.filter(version__in=versions).select_related("ladder", "version")
    order = {code: place for place, code in enumerate(GAMES)}
    return rated_rows(sorted(ratings, key=lambda rating: (order[rating.ladder_id], -rating.version.number)))


def _games(request: HttpRequest, versions: list[BotVersion]) -> Page:
    """Recorded games of these versions, newest first."""
    games = Game.objects.done().filter(Q(white__in=versions) | Q(black__in=versions))
    return by_id(request, access.visible_games(request.user, games.with_players()), GAMES_A_PAGE)


def _validation_games(validation: Tournament) -> list[ValidationGame]:
    games = list(validation.games.with_players().order_by("id"))
    logs: dict[int, list[GameLog]] = {}
    for log in GameLog.objects.filter(game__in=games).order_by("game", "-side"):
        logs.setdefault(log.game_id, []).append(log)
    return [ValidationGame(game, verdict(game), _at_fault(game), logs.get(game.pk, [])) for game in games]


def _at_fault(game: Game) -> str:
    """The side whose log tells what went wrong; of two engines that would not start either does."""
    if game.fault in {Fault.WHITE, Fault.BLACK}:
        return game.fault
    return GameLog.Side.WHITE if game.state == Game.State.HALTED else ""
