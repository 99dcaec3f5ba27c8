"""Which version of a bot plays: one on each ladder, a valid one, by its owner's choice or the newest."""

from __future__ import annotations

from django.db import transaction

from tournament.models import ActiveVersion, Bot, BotVersion


class ActivityError(ValueError):
    """A choice that cannot be: one sentence."""


@transaction.atomic
def activate(version: BotVersion, ladder: str | None = None) -> None:
    """Let a valid version be its bot's on ``ladder``, or on all that it plays; may be repeated.

    What the owner switched off stays off until he chooses a version there. Raises ``ActivityError``.
    """
    # The bot's row is locked first: two choices at once come one after the other.
    Bot.objects.select_for_update().get(pk=version.bot_id)
    version.refresh_from_db(fields=["state"])
    if version.state != BotVersion.State.VALID:
        raise ActivityError(f"{version} is {version.state}: only a valid version can play")
    if ladder is not None and not version.plays(ladder):
        raise ActivityError(f"{version} does not play {ladder}")
    chosen = {"version": version} if ladder is None else {"version": version, "enabled": True}
    for code in version.games if ladder is None else [ladder]:
        ActiveVersion.objects.update_or_create(bot_id=version.bot_id, ladder_id=code, defaults=chosen)


def switch(bot: Bot, ladder: str, *, on: bool) -> None:
    """Keep a bot off a ladder, or let the version that was active there play again; may be repeated."""
    if not ActiveVersion.objects.filter(bot=bot, ladder_id=ladder).update(enabled=on):
        raise ActivityError(f"no version of {bot} is active on {ladder}")


def deactivate(version: BotVersion) -> None:
    """Let it enter nothing more, on any ladder; part of the caller's transaction.

    The newest other valid version takes its place.
    """
    for active in ActiveVersion.objects.filter(version=version):
        others = BotVersion.objects.valid().filter(bot=version.bot_id).exclude(pk=version.pk)
        heirs = [other for other in others.order_by("-number") if other.plays(active.ladder_id)]
        if heirs:
            active.version = heirs[0]
            active.save(update_fields=["version"])
        else:
            active.delete()
