"""The ladders' matchmakers at work: pairs for idle workers, of the bots that are active now.

The pairs of a ladder belong to a tournament without end, the site's own, which is begun with the first of
them and paused like any other. They are made when they can be played and never ahead: while nothing that
counts as much waits, while the workers have next to nothing to do, and no faster than the site allows.
When the next pair is due is a moment in the database, so no restart makes two of one, nor a clock that is
put forward or back.

``tend_ladders`` is asked every second; nothing is done twice however many ask at once.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from engines.rules.registry import GAMES
from tournament import broker
from tournament.matchmaker import draw_pairs
from tournament.models import ActiveVersion, Attempt, BotVersion, Game, Matchmaking, Tournament, Turn
from tournament.models.matchmaking import LadderTerms
from tournament.models.tournaments import GAMES_A_PAIR, TournamentQuerySet
from tournament.services import dispatch
from tournament.services.candidates import candidates_of
from tournament.services.pairings import PlannedPairing, openings_of, pairing_seed, store_pairings
from tournament.services.schedule import MAX_PRIORITY
from tournament.services.slots import slots_at_work
from tournament.services.tournaments import unique_slug

GAMES_AHEAD_A_SLOT = 2 * GAMES_A_PAIR
"""One pair that is played and one that waits: no slot is idle, and a tournament that starts waits little."""
PRIORITY = -MAX_PRIORITY
"""Of a ladder's tournament until staff raises it."""
CATCH_UP = datetime.timedelta(seconds=10)
"""So much of what was missed is made up for: a pause leads to no burst."""
LOOK_AGAIN = datetime.timedelta(seconds=5)
"""Where nobody may meet anybody."""
Kind, State = Tournament.Kind, Tournament.State


def tend_ladders(now: datetime.datetime) -> int:
    """Take back what is no longer to be played, make the pairs that are due; returns how many those are."""
    take_back_stale()
    made = 0
    rows = find_matchmakers()
    if any(row._state.adding for row in rows):
        Matchmaking.objects.ensure()
    for row in rows:
        _bring_forward(row, now)
    full: set[int] = set()
    """Priorities that have no room: asked for once for all ladders, and not in a transaction."""
    for row in sorted(rows, key=lambda row: row.next_at or now):
        while _is_due(row, now) and priority_of(row) not in full:
            if not has_room(priority_of(row)):
                full.add(priority_of(row))
            elif make_pair(row.pk, now):
                made += 1
            else:
                break
    return made


def find_matchmakers() -> list[Matchmaking]:
    """One a ladder, in their order; those of ladders that no tick has seen yet are not stored."""
    rows = {row.ladder_id: row for row in Matchmaking.objects.select_related("tournament")}
    return [rows.get(code) or Matchmaking(ladder_id=code) for code in GAMES]


def find_matchmaker(ladder: str) -> Matchmaking:
    """One of these."""
    found = Matchmaking.objects.select_related("tournament").filter(pk=ladder).first()
    return found or Matchmaking(ladder_id=ladder)


@transaction.atomic
def make_pair(ladder: str, now: datetime.datetime) -> bool:
    """Make a ladder's next pair, if it is due and there is room for it; False if not."""
    row = Matchmaking.objects.select_for_update().get(pk=ladder)
    if not _is_due(row, now) or not has_room(priority_of(row)):
        return False
    number = row.pairs_made + 1
    pairs = draw_pairs(candidates_of([ladder])[ladder], number, 1, seed_of(ladder))
    if not pairs:
        Matchmaking.objects.filter(pk=ladder).update(next_at=now + LOOK_AGAIN)
        return False
    tournament = _tournament_of(row, now)
    seed = pairing_seed(tournament.seed, ladder, number, 1)
    (opening,) = openings_of(tournament, ladder, seed, 1)
    (pair,) = pairs
    planned = PlannedPairing(ladder, number, 1, pair.first, pair.second, opening, seed)
    store_pairings(tournament, [planned], GAMES_A_PAIR)
    for version in (pair.first, pair.second):
        Turn.objects.update_or_create(ladder_id=ladder, version_id=version, defaults={"pair": number})
    begun = max(row.next_at or now, now - CATCH_UP)
    next_at = begun + datetime.timedelta(seconds=row.interval_s)
    Matchmaking.objects.filter(pk=ladder).update(pairs_made=number, next_at=next_at, tournament=tournament)
    return True


