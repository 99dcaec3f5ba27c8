"""Notices and feed entries about a version: validated, refused, withdrawn, reinstated, forfeiting.

Feeds hold only versions that have been valid. All functions are part of the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.utils import timezone

from engines.rules.registry import GAMES
from tournament.models import BotVersion, Ladder
from tournament.models.webhooks import EventType
from tournament.sentences import as_sentence, enumerate_words, first_sentence, isolated
from tournament.services.accounts.notices import notify
from tournament.services.feeds import PublishedEvent, path_of, publish
from tournament.services.webhooks.events import facts_of, tell

FORFEITED = "It lost too many games in a row by its own fault, and plays no more games."
BY_OWNER = "Its owner withdrew it. It plays no more games."
BY_STAFF = "The site's staff withdrew it. It plays no more games."
REINSTATED = "It was withdrawn, and plays again from now on."


def tell_valid(version: BotVersion) -> None:
    """A version has become valid."""
    earlier = version.bot.versions.filter(state__in=BotVersion.VALIDATED, number__lt=version.number)
    what = "New version" if earlier.exists() else "New bot"
    plays = f"It plays {_ladder_names(version.games)}."
    text = f"{plays}\n\n{version.notes}" if version.notes else plays
    _publish(version, "valid", f"{what}: {isolated(version)}", text, to_owner=True)
    active = set(version.activities.filter(enabled=True).values_list("ladder", flat=True))
    where = _ladder_names([code for code in version.games if code in active])
    state = f"It is active on {where}." if where else "You have switched its ladders off."
    _tell_checked(version, f"{version} has passed its validation. {state}")


def tell_refused(version: BotVersion, reason: str) -> None:
    """A version is refused; only its owner is told."""
    why = as_sentence(first_sentence(reason))
    _tell_checked(version, f"{version} is refused. {why}", why)


def tell_withdrawn(version: BotVersion, reason: str, feed_text: str) -> None:
    """A valid version is withdrawn; only its owner is told the reason."""
    notify(version, f"{version} is withdrawn: {reason}. Correct the bot and upload the next version.")
    _publish(version, "withdrawn", f"Withdrawn: {isolated(version)}", feed_text)


def tell_reinstated(version: BotVersion) -> None:
    """A withdrawn version plays again."""
    notify(version, f"{version} was withdrawn, and plays again from now on.", is_warning=False)
    _publish(version, "reinstated", f"Plays again: {isolated(version)}", REINSTATED)


def tell_forfeiting(version: BotVersion, count: int, why: str) -> None:
    """A version has lost ``count`` games in a row by its own fault and will soon be withdrawn."""
    notify(
        version,
        f"{version} lost {count} games in a row by its own fault, the last: {why}. "
        f"After {settings.MAX_FORFEITS} such games it is withdrawn.",
    )


def _tell_checked(version: BotVersion, text: str, refusal: str = "") -> None:
    """Tell the owner and the owner's webhooks that a version is valid, or refused for this reason."""
    notify(version, text, is_warning=bool(refusal))
    if version.bot.owner is not None:
        state = BotVersion.State.REFUSED if refusal else BotVersion.State.VALID
        data = {**facts_of(version), "state": str(state), "reason": refusal}
        tell({version.bot.owner: text}, EventType.VERSION_CHECKED, version.get_absolute_url(), data)


def _publish(version: BotVersion, event: str, title: str, text: str, *, to_owner: bool = False) -> None:
    feeds: list[models.Model] = [version.bot, *(Ladder(code=code) for code in version.games)]
    if to_owner and version.bot.owner is not None:
        feeds.append(version.bot.owner)
    key = f"{path_of(version)}/{event}"
    publish([PublishedEvent(key, title, text, tuple(feeds), version=version)], timezone.now())


def _ladder_names(codes: Iterable[str]) -> str:
    return enumerate_words([GAMES[code].name for code in codes if code in GAMES])
