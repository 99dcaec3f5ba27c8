"""Open entry: owners enter their bots until a deadline, then the entered versions are fixed."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from tournament.formats.base import TournamentError
from tournament.models import Bot, BotVersion, Entry, Tournament
from tournament.services.locks import lock_tournament
from tournament.services.schedule.limits import check_games
from tournament.services.schedule.terms import check_size


@transaction.atomic
def enter(tournament: Tournament, bot: Bot) -> Entry:
    """Enter a bot; it takes part with the version that is active at the deadline.

    Raises ``TournamentError``.
    """
    locked = _open(tournament)
    version = playing_version(bot, locked.ladders, timezone.now())
    if version is None:
        raise TournamentError(f"bot: {bot.name!r} has no version that plays on {', '.join(locked.ladders)}")
    entries = locked.entries.select_related("version")
    if any(entry.version.bot_id == bot.pk for entry in entries):
        raise TournamentError(f"bot: {bot.name!r} is entered already")
    versions = [*(entry.version for entry in entries), version]
    check_size(locked, versions)
    check_games(locked, locked.owner, versions, entered=locked.name)
    last = locked.entries.aggregate(last=Max("number"))["last"] or 0
    return Entry.objects.create(tournament=locked, version=version, number=last + 1)


@transaction.atomic
def leave(tournament: Tournament, bot: Bot) -> None:
    """Withdraw a bot's entry; may be repeated. Raises ``TournamentError`` after the deadline."""
    _open(tournament).entries.filter(version__bot=bot).delete()


@transaction.atomic
def close_entries(tournament: Tournament, now: datetime.datetime) -> bool:
    """Fix the versions: those active for each bot at the deadline, or now if it has not passed yet.

    Bots without such a version are left out. May be repeated: False if it has no effect.
    """
    locked = lock_tournament(tournament.pk)
    if locked.entry_closed or locked.entry_until is None:
        return False
    for entry in locked.entries.select_related("version__bot"):
        version = playing_version(entry.version.bot, locked.ladders, min(now, locked.entry_until))
        if version is None:
            entry.delete()
        elif version.pk != entry.version_id:
            Entry.objects.filter(pk=entry.pk).update(version=version)
    Tournament.objects.filter(pk=locked.pk).update(entry_closed=True)
    tournament.entry_closed = True
    return True


def playing_version(bot: Bot, ladders: Sequence[str], moment: datetime.datetime) -> BotVersion | None:
    """The version that plays for a bot: the newest of its active versions on these ladders.

    If all of those were created after ``moment``: the newest valid version created by then. None if no ladder
    has one, or if the owner keeps the bot off all of them.
    """
    active = bot.activities.filter(ladder__in=ladders, enabled=True, version__state=BotVersion.State.VALID)
    chosen = [playing.version for playing in active.select_related("version__bot")]
    there = [version for version in chosen if version.created_at <= moment]
    if chosen and not there:
        open_to_it = [playing.ladder_id for playing in active]
        known = bot.versions.valid().filter(created_at__lte=moment).select_related("bot")
        there = [version for version in known if any(map(version.plays, open_to_it))]
    return max(there, key=lambda version: version.number, default=None)


def successors(versions: Sequence[BotVersion]) -> tuple[list[BotVersion], list[BotVersion]]:
    """The versions that play in the places of these in a new tournament, and those without a successor.

    Of each bot its newest active version; an older valid one only beside that.
    """
    active: dict[int, BotVersion] = {}
    for one in BotVersion.objects.entering().filter(bot__in={version.bot_id for version in versions}):
        active.setdefault(one.bot_id, one)
    found, gone = dict[BotVersion, None](), list[BotVersion]()
    for version in versions:
        newest = active.get(version.bot_id)
        if newest is None:
            gone.append(version)
        elif newest not in versions and newest not in found:
            found[newest] = None
        elif version.state == BotVersion.State.VALID:
            found[version] = None
    return list(found), gone


def leave_out_withdrawn(tournament: Tournament) -> list[str]:
    """Delete the entries of versions that are no longer valid; returns their names.

    Part of the caller's transaction, before the start. Raises ``TournamentError`` for a gauntlet's
    challenger, without which nothing can be played.
    """
    entries = list(tournament.entries.select_related("version__bot").order_by("number"))
    gone = [entry for entry in entries if entry.version.state != BotVersion.State.VALID]
    check_challenger(tournament, [entry.version for entry in entries])
    Entry.objects.filter(pk__in=[entry.pk for entry in gone]).delete()
    return [str(entry.version) for entry in gone]


def check_challenger(tournament: Tournament, versions: Sequence[BotVersion]) -> None:
    """Raise ``TournamentError`` if the first of these versions is a challenger that no longer plays."""
    is_out = bool(versions) and versions[0].state != BotVersion.State.VALID
    if tournament.format.has_challenger and is_out:
        raise TournamentError(f"bots: the challenger {str(versions[0])!r} is {versions[0].state}")


def _open(tournament: Tournament) -> Tournament:
    """The tournament's row, locked; raises ``TournamentError`` unless it takes entries."""
    locked = lock_tournament(tournament.pk)
    if not locked.takes_entries():
        raise TournamentError(f"entry: {locked.name!r} takes no entries now")
    return locked