def seed_of(ladder: str) -> int:
    """What its pairs are drawn from."""
    return zlib.crc32(f"matchmaker of {ladder}".encode())


def priority_of(row: Matchmaking) -> int:
    """Of its tournament, also before there is one."""
    return row.tournament.priority if row.tournament else PRIORITY


def has_room(priority: int) -> bool:
    """Whether workers are idle, or nearly, and nothing waits for them that counts as much."""
    claimed = Game.objects.filter(dispatch.of_queue(broker.GAMES, "tournament"), state=Game.State.CLAIMED)
    waiting = open_games().filter(state=Game.State.WAITING)
    ahead = claimed.count() + waiting.count()
    return ahead < GAMES_AHEAD_A_SLOT * slots_at_work() and not find_rivals(priority).exists()


def find_rivals(priority: int) -> TournamentQuerySet:
    """Tournaments whose games wait and are played before those of a ladder of this priority, or in turn."""
    waiting = Game.objects.filter(tournament=OuterRef("pk"), state=Game.State.WAITING)
    running = Tournament.objects.running().exclude(kind__in=[Kind.LADDER, Kind.VALIDATION])
    return running.filter(Exists(waiting), priority__gte=priority)


def open_games() -> QuerySet[Game]:
    """Those of ladders that wait or are played."""
    # Their ids as a list: a database might look at all games that wait, of whatever tournament.
    ladders = list(Tournament.objects.filter(kind=Kind.LADDER).values_list("id", flat=True))
    return Game.objects.filter(tournament__in=ladders, state__in=[Game.State.WAITING, Game.State.CLAIMED])


def take_back_stale() -> int:
    """Cancel ladder games that are not begun and whose players are no longer active; returns how many."""
    stale = _stale_games()
    queued = Attempt.objects.filter(game__in=stale, ended_at__isnull=True, lease_until__isnull=True)
    if stale and queued.exists():
        dispatch.recall()
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
    """Those that no attempt holds; they no longer count among their tournament's games."""
    concerned = Game.objects.filter(pk__in=games).values("tournament")
    cancelled = 0
    # Whoever changes a game's state holds its tournament's lock.
    for tournament in Tournament.objects.select_for_update().filter(pk__in=concerned).order_by("pk"):
        waiting = tournament.games.filter(pk__in=games, state=Game.State.WAITING)
        count = waiting.update(state=Game.State.CANCELLED)
        Tournament.objects.filter(pk=tournament.pk).update(games_total=F("games_total") - count)
        cancelled += count
    return cancelled


def _bring_forward(row: Matchmaking, now: datetime.datetime) -> None:
    """Its next pair is due within an interval, also after a clock that was ahead or a slower rate."""
    if row.rate == 0 or row.next_at is None:
        return
    latest = now + datetime.timedelta(seconds=row.interval_s)
    if row.next_at > latest:
        row.next_at = latest
        row.save(update_fields=["next_at"])


def _is_due(row: Matchmaking, now: datetime.datetime) -> bool:
    return row.is_at_work and (row.next_at is None or row.next_at <= now)


def _tournament_of(row: Matchmaking, now: datetime.datetime) -> Tournament:
    """The one that is under way on these terms; other terms end it and begin the next."""
    current = row.tournament
    if current is not None and current.state == State.RUNNING:
        if LadderTerms(current.time_control, current.opening_plies) == row.terms:
            return current
        # What is being played is recorded; what waits is taken back within a second.
        Tournament.objects.filter(pk=current.pk).update(state=State.FINISHED, finished_at=now)
    game = GAMES[row.ladder_id]
    slug = unique_slug(f"ladder-{game.code}")
    return Tournament.objects.create(
        slug=slug,
        name=f"{game.name} ladder",
        kind=Kind.LADDER,
        state=State.RUNNING,
        ladders=[game.code],
        opening_plies=row.terms.opening_plies,
        time_control=row.terms.time_control,
        seed=zlib.crc32(slug.encode()),
        priority=priority_of(row),
        started_at=now,
    )
