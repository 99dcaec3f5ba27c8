"""The results of each two players of a tournament (``MeetingScore``): kept with its games, read for tables.

Whoever changes what games count, changes these sums in the same transaction, which holds the lock of the
games' tournament: new results by ``count_results``, all other changes by ``rescored``.
How a game counts is defined in ``engines.formats.meetings``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from django.db.models import Count

from engines.arithmetic.standings import GameScore
from engines.formats.base import RoundTerms
from engines.formats.meetings import COLUMNS, PlayedMeeting, ScheduledGame, column_of, place, seeded_results
from engines.pairing.knockout import Length
from engines.pairing.results import Absences, MeetingResult
from engines.rules.base import Result
from tournament.formats import FORMATS, kinds
from tournament.models import Game, MeetingScore, Tournament
from tournament.models.games import GameQuerySet
from tournament.services.bulk import add_counts

KEYS = ("tournament_id", "ladder_id", "round", "one_id", "other_id")
"""The columns of a ``MeetingScore`` that say whose it is."""
Key = tuple[int, str, int, int, int]
"""Values of ``KEYS``."""


# Keeping


def count_results(results: Iterable[tuple[Game, Result]]) -> None:
    """Count games that have just got these results; part of the transaction that stores them."""
    placed = ((game, result) for game, result in results if game.tournament.format.has_places)
    _add(Counter(_row_of(game, column_of(result, "", is_annulled=False)) for game, result in placed))


@contextmanager
def rescored(games: GameQuerySet) -> Iterator[None]:
    """Keep the sums right while the body changes ``games``, which must be the same games before and after."""
    before = _counts(games)
    yield
    after = _counts(games)
    _add({key: after[key] - before[key] for key in after | before if after[key] != before[key]})


def note_drawn(tournament: Tournament, players: Iterable[tuple[str, int, int, int]]) -> None:
    """Store rows for meetings of a new round, without games yet: (ladder, round, version, version)."""
    _add({_row(tournament.pk, tournament.kind, *meeting, "draws"): 0 for meeting in players})


def _row(
    tournament: int, kind: str, ladder: str, number: int, white: int, black: int, column: str
) -> tuple[Key, str]:
    number, one, other, column = place(FORMATS[kind], ScheduledGame(number, white, black, column))
    return (tournament, ladder, number, one, other), column


def _row_of(game: Game, column: str) -> tuple[Key, str]:
    meeting = game.ladder_id, game.pairing.round, game.white_id, game.black_id
    return _row(game.tournament_id, game.tournament.kind, *meeting, column)


def _counts(games: GameQuerySet) -> Counter[tuple[Key, str]]:
    """How they count now."""
    placed = games.filter(tournament__kind__in=kinds(lambda one: one.has_places)).order_by()
    columns = ("tournament", "tournament__kind", "ladder", "pairing__round", "white", "black")
    rows = placed.values_list(*columns, "state", "result", "fault", "annulled").annotate(Count("id"))
    counts = Counter[tuple[Key, str]]()
    for pk, kind, ladder, number, white, black, state, result, fault, annulled, count in rows:
        if result or state == Game.State.HALTED:
            column = column_of(Result(result) if result else None, fault, is_annulled=annulled)
            counts[_row(pk, kind, ladder, number, white, black, column)] += count
    return counts


def _add(counts: Mapping[tuple[Key, str], int]) -> None:
    rows: dict[Key, dict[str, int]] = {}
    for (key, column), count in counts.items():
        rows.setdefault(key, dict.fromkeys(COLUMNS, 0))[column] += count
    added = [{**dict(zip(KEYS, key, strict=True)), **numbers} for key, numbers in rows.items()]
    add_counts(MeetingScore, added, KEYS)


# Reading


def meetings_of(tournament: Tournament) -> dict[str, list[PlayedMeeting]]:
    """By ladder, in the order of their rounds; with the meetings whose games are not over yet."""
    rows = tournament.meeting_scores.order_by("ladder_id", "round", "one_id", "other_id")
    found: dict[str, list[PlayedMeeting]] = {}
    for ladder, number, one, other, *score, annulled in rows.values_list(
        "ladder_id", "round", "one_id", "other_id", *COLUMNS
    ):
        meeting = PlayedMeeting(number, one, other, GameScore(*score), annulled)
        found.setdefault(ladder, []).append(meeting)
    return found


def played_meetings(tournament: Tournament) -> dict[str, list[MeetingResult]]:
    """By ladder: which seeds met in which round, and their points so far."""
    found = meetings_of(tournament)
    return {code: seeded_results(tournament.seeds[code], met) for code, met in found.items()}


def absent_seeds(tournament: Tournament, ladder: str) -> Absences:
    """By round, the seeds without whom it was drawn; empty if its rounds are not drawn one by one."""
    ids = tournament.seeds.get(ladder, [])
    rounds = tournament.absent.get(ladder, {}) if ids else {}
    return {int(number): {ids.index(pk) + 1 for pk in gone} for number, gone in rounds.items()}


def round_terms(tournament: Tournament, ladder: str) -> RoundTerms:
    """The terms from which rounds of a ladder are drawn.

    A match of a knock-out that annulments leave level after the end gets no extra pairs.
    """
    is_played = tournament.state in {Tournament.State.FINISHED, Tournament.State.HALTED}
    length = Length(tournament.pairs, 0 if is_played else tournament.extra_pairs)
    return RoundTerms(tournament.rounds, length, absent_seeds(tournament, ladder))
