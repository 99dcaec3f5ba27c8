"""Plans pairings from a tournament's entries, and stores pairings with their games in bulk.

A schedule of many games is made in parts, each a short transaction, because SQLite lets one transaction write
at a time. The plan depends on the tournament alone, so the next part begins after the stored pairings, and a
process that is killed makes no game twice.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import accumulate, islice

from django.db import transaction
from django.db.models import F, Max

from engines.formats import planning
from engines.formats.planning import EventOpenings, PlannedPairing
from engines.pairing.meetings import GAMES_A_PAIR
from engines.pairing.openings import Opening, OpeningError
from tournament.formats.base import TournamentError
from tournament.models import BotVersion, Game, Pairing, Tournament
from tournament.services.bulk import delete_rows, insert_from, insert_rows
from tournament.services.locks import lock, lock_tournament
from tournament.services.schedule.terms import players_of

PAIRINGS_AT_ONCE = 2_500
"""A quarter of a second on SQLite, during which others cannot write."""


def entered_versions(tournament: Tournament) -> list[BotVersion]:
    """In the order of the tables."""
    return [entry.version for entry in tournament.entries.select_related("version__bot").order_by("number")]


def plan_cycles(tournament: Tournament, first: int, cycles: int) -> Iterator[PlannedPairing]:
    """The pairings of ``cycles`` cycles of a round robin or gauntlet; ``first`` counts from 0.

    Raises ``TournamentError``; 1,000 long openings on each ladder take seconds.
    """
    players = players_of(entered_versions(tournament), tournament.ladders)
    absent = {
        code: {int(number): gone for number, gone in rows.items()} for code, rows in tournament.absent.items()
    }
    return planning.plan_cycles(
        tournament.format,
        tournament.seed,
        {code: [version.pk for version in entered] for code, entered in players.items()},
        range(first, first + cycles),
        partial(openings_of, tournament),
        absent,
    )


def openings_of(tournament: Tournament, ladder: str, seed: int, number: int) -> list[Opening]:
    """The first ``number`` openings drawn from a seed; raises ``TournamentError``."""
    try:
        return EventOpenings(tournament.opening_plies, tournament.book).draw(ladder, seed, number)
    except OpeningError as error:
        raise TournamentError(str(error)) from None


def check_openings(tournament: Tournament) -> None:
    """Check that openings of this length exist on each ladder, by the first; raises ``TournamentError``."""
    for ladder in tournament.ladders:
        openings_of(tournament, ladder, tournament.seed, 1)


def store_pairings(tournament: Tournament, planned: Iterable[PlannedPairing], games_a_pair: int) -> int:
    """Store pairings with their games; returns how many games. Part of the caller's transaction."""
    total = _insert_pairings(tournament, planned, games_a_pair)
    Tournament.objects.filter(pk=tournament.pk).update(games_total=F("games_total") + total)
    tournament.games_total += total
    return total


def queue_cycles(tournament: Tournament, cycles: int) -> None:
    """Have the games of ``cycles`` more cycles made by ``make_games``, which is called after the transaction.

    Part of the transaction that locks the tournament; its ``pairs`` include them.
    """
    games = GAMES_A_PAIR * sum(_pairings_by_cycle(tournament)[-cycles:])
    Tournament.objects.filter(pk=tournament.pk).update(
        games_total=F("games_total") + games, games_to_make=F("games_to_make") + games
    )
    tournament.games_total += games
    tournament.games_to_make += games


