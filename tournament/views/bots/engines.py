"""Versions as JSON for programs elsewhere that run them: ``python3 -m engines get``, matches and replays."""

from __future__ import annotations

from django.http import Http404, HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from tournament import access
from tournament.models import Bot, BotVersion
from tournament.views.paging import LAST_ID, whole_number


@require_safe
def engine(request: HttpRequest) -> JsonResponse:
    """The version ``number`` of the bot with this ``name``, which may be that in its address.

    Without a number it is the newest published version, or else the newest that this user may see.
    """
    name = request.GET.get("name", "")
    bot = Bot.objects.called(name)
    versions = access.visible_versions(request.user, BotVersion.objects.filter(bot=bot).order_by("-number"))
    if number := whole_number(request, "number", 0, most=LAST_ID):
        found = versions.filter(number=number).first()
    else:
        found = versions.published().first() or versions.first()
    if found is None:
        raise Http404(f"no such version of {name!r}")
    return JsonResponse(engine_values(request, found))


def engine_values(request: HttpRequest, version: BotVersion) -> dict[str, str | None]:
    """How programs elsewhere get a version; ``bundle`` is None if this user may not download it."""
    bundle = reverse("bundle", args=[version.bot.slug, version.number])
    return {
        "name": version.bot.name,
        "version": str(version.number),
        "sha256": version.bundle_id,
        "page": version.get_absolute_url(),
        "bundle": bundle if access.may_download_bundle(request.user, version) else None,
        "licence": version.licence,
        "source": version.source,
    }
