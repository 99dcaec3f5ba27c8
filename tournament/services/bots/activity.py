"""Which version of a bot plays: a valid one on each ladder, chosen by its owner or else the newest."""

from __future__ import annotations

from django.db import transaction

from tournament.models import ActiveVersion, Bot, BotVersion
from tournament.services.locks import lock_row


class ActivityError(ValueError):
    """A choice that is not possible: one sentence."""


@transaction.atomic
def activate(version: BotVersion, ladder: str | None = None) -> None:
    """Make a valid version its bot's active one on ``ladder``, or on all that it plays; may be repeated.

    A ladder that the owner switched off stays off until a version is chosen there. Raises ``ActivityError``.
    """
    # Lock the bot's row first, so that simultaneous choices run one after the other.
    lock_row(Bot.objects.all(), version.bot_id)
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
    """Make a version inactive on all ladders; part of the caller's transaction.

    The newest other valid version replaces it.
    """
    lock_row(Bot.objects.all(), version.bot_id)
    for active in ActiveVersion.objects.filter(version=version):
        others = BotVersion.objects.valid().filter(bot=version.bot_id).exclude(pk=version.pk)
        successors = [other for other in others.order_by("-number") if other.plays(active.ladder_id)]
        if successors:
            active.version = successors[0]
            active.save(update_fields=["version"])
        else:
            active.delete()
