"""The course of a version test: counts its pairs in their order, decides it, and makes its next pairs.

A step runs under the tournament's lock and depends only on the results of the games, so it may be taken at
any time, by several processes, and again after a kill. A pair counts when both of its games are recorded and
all earlier pairs have counted: neither the number of workers nor the order of their reports changes the
verdict. When the test is over, its games that are not recorded yet are cancelled and do not count. If staff
annuls games, the pairs are counted again without theirs (``recount``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from engines.arithmetic.ratings import POINTS
from engines.formats.planning import PlannedPairing, pairing_seed
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.base import Result
from tournament.formats.base import TournamentError
from tournament.models import BotVersion, CountedPair, Game, Pairing, Tournament, User, VersionTest
from tournament.models.version_tests import no_pairs
from tournament.services.locks import lock_tournament
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.finishing import cancel_open_games
from tournament.services.schedule.organizing import log_act
from tournament.services.schedule.pairings import entered_versions, openings_of, store_pairings
from tournament.services.work.durations import BATCH_SECONDS, MAX_PAIRS, seconds_by_version, slots_expected
from workers.sequential import SequentialTest

BATCHES_AHEAD = 2
"""Pairs that are made ahead for each slot, in batches: one batch is played and one waits."""
MAX_LEFT_OUT = 10
"""A test is stopped when so many of its pairs could not be played."""
UNDECIDED = "staff annulled games, and the pairs that are left decide nothing"
State, Outcome = Tournament.State, VersionTest.Outcome


def tend_tests() -> int:
    """Take every step that is due; returns how many. A test that raises does not stop the others."""
    running = Tournament.objects.running().filter(version_test__isnull=False)
    due = running.filter(
        Q(version_test__games_seen__isnull=True) | ~Q(version_test__games_seen=F("games_done"))
    )
    return take_steps(due.order_by("id"), advance)


@transaction.atomic
def advance(pk: int) -> bool:
    """Count the pairs that are over, then end the test or make its next pairs; False if it is over."""
    tournament = lock_tournament(pk)
    if tournament.state != State.RUNNING or not tournament.format.is_sequential:
        return False
    test = tournament.version_test
    played = _played_pairs(tournament, after=test.looked_at)
    outcome = _count(test, played)
    test.games_seen = tournament.games_done
    test.save()
    versions = entered_versions(tournament)
    if outcome:
        _end(tournament, test, outcome)
    elif why := _why_stop(test, versions):
        _end(tournament, test, Outcome.STOPPED, why)
    else:
        _make_pairs(tournament, test, versions, played)
    return True


def stop_test(tournament: Tournament, reason: str) -> None:
    """End a running test without a verdict; raises ``TournamentError`` if it is over.

    Pairs that are over are counted first, so that a verdict which they have reached already is kept.
    """
    with transaction.atomic():
        advance(tournament.pk)
        locked = lock_tournament(tournament.pk)
        is_running = locked.state == State.RUNNING
        if is_running:
            _end(locked, locked.version_test, Outcome.STOPPED, reason)
    tournament.refresh_from_db()
    if not is_running:
        raise TournamentError(f"state: {tournament.name!r} is over already")


def stop_for(user: User, tournament: Tournament) -> None:
    """``stop_test`` for its owner, or for staff, which the log then has."""
    is_own = tournament.owner_id == user.pk
    who = "its owner" if is_own else "the site's staff"
    stop_test(tournament, f"{who} stopped it")
    if not is_own:
        log_act(user, tournament, "stopped it")


@transaction.atomic
def recount(pk: int) -> None:
    """Count all pairs again, because games were annulled or count again; may be repeated.

    A test that had a verdict and has none from the pairs that are left is stopped; its games do not continue.
    A test that was stopped stays stopped.
    """
    tournament = lock_tournament(pk)
    test = tournament.version_test
    test.counted.all().delete()
    test.looked_at = test.left_out = test.wins = test.draws = test.losses = 0
    test.counts, test.ratio, test.games_seen = no_pairs(), 0.0, None
    outcome = None if tournament.state == State.RUNNING else _count(test, _played_pairs(tournament, after=0))
    if tournament.state == State.FINISHED:
        test.outcome = outcome or Outcome.STOPPED
        tournament.state_reason = "" if outcome else UNDECIDED
        tournament.save(update_fields=["state_reason"])
    test.save()
    advance(pk)


# Counting


@dataclass(frozen=True, slots=True)
class _PlayedPair:
    """A pair and its games, the one in which the candidate is White first."""

    number: int
    games: Sequence[Game]

    @property
    def is_left_out(self) -> bool:
        return any(game.state == Game.State.HALTED for game in self.games)

    @property
    def is_annulled(self) -> bool:
        return any(game.annulled for game in self.games)

    @property
    def was_cancelled(self) -> bool:
        return any(game.state == Game.State.CANCELLED for game in self.games)

    @property
    def is_open(self) -> bool:
        return any(game.state in {Game.State.WAITING, Game.State.CLAIMED} for game in self.games)

    @property
    def half_points(self) -> list[int]:
        """The candidate's half points in each game."""
        results = [POINTS[Result(game.result or "*")] for game in self.games]
        return [round(2 * (1 - white if number else white)) for number, white in enumerate(results)]


