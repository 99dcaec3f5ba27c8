"""The ladders' matchmakers: make pairs of active bots for idle workers.

The pairs of a ladder belong to a tournament without end, owned by the site. It starts with its first pair
and is paused like any other. Pairs are made only when they can be played: while no game of the same or a
higher priority waits, while the workers have almost nothing to do, and no faster than the site's settings
allow. While a version's rating is provisional, extra pairs are made on its ladder without that last limit.
They are drawn like all others, so most of them have such a version.

The time of the next pair is stored in the database, so neither a restart nor a change of the clock makes a
pair twice.

``tend_ladders`` is called every second; several callers at once do nothing twice.
"""

from __future__ import annotations

import datetime
import zlib
from collections import Counter
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from engines.arithmetic.ratings import SETTLED_GAMES
from engines.formats.planning import PlannedPairing, pairing_seed
from engines.formats.rated import LadderTerms
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.registry import GAMES
from tournament.arithmetic.matchmaker import draw_pairs
from tournament.formats import TournamentFormat, kinds
from tournament.formats.ladder import LadderFormat
from tournament.models import (
    ActiveVersion,
    BotVersion,
    Game,
    LadderRating,
    LatestPairing,
    Matchmaking,
    Tournament,
)
from tournament.models.tournaments import TournamentQuerySet
from tournament.services.fair_share import played_by
from tournament.services.ladders.candidates import candidates_of
from tournament.services.locks import lock_row, lock_tournaments
from tournament.services.schedule.pairings import openings_of, store_pairings
from tournament.services.schedule.slugs import unique_slug
from tournament.services.schedule.terms import MAX_PRIORITY
from tournament.services.work.durations import slots_at_work
from workers.jobs import Work

GAMES_AHEAD_A_SLOT = 2 * GAMES_A_PAIR
"""One pair played and one waiting: no slot is idle, and a tournament that starts waits only a little."""
PRIORITY = -MAX_PRIORITY
"""The priority of a ladder's tournament until staff raises it."""
CATCH_UP = datetime.timedelta(seconds=10)
"""Missed pairs are made up for this long only, so that a pause leads to no burst."""
LOOK_AGAIN = datetime.timedelta(seconds=5)
"""The time until the next try when no two candidates may meet."""
MAX_EARLY_PAIRS = SETTLED_GAMES
"""A version gets no extra pairs after so many pairs, even if few of its games could be rated."""
State = Tournament.State


def tend_ladders(now: datetime.datetime) -> int:
    """Cancel stale games and make the pairs that are due; returns the number of pairs."""
    cancel_stale()
    made = 0
    rows = Matchmaking.objects.of_ladders()
    if any(row._state.adding for row in rows):
        Matchmaking.objects.ensure()
    for row in rows:
        _bring_forward(row, now)
    full: set[int] = set()
    """Priorities whose pairs must wait: queried once for all ladders, outside a transaction."""
    for row in sorted(rows, key=lambda row: row.next_at or now):
        while _is_due(row, now) and priority_of(row) not in full:
            if not may_make_pair(priority_of(row)):
                full.add(priority_of(row))
            elif make_pair(row.pk, now):
                made += 1
            else:
                break
    return made or _pair_provisional(rows, now)


def _pair_provisional(rows: Sequence[Matchmaking], now: datetime.datetime) -> int:
    """Make a pair on each ladder with a provisional rating where none is due soon; returns how many.

    The ladders with the fewest open games come first, so that none takes all slots.
    """
    later = [row for row in rows if row.is_at_work and row.next_at and row.next_at > now + LOOK_AGAIN]
    if not later:
        return 0
    waiting = ladders_with_provisional([row.ladder_id for row in later])
    open_now = Counter(open_games().values_list("ladder", flat=True))
    later.sort(key=lambda row: open_now[row.ladder_id])
    return sum(make_pair(row.pk, now, early=True) for row in later if row.pk in waiting)


def ladders_with_provisional(ladders: Sequence[str]) -> set[str]:
    """The ladders on which an active version may get extra pairs; one query."""
    mine = {"ladder": OuterRef("ladder"), "version": OuterRef("version")}
    settled = LadderRating.objects.settled().filter(**mine)
    often = LatestPairing.objects.filter(pairs__gte=MAX_EARLY_PAIRS, **mine)
    active = ActiveVersion.objects.filter(
        ladder__in=ladders, enabled=True, version__state=BotVersion.State.VALID
    )
    return set(active.filter(~Exists(settled), ~Exists(often)).values_list("ladder", flat=True))


@transaction.atomic
def make_pair(ladder: str, now: datetime.datetime, *, early: bool = False) -> bool:
    """Make a ladder's next pair, if it is due and can be played; False if not.

    ``early``: also if it is not due, for a version with a provisional rating; the time of the next one stays.
    """
    row = lock_row(Matchmaking.objects.all(), ladder)
    if not (row.is_at_work if early else _is_due(row, now)) or not may_make_pair(priority_of(row)):
        return False
    number = row.pairs_made + 1
    candidates = candidates_of([ladder])[ladder]
    if early and not ladders_with_provisional([ladder]):
        return False
    pairs = draw_pairs(candidates, number, 1, seed_of(ladder))
    if not pairs:
        if not early:
            Matchmaking.objects.filter(pk=ladder).update(next_at=now + LOOK_AGAIN)
        return False
    tournament = _tournament_of(row, now)
    seed = pairing_seed(tournament.seed, ladder, number, 1)
    (opening,) = openings_of(tournament, ladder, seed, 1)
    (pair,) = pairs
    planned = PlannedPairing(ladder, number, 1, pair.first, pair.second, opening, seed)
    store_pairings(tournament, [planned], GAMES_A_PAIR)
    for version in (pair.first, pair.second):
        LatestPairing.objects.update_or_create(
            ladder_id=ladder, version_id=version, defaults={"pair": number}
        )
    LatestPairing.objects.filter(ladder_id=ladder, pair=number).update(pairs=F("pairs") + 1)
    next_at = row.next_at
    if not early:
        next_at = max(next_at or now, now - CATCH_UP) + datetime.timedelta(seconds=row.interval_s)
    Matchmaking.objects.filter(pk=ladder).update(pairs_made=number, next_at=next_at, tournament=tournament)
    return True


