"""The way from an account to a rated game, and the bots to begin with."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tournament import kit
from tournament.forms import UploadForm
from tournament.models import BotVersion, RatingEvent
from tournament.services.uploads import availability as uploads
from tournament.views.downloads import attached
from tournament.views.site.documents import ZIP_TYPE
from workers.sandbox.runtimes import offered_runtimes


@require_safe
@never_cache
def start(request: HttpRequest) -> HttpResponse:
    """The steps, and which of them this visitor has done with the bot that was uploaded last."""
    version = game = None
    if request.user.is_authenticated:
        versions = BotVersion.objects.filter(bot__owner=request.user).select_related("bot")
        version = versions.order_by("-pk").first()
    if version is not None:
        events = RatingEvent.objects.filter(version__bot=version.bot_id)
        game = events.order_by("version", "ladder", "sequence").values_list("game", flat=True).first()
    words = {runtime.word for runtime in offered_runtimes()}
    context = {
        "version": version,
        "game": game,
        "done": _done(request, version, game),
        "form": UploadForm() if request.user.is_authenticated else None,
        "samples": [one for one in kit.samples() if not one.is_ready or one.manifest.command[0] in words],
        "ladder": kit.samples()[0].manifest.games[0],
        "size": len(kit.kit()),
        "uploads": uploads.current_state(),
    }
    return render(request, "site/start.html", context)


def _done(request: HttpRequest, version: BotVersion | None, game: int | None) -> int:
    """The number of the last step that is done."""
    if version is None:
        return int(request.user.is_authenticated)
    if version.state not in BotVersion.VALIDATED:
        return 3
    return 4 if game is None else 5


@require_safe
def kit_example(request: HttpRequest, name: str) -> HttpResponse:
    """A bot's zip that can be uploaded as it is."""
    content = kit.example(name)
    if content is None:
        raise Http404(f"no example {name!r}")
    return attached(content, f"{name}.zip", ZIP_TYPE)
