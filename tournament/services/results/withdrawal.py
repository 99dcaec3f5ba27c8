"""Withdraws versions that lost too many games in a row by their own fault or at will, and reinstates them."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from engines.records import Fault
from tournament.models import BotVersion, Game
from tournament.services.bots.activity import activate, deactivate
from tournament.services.bots.publishing import FORFEITED, tell_forfeiting, tell_reinstated, tell_withdrawn
from tournament.services.bots.verdicts import drop_program


def count_forfeits(results: Iterable[tuple[Game, Fault]]) -> None:
    """Update the forfeit counts for recorded games, in their order; part of the caller's transaction.

    Versions of the site's own bots are never withdrawn.
    """
    by_version: dict[int, list[tuple[Game, bool]]] = {}
    for game, fault in results:
        by_version.setdefault(game.white_id, []).append((game, fault is Fault.WHITE))
        by_version.setdefault(game.black_id, []).append((game, fault is Fault.BLACK))
    concerned = BotVersion.objects.filter(pk__in=by_version).select_related("bot__owner")
    faulty = [pk for pk, games in by_version.items() if any(is_own for _, is_own in games)]
    for version in concerned.filter(Q(pk__in=faulty) | Q(forfeits__gt=0)).order_by("pk"):
        _count(version, by_version[version.pk])


def _count(version: BotVersion, games: list[tuple[Game, bool]]) -> None:
    count = version.forfeits
    for game, is_own in games:
        count = count + 1 if is_own else 0
        if count >= settings.MAX_FORFEITS and version.bot.owner_id is not None:
            withdraw(version, f"it lost {count} games in a row by its own fault, the last: {_why(game)}")
        elif is_own and count == _warn_at() and version.state == BotVersion.State.VALID:
            tell_forfeiting(version, count, _why(game))
    BotVersion.objects.filter(pk=version.pk).update(forfeits=count)


def _warn_at() -> int:
    """Forfeits in a row after which an owner is warned: half of those that withdraw it; 0 for no warning."""
    return (settings.MAX_FORFEITS + 1) // 2 if settings.MAX_FORFEITS > 3 else 0


def withdraw(version: BotVersion, reason: str, feed_text: str = FORFEITED) -> bool:
    """Stop all games of a valid version and notify its owner; part of the caller's transaction.

    Its opponents win the games that are not recorded yet, at the calendar's next step: see
    ``schedule.walkovers``. ``feed_text`` is for everybody. False if the version was not valid.
    """
    valid = BotVersion.objects.valid().filter(pk=version.pk)
    if not valid.update(state=BotVersion.State.WITHDRAWN, state_reason=reason, has_games_to_end=True):
        return False
    deactivate(version)
    tell_withdrawn(version, reason, feed_text)
    return True


@transaction.atomic
def delete_program(version: BotVersion) -> bool:
    """Delete the bundle of a withdrawn version, which cannot play again; False if it may be needed yet.

    Its results and records stay.
    """
    withdrawn = BotVersion.objects.filter(pk=version.pk, state=BotVersion.State.WITHDRAWN)
    deletable = withdrawn.filter(has_games_to_end=False, has_program=True)
    if not deletable.update(has_program=False, licence="", source=""):
        return False
    drop_program(version)
    return True


@transaction.atomic
def reinstate(version: BotVersion) -> bool:
    """Let a withdrawn version play again; False if it was not withdrawn, or its owner's account is inactive.

    Closing an account deletes the programs of its bots; an owner can do so as well.
    """
    withdrawn = BotVersion.objects.filter(pk=version.pk, state=BotVersion.State.WITHDRAWN, has_program=True)
    withdrawn = withdrawn.exclude(bot__owner__is_active=False)
    if not withdrawn.update(state=BotVersion.State.VALID, state_reason="", forfeits=0):
        return False
    activate(version)
    tell_reinstated(version)
    return True


def _why(game: Game) -> str:
    """The reason, as it will appear on the game's page."""
    game.refresh_from_db(fields=["termination", "evidence"])
    if game.evidence.startswith(game.termination):  # true of the evidence of a limit
        return game.evidence
    return f"{game.termination} ({game.evidence})" if game.evidence else game.termination