def seed_of(ladder: str) -> int:
    """The seed from which its pairs are drawn."""
    return zlib.crc32(f"matchmaker of {ladder}".encode())


def priority_of(row: Matchmaking) -> int:
    """The priority of its tournament, also before there is one."""
    return row.tournament.priority if row.tournament else PRIORITY


def may_make_pair(priority: int) -> bool:
    """Whether workers are idle, or nearly, and no game of the same or a higher priority waits."""
    claimed = Game.objects.filter(played_by(Work.GAMES, "tournament__"), state=Game.State.CLAIMED)
    claimed = claimed.exclude(tournament__kind__in=kinds(lambda one: one.is_sequential))
    waiting = open_games().filter(state=Game.State.WAITING)
    ahead = claimed.count() + waiting.count()
    return ahead < GAMES_AHEAD_A_SLOT * slots_at_work() and not find_rivals(priority).exists()


def find_rivals(priority: int) -> TournamentQuerySet:
    """Tournaments with games of the same or a higher priority that wait for the site's workers."""
    waiting = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING)
    running = Tournament.objects.running().filter(kind__in=kinds(_precedes_ladders), own_workers=False)
    return running.filter(Exists(waiting), priority__gte=priority)


def _precedes_ladders(one: TournamentFormat) -> bool:
    return one.work is Work.GAMES and not (one.is_endless or one.is_sequential)


def open_games() -> QuerySet[Game]:
    """Ladder games that wait or are played."""
    # A list of ids: with a subquery a database might scan the waiting games of all tournaments.
    ladders = list(
        Tournament.objects.filter(kind__in=kinds(lambda one: one.is_endless)).values_list("id", flat=True)
    )
    return Game.objects.filter(tournament__in=ladders, state__in=[Game.State.WAITING, Game.State.CLAIMED])


def cancel_stale() -> int:
    """Cancel ladder games that are not begun and whose players are no longer active; returns how many."""
    stale = _stale_games()
    return _cancel_waiting(stale) if stale else 0


def _stale_games() -> list[int]:
    games = list(open_games().values_list("id", "ladder", "white", "black", "tournament__state"))
    versions = {version for _, _, *players, _ in games for version in players}
    active = ActiveVersion.objects.filter(
        version__in=versions, enabled=True, version__state=BotVersion.State.VALID
    )
    playing = set(active.values_list("ladder", "version"))
    return [
        pk
        for pk, ladder, white, black, state in games
        if state == State.FINISHED or not {(ladder, white), (ladder, black)} <= playing
    ]


@transaction.atomic
def _cancel_waiting(games: Sequence[int]) -> int:
    """Cancel those without an attempt; they no longer count among their tournament's games."""
    concerned = Game.objects.filter(pk__in=games).values_list("tournament", flat=True)
    cancelled = 0
    # Every change of a game's state takes its tournament's lock.
    for tournament in lock_tournaments(set(concerned)):
        waiting = tournament.games.filter(pk__in=games, state=Game.State.WAITING)
        count = waiting.update(state=Game.State.CANCELLED)
        Tournament.objects.filter(pk=tournament.pk).update(games_total=F("games_total") - count)
        cancelled += count
    return cancelled


def _bring_forward(row: Matchmaking, now: datetime.datetime) -> None:
    """Limit the wait for the next pair to one interval, after a clock that was ahead or a slower rate."""
    if row.rate == 0 or row.next_at is None:
        return
    latest = now + datetime.timedelta(seconds=row.interval_s)
    if row.next_at > latest:
        row.next_at = latest
        row.save(update_fields=["next_at"])


def _is_due(row: Matchmaking, now: datetime.datetime) -> bool:
    return row.is_at_work and (row.next_at is None or row.next_at <= now)


def _tournament_of(row: Matchmaking, now: datetime.datetime) -> Tournament:
    """The running tournament with these terms; if the terms changed, finish it and create the next."""
    current = row.tournament
    if current is not None and current.state == State.RUNNING:
        if LadderTerms(current.time_control, current.opening_plies) == row.terms:
            return current
        # Games under way are recorded; waiting ones are cancelled within a second.
        Tournament.objects.filter(pk=current.pk).update(state=State.FINISHED, finished_at=now)
    game = GAMES[row.ladder_id]
    slug = unique_slug(f"ladder-{game.code}")
    return Tournament.objects.create(
        slug=slug,
        name=f"{game.name} ladder",
        kind=LadderFormat.code,
        state=State.RUNNING,
        ladders=[game.code],
        opening_plies=row.terms.opening_plies,
        time_control=row.terms.time_control,
        seed=zlib.crc32(slug.encode()),
        priority=priority_of(row),
        started_at=now,
    )
