"""Permissions: the only module that decides who may see and do what.

Staff may see and manage everything. Everybody may see ladders, games, records, version tests, bots of which
a version has passed its validation, and the bundles of published versions; other bots and refused versions
are visible to their owner. So are drafts and validations, and an engine's log to the owner of its bot.
Everybody sees the workers' names and states, and in evidence the reasons of their void attempts; only staff
sees their machines, their other errors and every bundle.
"""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet

from tournament.formats import kinds
from tournament.models import Bot, BotVersion, FeedEntry, Game, GameLog, GameRecord, Seat, Tournament, User
from tournament.models.bots import BotVersionQuerySet
from tournament.models.tournaments import TournamentQuerySet

State = Tournament.State
Visitor = User | AnonymousUser
PUBLIC = AnonymousUser()
"""The visitor for what is the same for everybody."""
_Games = TypeVar("_Games", Game, Seat)


def visible_bots(user: Visitor) -> QuerySet[Bot]:
    """Bots with a version that has passed its validation, and the user's own."""
    bots = Bot.objects.all()
    if user.is_staff:
        return bots
    validated = BotVersion.objects.filter(bot=OuterRef("pk"), state__in=BotVersion.VALIDATED)
    return bots.filter(Exists(validated) | Q(owner__isnull=False, owner=user.pk))


def visible_versions(user: Visitor, versions: BotVersionQuerySet) -> BotVersionQuerySet:
    """Those of ``versions`` that this user may see: of others, none that is refused and no hidden bot's."""
    if user.is_staff:
        return versions
    is_public = Q(bot__in=visible_bots(PUBLIC)) & ~Q(state=BotVersion.State.REFUSED)
    return versions.filter(is_public | Q(bot__owner__isnull=False, bot__owner=user.pk))


def visible_versions_of(user: Visitor, bot: Bot) -> QuerySet[BotVersion]:
    """The versions that this user may see of a bot that this user may see."""
    versions = bot.versions.all()
    return versions if _is_owner(user, bot.owner_id) else versions.exclude(state=BotVersion.State.REFUSED)


def public_entries(entries: QuerySet[FeedEntry]) -> QuerySet[FeedEntry]:
    """Those of ``entries`` that everybody may see; feeds are the same for all readers."""
    return entries.filter(
        Q(version__isnull=True) | Q(version__state__in=BotVersion.VALIDATED),
        Q(tournament__isnull=True) | ~(Q(tournament__state=State.DRAFT) | Q(tournament__is_discarded=True)),
    )


def visible_tournaments(user: Visitor) -> TournamentQuerySet:
    """For lists: without validations, which are linked from their version's page, and version tests."""
    tournaments = Tournament.objects.public()
    if user.is_staff:
        return tournaments
    private = Q(state=State.DRAFT) | Q(is_discarded=True)
    return tournaments.filter(~private | Q(owner__isnull=False, owner=user.pk))


def visible_version_tests() -> TournamentQuerySet:
    """For their list: all, because a version test is public from its start, like its games."""
    return Tournament.objects.filter(version_test__isnull=False)


def visible_games(user: Visitor, games: QuerySet[_Games]) -> QuerySet[_Games]:
    """Those of ``games``, or of seats, that lists show; validations are linked from their version's page.

    Games of a user's own workers are in lists for this user alone. Not a join, which looks at the tournament
    of each game that is read, not only of those that match.
    """
    hidden = ~Q(kind__in=kinds(lambda one: one.is_public))
    if not user.is_staff:
        private = Q(state=State.DRAFT) | Q(is_discarded=True) | Q(own_workers=True)
        hidden |= private & ~Q(owner__isnull=False, owner=user.pk)
    return games.filter(~Exists(Tournament.objects.filter(hidden, pk=OuterRef("tournament"))))


def counted_games(path: str = "") -> Q:
    """A filter for tournaments, or for rows with one at ``path``, whose games are counted for everybody.

    Not for validations, nor for games of a user's own workers, whose word counts for this user alone.
    """
    public = kinds(lambda one: one.is_public)
    return Q(**{f"{path}kind__in": public, f"{path}own_workers": False})


def public_records(ladder: str) -> QuerySet[GameRecord]:
    """The records of a ladder's file: those that count for everybody, in the order of completion."""
    records = GameRecord.objects.filter(game__ladder=ladder, game__sequence__isnull=False)
    return records.filter(counted_games("game__tournament__")).order_by("game__sequence")


def may_see_tournament(user: Visitor, tournament: Tournament) -> bool:
    """Also whether its games may be seen."""
    is_draft = tournament.state == State.DRAFT or tournament.is_discarded
    return (tournament.format.is_public and not is_draft) or _is_owner(user, tournament.owner_id)


