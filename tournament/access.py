"""Permissions: the only module that decides who may see and do what.

Staff may see and manage everything. Everybody may see bots, ladders, games and records.
Drafts and validations are visible to their owner, an engine's log to the owner of its bot. Everybody sees
the workers' names and states; only staff sees their machines, their errors and every bundle.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from tournament.models import Bot, BotVersion, Game, GameLog, GameRecord, Tournament, User
from tournament.models.tournaments import TournamentQuerySet

Visitor = User | AnonymousUser


def visible_tournaments(user: Visitor) -> TournamentQuerySet:
    """For lists: without validations, which are linked from their version's page."""
    tournaments = Tournament.objects.exclude(kind=Tournament.Kind.VALIDATION)
    if user.is_staff:
        return tournaments
    return tournaments.filter(~Q(state=Tournament.State.DRAFT) | Q(owner__isnull=False, owner=user.pk))


def visible_games(user: Visitor, games: QuerySet[Game]) -> QuerySet[Game]:
    """Those of ``games`` that lists show this visitor; validations are linked from their version's page."""
    games = games.exclude(tournament__kind=Tournament.Kind.VALIDATION)
    if user.is_staff:
        return games
    drafts = Q(tournament__state=Tournament.State.DRAFT)
    return games.filter(~drafts | Q(tournament__owner__isnull=False, tournament__owner=user.pk))


def public_records(ladder: str) -> QuerySet[GameRecord]:
    """The records of a ladder's file: all of the ladder in the order of completion, without validations."""
    records = GameRecord.objects.filter(game__ladder=ladder, game__sequence__isnull=False)
    return records.exclude(game__tournament__kind=Tournament.Kind.VALIDATION).order_by("game__sequence")


def may_see_tournament(user: Visitor, tournament: Tournament) -> bool:
    """Also whether its games may be seen."""
    private = tournament.kind == Tournament.Kind.VALIDATION or tournament.state == Tournament.State.DRAFT
    return not private or _is_owner(user, tournament.owner_id)


def may_see_profile(user: Visitor, person: User) -> bool:
    """Everybody may see the page of a person who has bots or tournaments that everybody sees."""
    if _is_owner(user, person.pk) or person.bots.exists():
        return True
    return visible_tournaments(user).filter(owner=person).exists()


def may_edit_tournament(user: Visitor, tournament: Tournament) -> bool:
    """Start and cancel it."""
    return _is_owner(user, tournament.owner_id)


def may_edit_bot(user: Visitor, bot: Bot) -> bool:
    return _is_owner(user, bot.owner_id)


def may_download_bundle(user: Visitor, version: BotVersion) -> bool:
    """Everybody may download the samples: their source is part of the product."""
    return version.bot.is_sample or _is_owner(user, version.bot.owner_id)


def may_see_log(user: Visitor, game: Game, side: str) -> bool:
    """``side`` is that of ``GameLog``: each log is for the owner of the bot that wrote it."""
    version = game.white if side == GameLog.Side.WHITE else game.black
    return _is_owner(user, version.bot.owner_id)


def may_manage_workers(user: Visitor) -> bool:
    """Also whether the user sees their machines and errors."""
    return user.is_staff


def may_lend_bundles(user: Visitor) -> bool:
    """Whether the user may have tokens with which workers on other hosts fetch all bundles."""
    return user.is_staff


def _is_owner(user: Visitor, owner: int | None) -> bool:
    """Objects without an owner belong to the site and are managed by staff."""
    return user.is_staff or (owner is not None and user.pk == owner)