def make_games(tournament: Tournament) -> bool:
    """Make the next games of the cycles that are queued; False if none are, or others made them meanwhile.

    Outside a transaction: the openings are drawn before it begins, which takes up to seconds. Raises
    ``TournamentError`` if they cannot be drawn.
    """
    tournament = Tournament.objects.get(pk=tournament.pk)
    made = tournament.pairings.count()
    most = min(PAIRINGS_AT_ONCE, tournament.games_to_make // GAMES_A_PAIR)
    if not most:
        return False
    ends = list(accumulate(_pairings_by_cycle(tournament)))
    first, last = bisect_right(ends, made), bisect_left(ends, made + most)
    skipped, cycles = made - (ends[first - 1] if first else 0), last - first + 1
    planned = list(islice(plan_cycles(tournament, first, cycles), skipped, skipped + most))
    with transaction.atomic():
        locked = lock_tournament(tournament.pk)
        if locked.games_to_make != tournament.games_to_make or locked.pairings.count() != made:
            return False
        games = _insert_pairings(locked, planned, GAMES_A_PAIR)
        Tournament.objects.filter(pk=locked.pk).update(games_to_make=F("games_to_make") - games)
        note_withdrawn(players_in(planned))
    return True


def note_withdrawn(players: Collection[int]) -> None:
    """Have the new games of withdrawn versions ended, see ``walkovers``; part of the caller's transaction.

    A version that is withdrawn later waits for its lock, and so for the end of that transaction.
    """
    locked = lock(BotVersion.objects.filter(pk__in=players).only("state"))
    gone = [version.pk for version in locked if version.state == BotVersion.State.WITHDRAWN]
    BotVersion.objects.filter(pk__in=gone).update(has_games_to_end=True)


def players_in(planned: Iterable[PlannedPairing]) -> set[int]:
    """The ids of the versions that play."""
    return {player for pairing in planned for player in (pairing.first, pairing.second)}


def _pairings_by_cycle(tournament: Tournament) -> list[int]:
    players = players_of(entered_versions(tournament), tournament.ladders)
    left = [
        [
            sum(version.pk not in _absent(tournament, code, cycle) for version in entered)
            for code, entered in players.items()
        ]
        for cycle in range(tournament.pairs)
    ]
    return [sum(map(tournament.format.meetings, numbers)) for numbers in left]


def _absent(tournament: Tournament, ladder: str, cycle: int) -> Collection[int]:
    """The versions that have no meetings in a cycle."""
    gone: list[int] = tournament.absent.get(ladder, {}).get(str(cycle), [])
    return gone


def _insert_pairings(tournament: Tournament, planned: Iterable[PlannedPairing], games_a_pair: int) -> int:
    """Store pairings with games that are part of the tournament's ``games_total``; returns how many games."""
    last = tournament.pairings.aggregate(last=Max("id"))["last"] or 0
    rows = (
        {
            "tournament_id": tournament.pk,
            "ladder_id": pairing.ladder,
            "round": pairing.round,
            "number": pairing.number,
            "first_id": pairing.first,
            "second_id": pairing.second,
            "opening": " ".join(pairing.opening),
            "seed": pairing.seed,
        }
        for pairing in planned
    )
    insert_rows(Pairing, rows)
    return _store_games(tournament, last, games_a_pair)


def drop_pairings(tournament: Tournament) -> None:
    """Delete all games of a tournament that has not begun; part of the caller's transaction."""
    delete_rows(Game.objects.filter(tournament=tournament))  # such games have no other rows
    delete_rows(tournament.pairings.all())
    Tournament.objects.filter(pk=tournament.pk).update(games_total=0, games_to_make=0)
    tournament.games_total = tournament.games_to_make = 0


def _store_games(tournament: Tournament, after: int, games_a_pair: int) -> int:
    """Make the games of all pairings with ids above ``after``; every second game swaps the colours."""
    slug = tournament.slug  # only letters, digits, - and _: safe in SQL
    number = " UNION ALL ".join(f"SELECT {n} AS number" for n in range(1, games_a_pair + 1))
    swapped = "one.number % 2 = 0"
    values = {
        "key": f"'{slug}/' || pair.round || '/' || pair.number || '/' || one.number",
        "pairing_id": "pair.id",
        "tournament_id": "pair.tournament_id",
        "ladder_id": "pair.ladder_id",
        "number": "one.number",
        "white_id": f"CASE WHEN {swapped} THEN pair.second_id ELSE pair.first_id END",
        "black_id": f"CASE WHEN {swapped} THEN pair.first_id ELSE pair.second_id END",
    }
    source = f"""{Pairing._meta.db_table} pair CROSS JOIN ({number}) one
        WHERE pair.tournament_id = {tournament.pk:d} AND pair.id > {after:d}
        ORDER BY pair.id, one.number"""
    return insert_from(Game, values, source)
