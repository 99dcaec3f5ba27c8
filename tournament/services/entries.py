"""Open entry: owners enter their bots until a deadline, then the versions they play with are frozen."""

from __future__ import annotations

import datetime

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from tournament.models import Bot, BotVersion, Entry, Tournament
from tournament.services.schedule import TournamentError, check_size, players_of


@transaction.atomic
def enter(tournament: Tournament, bot: Bot) -> Entry:
    """Enter a bot; until the deadline it takes part with whatever its newest valid version is then.

    Raises ``TournamentError``.
    """
    locked = _open(tournament)
    version = playing_version(bot, timezone.now())
    if version is None:
        raise TournamentError(f"bot: {bot.name!r} has no valid version")
    if not any(version.plays(code) for code in locked.ladders):
        raise TournamentError(f"bot: {str(version)!r} plays none of {', '.join(locked.ladders)}")
    entries = locked.entries.select_related("version")
    if any(entry.version.bot_id == bot.pk for entry in entries):
        raise TournamentError(f"bot: {bot.name!r} is entered already")
    players = players_of([*(entry.version for entry in entries), version], locked.ladders)
    check_size(locked.kind, players, locked.pairs, locked.rounds)
    last = locked.entries.aggregate(last=Max("number"))["last"] or 0
    return Entry.objects.create(tournament=locked, version=version, number=last + 1)


@transaction.atomic
def leave(tournament: Tournament, bot: Bot) -> None:
    """Take a bot's entry back; may be repeated. Raises ``TournamentError`` after the deadline."""
    _open(tournament).entries.filter(version__bot=bot).delete()


@transaction.atomic
def close_entries(tournament: Tournament, now: datetime.datetime) -> None:
    """Freeze the versions: each bot's newest valid one of now or, once that has passed, of the deadline.

    Bots that have none any more are left out. May be repeated: only the first time has an effect.
    """
    locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
    if locked.entry_closed or locked.entry_until is None:
        return
    for entry in locked.entries.select_related("version__bot"):
        version = playing_version(entry.version.bot, min(now, locked.entry_until))
        if version is None or not any(version.plays(code) for code in locked.ladders):
            entry.delete()
        elif version.pk != entry.version_id:
            Entry.objects.filter(pk=entry.pk).update(version=version)
    Tournament.objects.filter(pk=locked.pk).update(entry_closed=True)
    tournament.entry_closed = True


def playing_version(bot: Bot, moment: datetime.datetime) -> BotVersion | None:
    """The bot's newest version that is valid and was there at this moment."""
    known = bot.versions.filter(state=BotVersion.State.VALID, created_at__lte=moment)
    return known.select_related("bot").order_by("-number").first()


def _open(tournament: Tournament) -> Tournament:
    """The row, locked, while it takes entries."""
    locked = Tournament.objects.select_for_update().get(pk=tournament.pk)
    if not locked.takes_entries():
        raise TournamentError(f"entry: {locked.name!r} takes no entries now")
    return locked