def may_see_profile(user: Visitor, person: User) -> bool:
    """Everybody may see the page of a person who has bots or tournaments that everybody sees."""
    if _is_owner(user, person.pk) or visible_bots(user).filter(owner=person).exists():
        return True
    return visible_tournaments(user).filter(owner=person).exists()


def may_edit_tournament(user: Visitor, tournament: Tournament) -> bool:
    """Start and cancel it."""
    return _is_owner(user, tournament.owner_id)


def testable_versions(user: User) -> QuerySet[BotVersion]:
    """The versions that the user may choose for a version test: valid ones of own bots; staff may others."""
    valid = BotVersion.objects.valid().select_related("bot").order_by("bot__name_key", "-number")
    return valid.filter(may_choose(user, "bot__") if user.is_staff else Q(bot__owner=user))


def enterable_bots(user: User) -> QuerySet[Bot]:
    """The bots that the user may enter in tournaments of others: valid own ones, staff's also others."""
    valid = Bot.objects.filter(versions__state=BotVersion.State.VALID)
    mine = valid.filter(may_choose(user) if user.is_staff else Q(owner=user))
    return mine.distinct().order_by("name_key")


def may_choose(organizer: User | None, path: str = "") -> Q:
    """A filter for bots, or for rows with one at ``path``: those that a user may choose for own events.

    Owners say who may, and always may themselves. None is the site, whose events are those of staff.
    """
    kept = [Bot.EnteredBy.OWNER]
    if organizer is not None and not organizer.is_staff:
        kept.append(Bot.EnteredBy.STAFF)
    allowed = ~Q(**{f"{path}entered_by__in": kept})
    return allowed | Q(**{f"{path}owner": organizer}) if organizer is not None else allowed


def may_edit_bot(user: Visitor, bot: Bot) -> bool:
    return _is_owner(user, bot.owner_id)


def may_download_bundle(user: Visitor, version: BotVersion) -> bool:
    """Everybody may download published versions, and the samples: their source is part of the product."""
    is_own = _is_owner(user, version.bot.owner_id)
    return is_own or BotVersion.objects.published().filter(pk=version.pk).exists()


def may_play_at_home(user: User, version: BotVersion) -> bool:
    """Whether the user's own workers may fetch and play the version: own bots, and what everybody may have.

    Of staff too: such a worker gets no bundle of others.
    """
    return _is_own(user, version.bot.owner_id) or may_download_bundle(PUBLIC, version)


def may_publish(user: Visitor, version: BotVersion) -> bool:
    """Whether the user may license the version to everybody: its owner, once it has passed its validation."""
    is_own = _is_own(user, version.bot.owner_id)
    return is_own and version.has_program and version.state in BotVersion.VALIDATED


def may_ask(user: Visitor | None, bot: Bot) -> bool:
    """Whether the user may have the bot search, and play against it."""
    return bot.is_sample or bot.answers or (user is not None and _is_owner(user, bot.owner_id))


def everybody_may_ask(path: str = "") -> Q:
    """A filter for bots, or for rows with one at ``path``: those that ``may_ask`` grants everybody."""
    return Q(**{f"{path}answers": True}) | Q(**{f"{path}owner": None})


def may_see_log(user: Visitor, game: Game, side: str) -> bool:
    """``side`` is that of ``GameLog``: each log is for the owner of the bot that wrote it."""
    version = game.white if side == GameLog.Side.WHITE else game.black
    return _is_owner(user, version.bot.owner_id)


def may_reinstate(user: Visitor) -> bool:
    """Whether the user may let a withdrawn version play again."""
    return user.is_staff


def may_set_priority(user: Visitor) -> bool:
    """Whether the user may set the priorities of tournaments."""
    return user.is_staff


def may_rate_off_terms(user: Visitor) -> bool:
    """Whether the user's tournaments may be rated on other terms than the ladders'."""
    return user.is_staff


def has_limits(user: Visitor) -> bool:
    """Whether the user's tournaments, games and slot hours are limited."""
    return not user.is_staff


def may_run_site(user: Visitor) -> bool:
    """Whether the user sees the site's state, its workers' machines and the log of acts, and annuls games."""
    return user.is_staff


def may_close_account(user: Visitor) -> bool:
    """Whether the user closes the own account; one of staff is closed by other staff."""
    return not user.is_staff


def may_lend_bundles(user: Visitor) -> bool:
    """Whether the user may have tokens with which workers on other hosts fetch all bundles."""
    return user.is_staff


def _is_owner(user: Visitor, owner: int | None) -> bool:
    """Objects without an owner belong to the site and are managed by staff."""
    return user.is_staff or _is_own(user, owner)


def _is_own(user: Visitor, owner: int | None) -> bool:
    """Whether the user is the owner, without the rights of staff."""
    return owner is not None and user.pk == owner