def _played_pairs(tournament: Tournament, after: int) -> list[_PlayedPair]:
    """The pairs with numbers above ``after``, in their order: those that have not been counted."""
    (ladder,) = tournament.ladders
    pairings = Pairing.objects.filter(tournament=tournament, ladder=ladder, round__gt=after)
    numbers = dict(pairings.order_by("round").values_list("id", "round"))
    games: dict[int, list[Game]] = {pk: [] for pk in numbers}
    fields = ("pairing_id", "number", "state", "result", "annulled")
    for game in Game.objects.filter(pairing__in=numbers).order_by("number").only(*fields):
        games[game.pairing_id].append(game)
    return [_PlayedPair(number, games[pk]) for pk, number in numbers.items()]


def _count(test: VersionTest, played: Sequence[_PlayedPair]) -> VersionTest.Outcome | None:
    """Count the pairs that are over up to the first open one or the verdict; the outcome, or None."""
    sequential = SequentialTest(test.question, (str(pair.number) for pair in played), test.pairs)
    counted = []
    for pair in played:
        skipped = pair.is_left_out or pair.is_annulled
        if sequential.is_decided or (not skipped and (pair.is_open or pair.was_cancelled)):
            break
        test.looked_at = pair.number
        if skipped:
            sequential.skip(str(pair.number))
            test.left_out += pair.is_left_out
            continue
        points = pair.half_points
        sequential.add(str(pair.number), sum(points))
        test.losses += points.count(0)
        test.draws += points.count(1)
        test.wins += points.count(2)
        counted.append(
            CountedPair(test=test, number=pair.number, half_points=sum(points), ratio=sequential.ratio)
        )
    CountedPair.objects.bulk_create(counted)
    test.counts, test.ratio = list(sequential.counts.cells), sequential.ratio
    if sequential.is_decided:
        return Outcome(sequential.verdict)
    return Outcome.LIMIT if test.looked_at >= test.most_pairs else None


def _why_stop(test: VersionTest, versions: Sequence[BotVersion]) -> str:
    """Why the site ends the test without a verdict; empty if it goes on."""
    if gone := [version for version in versions if version.state != BotVersion.State.VALID]:
        return f"{gone[0]} is {gone[0].state}"
    if test.left_out >= MAX_LEFT_OUT:
        return f"{test.left_out} pairs could not be played"
    return ""


def _end(tournament: Tournament, test: VersionTest, outcome: VersionTest.Outcome, reason: str = "") -> None:
    """Store the outcome and cancel the open games; part of the caller's transaction, under the lock."""
    VersionTest.objects.filter(pk=test.pk, outcome=Outcome.RUNNING).update(outcome=outcome)
    now = timezone.now()
    tournament.games_total -= cancel_open_games(tournament, now)
    tournament.state = State.CANCELLED if outcome == Outcome.STOPPED else State.FINISHED
    tournament.finished_at, tournament.state_reason = now, reason
    tournament.save(update_fields=["games_total", "state", "finished_at", "state_reason"])


# Making pairs


def _make_pairs(
    tournament: Tournament,
    test: VersionTest,
    versions: Sequence[BotVersion],
    played: Sequence[_PlayedPair],
) -> None:
    (ladder,) = tournament.ladders
    last = played[-1].number if played else test.looked_at
    missing = _pairs_ahead(tournament, versions) - sum(pair.is_open for pair in played)
    numbers = range(last + 1, min(last + missing, test.most_pairs) + 1)
    planned = (_plan(tournament, ladder, number, versions) for number in numbers)
    store_pairings(tournament, planned, GAMES_A_PAIR)


def _plan(tournament: Tournament, ladder: str, number: int, versions: Sequence[BotVersion]) -> PlannedPairing:
    """The pair of this number, always the same for the same seed."""
    candidate, baseline = versions
    seed = pairing_seed(tournament.seed, ladder, number, 1)
    (opening,) = openings_of(tournament, ladder, seed, 1)
    return PlannedPairing(ladder, number, 1, candidate.pk, baseline.pk, opening, seed)


def _pairs_ahead(tournament: Tournament, versions: Sequence[BotVersion]) -> int:
    """How many pairs are kept open: enough for all slots, and few of them are lost with the verdict."""
    (ladder,) = tournament.ladders
    known = seconds_by_version(ladder, tournament.time_control)
    seconds = GAMES_A_PAIR * max(known.get(version.pk, BATCH_SECONDS) for version in versions)
    a_batch = min(MAX_PAIRS, math.ceil(BATCH_SECONDS / max(seconds, 1e-3)))
    return BATCHES_AHEAD * a_batch * slots_expected()
