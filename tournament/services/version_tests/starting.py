"""Starts version tests, within the limits that the site sets for an account."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from engines.arithmetic.statistics import StatisticsError
from engines.pairing.meetings import GAMES_A_PAIR
from engines.visible import visible
from tournament.formats.base import TournamentError
from tournament.formats.version_test import VersionTestFormat
from tournament.models import BotVersion, Tournament, User, VersionTest
from tournament.services.schedule.limits import lock_account
from tournament.services.schedule.terms import MAX_NAME, MAX_PRIORITY, TournamentTerms, check_range
from tournament.services.schedule.tournaments import create
from tournament.services.version_tests.progress import advance
from workers.sequential import Sprt

PRIORITY = -MAX_PRIORITY - 1
"""Below that of every tournament and ladder."""
State = Tournament.State


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTestTerms:
    """What a version test asks and how its games are played; the hypotheses are in normalized Elo."""

    candidate: BotVersion
    baseline: BotVersion
    ladder: str
    elo0: float
    elo1: float
    most_games: int
    """The test ends undecided after this number of games; of an odd number the last is not played."""
    time_control: str
    opening_plies: int
    seed: int
    own_workers: bool = False
    """Whether the owner's own workers play the games, see ``Tournament``."""


@transaction.atomic
def start_test(owner: User, terms: VersionTestTerms) -> Tournament:
    """Store and start a version test; raises ``TournamentError`` and stores nothing."""
    _check_quota(owner)
    check_range("most games", terms.most_games, GAMES_A_PAIR, settings.MAX_TEST_GAMES)
    try:
        Sprt(terms.elo0, terms.elo1).check()
    except StatisticsError as error:
        raise TournamentError(f"elo1: {error}") from None
    tournament = create(owner, _tournament_terms(terms))
    tournament.state, tournament.priority, tournament.started_at = State.RUNNING, PRIORITY, timezone.now()
    tournament.save(update_fields=["state", "priority", "started_at"])
    VersionTest.objects.create(
        tournament=tournament,
        elo0=terms.elo0,
        elo1=terms.elo1,
        most_pairs=terms.most_games // GAMES_A_PAIR,
    )
    advance(tournament.pk)
    tournament.refresh_from_db()
    return tournament


def _tournament_terms(terms: VersionTestTerms) -> TournamentTerms:
    candidate, baseline = terms.candidate, terms.baseline
    same_bot = candidate.bot_id == baseline.bot_id
    name = f"{candidate} against {f'v{baseline.number}' if same_bot else baseline}"
    return TournamentTerms(
        name=visible(name, MAX_NAME),
        kind=VersionTestFormat.code,
        versions=[candidate, baseline],
        ladders=[terms.ladder],
        pairs=1,
        time_control=terms.time_control,
        seed=terms.seed,
        opening_plies=terms.opening_plies,
        rated=False,
        own_workers=terms.own_workers,
    )


def _check_quota(owner: User) -> None:
    """Check that one more test of the account may run; part of the caller's transaction.

    Locks the account's row: of two simultaneous starts the second counts the first.
    """
    lock_account(owner.pk)
    count = Tournament.objects.running().filter(version_test__isnull=False, owner=owner).count()
    if count >= settings.MAX_TESTS:
        are = "test of yours is" if count == 1 else "tests of yours are"
        raise TournamentError(
            f"tests: {count} version {are} running, and this site runs no more than {settings.MAX_TESTS} "
            "of one account at a time: stop one, or wait until one is decided"
        )
