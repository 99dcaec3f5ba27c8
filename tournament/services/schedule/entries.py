"""Open entry: owners enter their bots until a deadline, then the entered versions are fixed."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from tournament import access
from tournament.formats.base import TournamentError
from tournament.models import Bot, BotVersion, Entry, Tournament, User
from tournament.services.locks import lock_tournament
from tournament.services.schedule.limits import check_games
from tournament.services.schedule.terms import check_size


@transaction.atomic
def enter(tournament: Tournament, bot: Bot, by: User | None = None) -> Entry:
    """Enter a bot; it takes part with the version that is active at the deadline.

    ``by`` is who does it, unless it is its owner: then the organizer must be one who may choose the bot.
    Raises ``TournamentError``.
    """
    locked = _open(tournament)
    by_owner = by is None or by.pk == bot.owner_id
    version = playing_version(bot, locked.ladders, timezone.now())
    if version is None:
        raise TournamentError(f"bot: {bot.name!r} has no version that plays on {', '.join(locked.ladders)}")
    entries = locked.entries.select_related("version")
    if any(entry.version.bot_id == bot.pk for entry in entries):
        raise TournamentError(f"bot: {bot.name!r} is entered already")
    if not by_owner:
        check_choice(locked.owner, [version])
    versions = [*(entry.version for entry in entries), version]
    check_size(locked, versions)
    check_games(locked, locked.owner, versions, entered=locked.name)
    last = locked.entries.aggregate(last=Max("number"))["last"] or 0
    return Entry.objects.create(tournament=locked, version=version, number=last + 1, by_owner=by_owner)


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


def successors(versions: Sequence[BotVersion], organizer: User) -> tuple[list[BotVersion], list[BotVersion]]:
    """The versions that play in the places of these in a new tournament, and those without a successor.

    Of each bot its newest active version; an older valid one only beside that.
    """
    active: dict[int, BotVersion] = {}
    allowed = BotVersion.objects.entering().filter(access.may_choose(organizer, "bot__"))
    for one in allowed.filter(bot__in={version.bot_id for version in versions}):
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


def leave_out(tournament: Tournament) -> str:
    """Delete the entries of versions that no longer play; returns which and why, empty if none.

    Part of the caller's transaction, before the start. Raises ``TournamentError`` for a gauntlet's
    challenger, without which nothing can be played.
    """
    entries = list(tournament.entries.select_related("version__bot").order_by("number"))
    check_challenger(tournament, [entry.version for entry in entries])
    invalid = [entry for entry in entries if entry.version.state != BotVersion.State.VALID]
    kept = [entry for entry in kept_entries(tournament) if entry not in invalid]
    if tournament.format.has_challenger and entries and entries[0] in kept:
        check_choice(tournament.owner, [entries[0].version])
    Entry.objects.filter(pk__in=[entry.pk for entry in invalid + kept]).delete()
    reasons = {"which had become invalid": invalid, "whose owner no longer lets others enter it": kept}
    return " and ".join(
        f"without {', '.join(str(entry.version) for entry in gone)}, {why}"
        for why, gone in reasons.items()
        if gone
    )


def kept_entries(tournament: Tournament) -> list[Entry]:
    """Entries that the organizer chose and may not choose any more."""
    others = tournament.entries.filter(by_owner=False).select_related("version__bot")
    return list(others.exclude(access.may_choose(tournament.owner, "version__bot__")))


def check_choice(organizer: User | None, versions: Sequence[BotVersion]) -> None:
    """Check that the organizer may choose these; raises ``TournamentError``. None is the site."""
    chosen = BotVersion.objects.filter(pk__in=[version.pk for version in versions]).select_related("bot")
    if kept := chosen.exclude(access.may_choose(organizer, "bot__")).first():
        raise TournamentError(f"bots: {str(kept)!r} can be entered by {kept.bot.get_entered_by_display()}")


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
