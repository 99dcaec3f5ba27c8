"""The results of the rounds so far in a Swiss or a knock-out, from one grouped query.

A halted game is over: it counts half a point for both, so that the next round does not wait for it. A game
of a withdrawn version counts for its opponent (``counted_result``). An annulled game is over and counts no
points.
"""

from __future__ import annotations

from collections import Counter

from django.db.models import Count

from engines.records import Fault
from engines.rules.base import Result
from tournament.models import Game, Tournament
from workers.pairing.knockout import Length
from workers.pairing.results import Absences, MeetingResult

POINTS = {Result.WHITE_WINS: (1.0, 0.0), Result.DRAW: (0.5, 0.5), Result.BLACK_WINS: (0.0, 1.0)}
GIVEN_UP = (0.5, 0.5)
_LOST_BY: dict[str, Result] = {Fault.WHITE: Result.BLACK_WINS, Fault.BLACK: Result.WHITE_WINS}


def counted_result(result: str | None, fault: str) -> Result:
    """The result that counts in a table: of a game lost without being played the opponent's win."""
    return Result(result) if result else _LOST_BY.get(fault, Result.UNDECIDED)


def played_meetings(tournament: Tournament) -> dict[str, list[MeetingResult]]:
    """By ladder: which seeds met in which round, and their points so far.

    Games that are not over count no points yet.
    """
    places = {code: {pk: place for place, pk in enumerate(ids, 1)} for code, ids in tournament.seeds.items()}
    points: dict[tuple[str, int, int, int], list[float]] = {}
    annulled: Counter[tuple[str, int, int, int]] = Counter()
    rows = (
        tournament.games.order_by()
        .values_list(
            *("ladder_id", "pairing__round", "white_id", "black_id", "result", "fault", "state", "annulled")
        )
        .annotate(Count("id"))
    )
    rows = rows.order_by("ladder_id", "pairing__round")
    for code, number, white, black, result, fault, state, is_annulled, count in rows:
        first, second = sorted((places[code][white], places[code][black]))
        is_over = result or state == Game.State.HALTED
        made = POINTS.get(counted_result(result, fault), GIVEN_UP) if is_over else (0.0, 0.0)
        mine, theirs = made if places[code][white] == first else made[::-1]
        sums = points.setdefault((code, number, first, second), [0.0, 0.0])
        if is_annulled:
            annulled[code, number, first, second] += count
            continue
        sums[0] += count * mine
        sums[1] += count * theirs
    met: dict[str, list[MeetingResult]] = {}
    for key, (mine, theirs) in points.items():
        code, number, first, second = key
        result = MeetingResult(number, first, second, mine, theirs, annulled[key])
        met.setdefault(code, []).append(result)
    return met


def absent_seeds(tournament: Tournament, ladder: str) -> Absences:
    """By round, the seeds without whom it was drawn; empty if its rounds are not drawn one by one."""
    ids = tournament.seeds.get(ladder, [])
    rounds = tournament.absent.get(ladder, {}) if ids else {}
    return {int(number): {ids.index(pk) + 1 for pk in gone} for number, gone in rounds.items()}


def match_length(tournament: Tournament) -> Length:
    """Of a knock-out; a match that annulments leave level after the end gets no extra pairs."""
    is_played = tournament.state in {Tournament.State.FINISHED, Tournament.State.HALTED}
    return Length(tournament.pairs, 0 if is_played else tournament.extra_pairs)
