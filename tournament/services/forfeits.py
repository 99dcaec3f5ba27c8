"""Games lost by a bot's own fault: too many in a row and its version is withdrawn."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from engines.records import Fault
from tournament.models import BotVersion, Game, Tournament
from tournament.services.activity import activate, deactivate
from tournament.services.notices import notify


def count_forfeits(results: Iterable[tuple[Game, Fault]]) -> None:
    """Count recorded games, in their order, for and against their versions; part of the caller's transaction.

    The site's own bots are its staff's business, and a validation has a verdict of its own.
    """
    told: dict[int, list[tuple[Game, bool]]] = {}
    for game, fault in results:
        if game.tournament.kind != Tournament.Kind.VALIDATION:
            told.setdefault(game.white_id, []).append((game, fault is Fault.WHITE))
            told.setdefault(game.black_id, []).append((game, fault is Fault.BLACK))
    concerned = BotVersion.objects.filter(pk__in=told).select_related("bot__owner")
    faulty = [pk for pk, games in told.items() if any(is_own for _, is_own in games)]
    for version in concerned.filter(Q(pk__in=faulty) | Q(forfeits__gt=0)):
        _count(version, told[version.pk])


def _count(version: BotVersion, games: list[tuple[Game, bool]]) -> None:
    count = version.forfeits
    for game, is_own in games:
        count = count + 1 if is_own else 0
        if count >= settings.MAX_FORFEITS and version.bot.owner_id is not None:
            withdraw(version, f"it lost {count} games in a row by faults of its own, the last: {_why(game)}")
    BotVersion.objects.filter(pk=version.pk).update(forfeits=count)


def withdraw(version: BotVersion, reason: str) -> bool:
    """Let a valid version enter nothing more and tell its owner; part of the caller's transaction.

    Games that are scheduled are played: a tournament stays the same for all who are in it. Those of a
    ladder that are not begun are taken back. False if it was not valid.
    """
    valid = BotVersion.objects.valid().filter(pk=version.pk)
    if not valid.update(state=BotVersion.State.WITHDRAWN, state_reason=reason):
        return False
    deactivate(version)
    notify(version, f"{version} is withdrawn: {reason}. Mend it and upload the next version.")
    return True


@transaction.atomic
def reinstate(version: BotVersion) -> bool:
    """Let a withdrawn version play again; False if it was not withdrawn."""
    withdrawn = BotVersion.objects.filter(pk=version.pk, state=BotVersion.State.WITHDRAWN)
    if not withdrawn.update(state=BotVersion.State.VALID, state_reason="", forfeits=0):
        return False
    activate(version)
    return True


def _why(game: Game) -> str:
    """What happened, as it will stand on the game's page."""
    game.refresh_from_db(fields=["termination", "evidence"])
    if game.evidence.startswith(game.termination):  # as a limit's does
        return game.evidence
    return f"{game.termination} ({game.evidence})" if game.evidence else game.termination
